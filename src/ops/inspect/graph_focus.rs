//! The part of a graph around an object.
//!
//! Owns the distances. Never knows how a graph is drawn.

use base::diag::{Diagnostic, Diagnostics};
use base::suggest;
use engine::outline::{Outline, OutlineKind, OutlineNode};
use model::addr::command_line;
use model::addr::{AbsResourceInstance, Target};

/// What `-focus` and `-depth` ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// An address of a resource or a module, or the name of a node.
    pub text: String,
    /// The most steps from the object; None: any number.
    pub depth: Option<usize>,
}

/// A graph that is left over, and where in it the object is.
pub struct FocusedGraph<T> {
    pub nodes: Vec<T>,
    pub edges: Vec<(u32, u32)>,
    pub focus: Vec<u32>,
    /// The old positions of the nodes, by the new ones.
    origins: Vec<u32>,
}

/// The nodes that `is_meant` names, with all that they need and all that needs them, up to the depth. Without a focus, everything.
pub fn focused<T>(
    nodes: Vec<T>,
    edges: &[(u32, u32)],
    focus: Option<&Focus>,
    is_meant: impl Fn(&T) -> bool,
    name: impl Fn(&T) -> String,
) -> Result<FocusedGraph<T>, Diagnostics> {
    let Some(focus) = focus else {
        let origins = (0..nodes.len() as u32).collect();
        return Ok(FocusedGraph { nodes, edges: edges.to_vec(), focus: Vec::new(), origins });
    };
    let meant: Vec<bool> = nodes.iter().map(is_meant).collect();
    if !meant.contains(&true) {
        return Err(no_such_object(focus, nodes.iter().map(name).collect()));
    }
    let needed = reachable(&meant, edges.iter().copied(), focus.depth);
    let needing = reachable(&meant, edges.iter().map(|(from, to)| (*to, *from)), focus.depth);
    let mut places = vec![None; nodes.len()];
    let mut origins = Vec::new();
    let mut left = Vec::new();
    for (position, node) in nodes.into_iter().enumerate() {
        if needed[position] || needing[position] {
            places[position] = Some(origins.len() as u32);
            origins.push(position as u32);
            left.push(node);
        }
    }
    // An edge between what is needed and what needs is a way around the object: it is shown too.
    let edges = edges.iter().filter_map(|(from, to)| Some((places[*from as usize]?, places[*to as usize]?))).collect();
    let focus = (0..).zip(&origins).filter(|(_, origin)| meant[**origin as usize]).map(|(place, _)| place).collect();
    Ok(FocusedGraph { nodes: left, edges, focus, origins })
}

impl<T> FocusedGraph<T> {
    /// Sets of old positions as sets of new ones, without what is not there.
    pub fn positions_of(&self, sets: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let place = |old: &u32| self.origins.binary_search(old).ok().map(|place| place as u32);
        sets.iter().map(|set| set.iter().filter_map(place).collect()).collect()
    }
}

/// The nodes within some steps along the edges, the first ones included.
fn reachable(from: &[bool], edges: impl Iterator<Item = (u32, u32)>, depth: Option<usize>) -> Vec<bool> {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); from.len()];
    edges.for_each(|(from, to)| next[from as usize].push(to));
    let mut seen = from.to_vec();
    let mut open: Vec<u32> = (0..from.len() as u32).filter(|node| from[*node as usize]).collect();
    let mut steps = 0;
    while !open.is_empty() && depth.is_none_or(|depth| steps < depth) {
        steps += 1;
        let mut found = Vec::new();
        for node in open.iter().flat_map(|node| &next[*node as usize]) {
            if !std::mem::replace(&mut seen[*node as usize], true) {
                found.push(*node);
            }
        }
        open = found;
    }
    seen
}

/// Whether the focus names a step of an operation.
fn names_step(focus: &Focus, node: &OutlineNode) -> bool {
    let base = without_word(&node.name);
    let OutlineKind::Resource(block) = &node.kind else { return node.name == focus.text || base == focus.text };
    let Some(target) = target(&focus.text) else { return false };
    let has_key =
        |addr: &AbsResourceInstance| !addr.key().is_none() || addr.module.0.iter().any(|step| !step.key.is_none());
    match command_line::resource_instance(base) {
        Ok(addr) if has_key(&addr) => target.contains(&addr),
        // A step of a whole block.
        Ok(_) | Err(_) => target.touches(block),
    }
}

