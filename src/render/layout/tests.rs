//! Properties of layouts, of small graphs in tables and of random ones.

use super::*;

fn node(id: &str, group: &str) -> Node {
    let group = (!group.is_empty()).then(|| group.to_string());
    Node { id: id.to_string(), width: 60.0, height: 20.0, group }
}

fn graph(groups: &[&str], edges: &[(usize, usize)]) -> Graph {
    let nodes = groups.iter().enumerate().map(|(number, group)| node(&format!("n{number}"), group)).collect();
    Graph { nodes, edges: edges.to_vec() }
}

/// Numbers that look random, always the same ones.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

const GROUPS: [&str; 6] = ["", "module.a", "module.a.module.b", "module.c", "module.d.module.e", "module.ab"];

fn random(seed: u64, count: usize, groups: &[&str], may_cycle: bool) -> Graph {
    let mut numbers = Numbers(seed);
    let mut node = |number: usize| {
        let mut node = node(&format!("n{number}"), groups[numbers.below(groups.len())]);
        node.width += numbers.below(80) as f64;
        node.height += numbers.below(30) as f64;
        node
    };
    let nodes: Vec<Node> = (0..count).map(&mut node).collect();
    let edges = (0..count * 3 / 2).map(|_| (numbers.below(count), numbers.below(count)));
    let edges = edges.filter(|(from, to)| may_cycle || from > to).collect();
    Graph { nodes, edges }
}

fn rect(graph: &Graph, layout: &Layout, node: usize) -> Rect {
    let (at, of) = (layout.nodes[node], &graph.nodes[node]);
    Rect { x: at.x, y: at.y, width: of.width, height: of.height }
}

fn holds(outer: Rect, inner: Rect) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.x + inner.width <= outer.x + outer.width
        && inner.y + inner.height <= outer.y + outer.height
}

fn overlap(one: Rect, other: Rect) -> bool {
    let apart = |start: f64, length: f64, other: f64, other_length: f64| {
        start + length <= other + 0.01 || other + other_length <= start + 0.01
    };
    !apart(one.x, one.width, other.x, other.width) && !apart(one.y, one.height, other.y, other.height)
}

/// Whether a part of the segment is inside of the rectangle, not only at its border.
fn passes_through(rect: Rect, from: (f64, f64), to: (f64, f64)) -> bool {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (at, length, low, high) in [
        (from.0, to.0 - from.0, rect.x + 0.5, rect.x + rect.width - 0.5),
        (from.1, to.1 - from.1, rect.y + 0.5, rect.y + rect.height - 0.5),
    ] {
        if length == 0.0 {
            if at <= low || at >= high {
                return false;
            }
            continue;
        }
        let (one, other) = ((low - at) / length, (high - at) / length);
        start = start.max(one.min(other));
        end = end.min(one.max(other));
    }
    start < end
}