/// The name of a step without the word behind it: `a.b` of `a.b (destroy)`.
fn without_word(name: &str) -> &str {
    name.rsplit_once(" (").filter(|(_, word)| word.ends_with(')')).map_or(name, |(base, _)| base)
}

/// The address of the focus, if it is one of resources or of a module.
pub fn target(text: &str) -> Option<Target> {
    command_line::target(text).ok()
}

/// The steps of an operation around the focus, and where those are that it names.
pub fn focused_outline(outline: Outline, focus: Option<&Focus>) -> Result<(Outline, Vec<u32>), Diagnostics> {
    let Outline { nodes, edges, cycles } = outline;
    let is_meant = |node: &OutlineNode| focus.is_some_and(|focus| names_step(focus, node));
    let kept = focused(nodes, &edges, focus, is_meant, |node| node.name.clone())?;
    let cycles = kept.positions_of(&cycles);
    Ok((Outline { nodes: kept.nodes, edges: kept.edges, cycles }, kept.focus))
}

fn no_such_object(focus: &Focus, names: Vec<String>) -> Diagnostics {
    let hint = suggest::name(&focus.text, names.iter().map(String::as_str))
        .map_or_else(String::new, |close| format!(" Did you mean {close:?}?"));
    let detail = format!(
        "The graph has no object {:?}, which the option -focus names.{hint} Use the address of a resource or of a module; with -type, \
         the name of any node.",
        focus.text
    );
    Diagnostic::error("No such object in the graph", detail).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_kept_up_to_the_depth() {
        // 0 -> 1 -> 2 -> 3, 4 -> 2, 5 alone.
        let edges = [(0, 1), (1, 2), (2, 3), (4, 2)];
        let cases: [(u32, Option<usize>, &[u32]); 5] = [
            (2, Some(0), &[2]),
            (2, Some(1), &[1, 2, 3, 4]),
            (2, None, &[0, 1, 2, 3, 4]),
            // What needs the same is no neighbour.
            (4, None, &[2, 3, 4]),
            (5, None, &[5]),
        ];
        for (start, depth, expected) in cases {
            let focus = Focus { text: String::new(), depth };
            let nodes: Vec<u32> = (0..6).collect();
            let kept = focused(nodes, &edges, Some(&focus), |node| *node == start, u32::to_string).unwrap();
            assert_eq!(kept.nodes, expected, "{start} {depth:?}");
            assert_eq!(kept.focus.iter().map(|place| kept.nodes[*place as usize]).collect::<Vec<_>>(), [start]);
        }
    }

    #[test]
    fn addresses_name_the_steps_of_objects() {
        let block = model::addr::parse::parse_abs_instance("module.m.a.b").unwrap().config();
        let cases = [
            ("module.m.a.b", "module.m.a.b (expand)", true),
            ("module.m", "module.m.a.b (expand)", true),
            ("module.m.a.b[0]", "module.m.a.b (expand)", true),
            ("module.m.a.b[0]", "module.m.a.b[0] (destroy)", true),
            ("module.m.a.b[0]", "module.m.a.b[1]", false),
            ("module.m.a.b", "module.m.a.b[\"x (y)\"]", true),
            ("a.b", "module.m.a.b (expand)", false),
            ("(", "module.m.a.b (expand)", false),
        ];
        for (text, name, expected) in cases {
            let focus = Focus { text: text.into(), depth: None };
            let node = OutlineNode { name: name.into(), kind: OutlineKind::Resource(block.clone()) };
            assert_eq!(names_step(&focus, &node), expected, "{text} {name}");
        }
        let output = OutlineNode { name: "output.x (expand)".into(), kind: OutlineKind::Other };
        for (text, expected) in [("output.x", true), ("output.x (expand)", true), ("output.y", false)] {
            assert_eq!(names_step(&Focus { text: text.into(), depth: None }, &output), expected, "{text}");
        }
    }

    #[test]
    fn edges_and_sets_have_the_new_positions() {
        let focus = Focus { text: "x".into(), depth: None };
        let kept = focused(vec!['a', 'b', 'c'], &[(1, 2), (2, 1)], Some(&focus), |node| *node == 'c', char::to_string);
        let kept = kept.unwrap();
        assert_eq!((kept.nodes.as_slice(), kept.edges.as_slice()), (&['b', 'c'][..], &[(0, 1), (1, 0)][..]));
        assert_eq!(kept.positions_of(&[vec![0, 1, 2]]), [[0, 1]]);
        let none = focused(vec!['a'], &[], Some(&focus), |_| false, char::to_string).err().unwrap();
        assert!(none.has_errors());
    }
}