fn lies_in(group: Option<&str>, outer: &str) -> bool {
    let rest = group.and_then(|group| group.strip_prefix(outer));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Checks all that every layout promises.
fn check(graph: &Graph) -> Layout {
    let layout = lay_out(graph);
    let whole = Rect { x: 0.0, y: 0.0, width: layout.width, height: layout.height };
    let rects: Vec<Rect> = (0..graph.nodes.len()).map(|node| rect(graph, &layout, node)).collect();
    for (number, one) in rects.iter().enumerate() {
        assert!(holds(whole, *one), "node {number}: {one:?} in {whole:?}");
        let hit = (0..number).find(|other| overlap(*one, rects[*other]));
        assert_eq!(hit, None, "node {number} overlaps another one");
        for (name, group) in &layout.groups {
            let group_of_node = graph.nodes[number].group.as_deref();
            match lies_in(group_of_node, name) {
                true => assert!(holds(*group, *one), "node {number}: {one:?} in {name}: {group:?}"),
                false => assert!(!overlap(*group, *one), "node {number}: {one:?} outside of {name}: {group:?}"),
            }
        }
    }
    for (number, (name, one)) in layout.groups.iter().enumerate() {
        assert!(holds(whole, *one), "{name}: {one:?} in {whole:?}");
        for (other, another) in &layout.groups[..number] {
            match lies_in(Some(name), other) {
                true => assert!(holds(*another, *one), "{name} in {other}"),
                false => assert!(!overlap(*another, *one), "{name} beside {other}"),
            }
        }
    }
    assert_eq!(layout.edges.len(), graph.edges.len());
    for ((from, to), line) in graph.edges.iter().zip(&layout.edges) {
        check_line(graph, &layout, &rects, (*from, *to), line);
    }
    layout
}

fn check_line(graph: &Graph, layout: &Layout, rects: &[Rect], (from, to): (usize, usize), line: &[(f64, f64)]) {
    let (Some(first), Some(last)) = (line.first(), line.last()) else { panic!("{from} -> {to} has no line") };
    for (end, rect) in [(first, rects[from]), (last, rects[to])] {
        let at_border = (end.0 - rect.x).abs() < 0.01 || (end.0 - rect.x - rect.width).abs() < 0.01;
        assert!(at_border && end.1 >= rect.y && end.1 <= rect.y + rect.height, "{from} -> {to}: {end:?} at {rect:?}");
    }
    let ends = |number: usize| number == from || number == to;
    for segment in line.windows(2) {
        let foreign = (0..rects.len()).find(|n| !ends(*n) && passes_through(rects[*n], segment[0], segment[1]));
        assert_eq!(foreign, None, "{from} -> {to} passes through a node");
        for (name, group) in &layout.groups {
            let touches = [from, to].iter().any(|end| lies_in(graph.nodes[*end].group.as_deref(), name));
            assert!(touches || !passes_through(*group, segment[0], segment[1]), "{from} -> {to} in {name}");
        }
    }
}

#[test]
fn an_empty_graph_is_a_margin() {
    let layout = lay_out(&Graph::default());
    assert_eq!((layout.width, layout.height), (2.0 * MARGIN, 2.0 * MARGIN));
    assert!(layout.nodes.is_empty() && layout.edges.is_empty() && layout.groups.is_empty());
}

#[test]
fn what_is_needed_is_to_the_left_of_what_needs_it() {
    let layout = check(&graph(&["", "", ""], &[(0, 1), (1, 2), (0, 2)]));
    let lefts: Vec<f64> = layout.nodes.iter().map(|at| at.x).collect();
    assert!(lefts[0] > lefts[1] && lefts[1] > lefts[2], "{lefts:?}");
    for seed in 0..40 {
        let graph = random(seed, 30, &[""], false);
        let layout = check(&graph);
        for (from, to) in &graph.edges {
            let (from, to) = (rect(&graph, &layout, *from), rect(&graph, &layout, *to));
            assert!(to.x + to.width < from.x, "seed {seed}: {from:?} needs {to:?}");
        }
    }
}

#[test]
fn members_of_a_group_are_in_its_box() {
    let tables: [(&[&str], &[(usize, usize)]); 6] = [
        (&["module.a", "module.a", ""], &[(0, 1), (1, 2)]),
        // Two groups that need each other, though their members do not.
        (&["module.a", "module.a", "module.b", "module.b"], &[(0, 2), (3, 1)]),
        (&["module.a", "module.a.module.b", "module.a"], &[(0, 1), (1, 2)]),
        // Through a group, and out again.
        (&["", "module.a", ""], &[(0, 1), (1, 2), (0, 2)]),
        (&["module.a", "module.c"], &[]),
        (&["module.d.module.e.module.f", "module.d"], &[(0, 1)]),
    ];
    for (groups, edges) in tables {
        let layout = check(&graph(groups, edges));
        assert!(!layout.groups.is_empty());
    }
    for seed in 0..60 {
        check(&random(seed, 25, &GROUPS, false));
    }
}

#[test]
fn cycles_are_laid_out_too() {
    let tables: [&[(usize, usize)]; 4] =
        [&[(0, 1), (1, 0)], &[(0, 1), (1, 2), (2, 0)], &[(0, 0)], &[(0, 1), (1, 2), (2, 3), (3, 1), (0, 3), (2, 2)]];
    for edges in tables {
        check(&graph(&["", "module.a", "", "module.a"], edges));
    }
    for seed in 0..60 {
        check(&random(seed, 25, &GROUPS, true));
    }
}

#[test]
fn the_same_graph_has_the_same_layout() {
    for seed in 0..10 {
        let graph = random(seed, 60, &GROUPS, true);
        assert_eq!(lay_out(&graph), lay_out(&graph.clone()), "seed {seed}");
    }
}

#[test]
fn invalid_sizes_and_edges_do_no_harm() {
    let mut given = graph(&["", "module.a", ""], &[(0, 7), (7, 7), (0, 1)]);
    given.nodes[0].width = f64::NAN;
    given.nodes[1].height = f64::INFINITY;
    given.nodes[2].width = -5.0;
    let layout = lay_out(&given);
    assert_eq!(layout.edges.iter().map(Vec::is_empty).collect::<Vec<_>>(), [true, true, false]);
    let numbers = layout.nodes.iter().flat_map(|at| [at.x, at.y]).chain([layout.width, layout.height]);
    assert!(numbers.chain(layout.edges.iter().flatten().flat_map(|(x, y)| [*x, *y])).all(f64::is_finite));
}

#[test]
fn large_graphs_are_laid_out() {
    // A long chain in which each node needs the first one too: every column has a line that passes.
    let chain: Vec<(usize, usize)> = (1..2000).flat_map(|node| [(node, node - 1), (node, 0)]).collect();
    // All depend on one node.
    let star: Vec<(usize, usize)> = (1..2000).map(|node| (node, 0)).collect();
    let names = vec![""; 2000];
    for edges in [chain, star] {
        let graph = graph(&names, &edges);
        let layout = lay_out(&graph);
        assert!(layout.edges.iter().all(|line| line.len() >= 2));
        let lefts: Vec<f64> = layout.nodes.iter().map(|at| at.x).collect();
        assert!(edges.iter().all(|(from, to)| lefts[*from] > lefts[*to]));
    }
    let graph = random(1, 2000, &GROUPS, true);
    let layout = lay_out(&graph);
    assert_eq!(layout.nodes.len(), 2000);
    let mut rects: Vec<Rect> = (0..2000).map(|node| rect(&graph, &layout, node)).collect();
    rects.sort_by(|one, other| one.x.total_cmp(&other.x).then(one.y.total_cmp(&other.y)));
    assert!(rects.windows(2).all(|pair| !overlap(pair[0], pair[1])));
}
