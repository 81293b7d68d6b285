//! The dependency graph as a page draws it: pictures of at most 400 nodes, one for each module, between which readers move.
//!
//! Owns what is in which picture. Places are those of [`crate::layout`]; colours and zoom belong to the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use model::addr::{ConfigResource, Module};
use rustc_hash::{FxHashMap, FxHashSet};

use super::data::TextTable;
use crate::layout::{Graph, Layout, Node, lay_out};
use crate::review::effect::Effect;
use crate::review::{Review, counted};

/// Nodes in one picture.
const MOST_NODES: usize = 400;
/// Pictures of one page.
const MOST_VIEWS: usize = 500;
/// Lines in one picture. More cannot be followed.
const MOST_LINES: usize = 2_000;
/// Numbers that all pictures of a page may take, about five bytes each.
const MOST_NUMBERS: usize = 400_000;
/// The width of a character of a label, and what is beside it.
const CHARACTER: f64 = 7.3;
const PADDING: f64 = 20.0;
const HEIGHT: f64 = 56.0;
/// Characters of a line of a label; longer ones are cut in the middle.
const LONGEST_LABEL: usize = 40;

/// One picture.
pub struct GraphView {
    title: String,
    /// The picture around it.
    parent: Option<usize>,
    nodes: Vec<ViewNode>,
    edges: Vec<(usize, usize)>,
    layout: Layout,
    /// The picture of each group that is drawn as a frame.
    frames: Vec<Option<usize>>,
    /// Nodes for which there was no room.
    hidden: usize,
    /// Dependencies for which there was no room.
    hidden_lines: usize,
}

struct ViewNode {
    lines: [String; 3],
    effect: Effect,
    /// The picture that it opens.
    target: Option<usize>,
    block: Option<usize>,
}

/// What a node stands for. Modules are positions in `Sketcher::modules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum NodeKey {
    /// All blocks of a type in a module.
    Kind(usize, usize),
    Module(usize),
    Block(usize),
}

/// What a picture is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Everything,
    Module(usize),
    Kind(usize, usize),
}

/// The pictures of a review, the first one first; none without blocks.
pub fn views(review: &Review<'_>) -> Vec<GraphView> {
    let sketcher = Sketcher::new(review);
    let scopes = sketcher.scopes();
    let places: FxHashMap<Scope, usize> = scopes.iter().enumerate().map(|(place, scope)| (*scope, place)).collect();
    let mut numbers = 0;
    let mut views = Vec::with_capacity(scopes.len());
    for scope in scopes {
        let view = sketcher.view(scope, &places, numbers < MOST_NUMBERS);
        numbers += view.numbers();
        views.push(view);
    }
    views
}

struct Sketcher<'r> {
    blocks: &'r [ConfigResource],
    /// Every module with blocks and those around them, the root first.
    modules: Vec<Module>,
    parents: Vec<Option<usize>>,
    /// Of each block.
    module_of: Vec<usize>,
    kind_of: Vec<usize>,
    kinds: Vec<String>,
    /// The blocks in a module and in those below it.
    inside: Vec<Vec<usize>>,
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
    /// How many entries of each block have which effect.
    effects: Vec<BTreeMap<Effect, usize>>,
    /// Whether the blocks of a module are drawn by their types, because there are too many.
    is_grouped: Vec<bool>,
}

impl<'r> Sketcher<'r> {
    fn new(review: &'r Review<'_>) -> Sketcher<'r> {
        let blocks = &review.graph.blocks;
        let mut all: BTreeSet<Module> = BTreeSet::new();
        for block in blocks {
            let mut module = Some(block.module.clone());
            while let Some(next) = module.filter(|module| !all.contains(module)) {
                module = next.parent();
                all.insert(next);
            }
        }
        let modules: Vec<Module> = all.into_iter().collect();
        let place = |module: &Module| modules.binary_search(module).ok();
        let parents: Vec<Option<usize>> =
            modules.iter().map(|module| module.parent().and_then(|parent| place(&parent))).collect();
        let module_of: Vec<usize> = blocks.iter().map(|block| place(&block.module).unwrap_or_default()).collect();
        let kind = |block: &ConfigResource| format!("{}{}", block.resource.mode.prefix(), block.resource.kind);
        let kinds: Vec<String> = blocks.iter().map(kind).collect::<BTreeSet<_>>().into_iter().collect();
        let kind_of = blocks.iter().map(|block| kinds.binary_search(&kind(block)).unwrap_or_default()).collect();
        let mut inside = vec![Vec::new(); modules.len()];
        for (block, module) in module_of.iter().enumerate() {
            let mut around = Some(*module);
            while let Some(module) = around {
                inside[module].push(block);
                around = parents[module];
            }
        }
        let (mut needs, mut needed_by) = (vec![Vec::new(); blocks.len()], vec![Vec::new(); blocks.len()]);
        for (from, to) in &review.graph.edges {
            needs[*from].push(*to);
            needed_by[*to].push(*from);
        }
        let mut effects = vec![BTreeMap::new(); blocks.len()];
        for entry in &review.entries {
            if let Some(block) = entry.block.filter(|_| entry.effect != Effect::Drift) {
                *effects[block].entry(entry.effect).or_default() += 1;
            }
        }
        let mut own = vec![0; modules.len()];
        module_of.iter().for_each(|module| own[*module] += 1);
        let is_grouped = own.into_iter().map(|blocks| blocks > MOST_NODES).collect();
        Sketcher { blocks, modules, parents, module_of, kind_of, kinds, inside, needs, needed_by, effects, is_grouped }
    }

    /// Everything if it is not too much, then each module, then the types of modules with too many blocks.
    fn scopes(&self) -> Vec<Scope> {
        let mut scopes = Vec::new();
        if self.blocks.len() <= MOST_NODES && self.modules.len() > 1 {
            scopes.push(Scope::Everything);
        }
        scopes.extend((0..self.modules.len()).map(Scope::Module));
        for module in (0..self.modules.len()).filter(|module| self.is_grouped[*module]) {
            let own = self.inside[module].iter().filter(|block| self.module_of[**block] == module);
            let kinds: BTreeSet<usize> = own.map(|block| self.kind_of[*block]).collect();
            scopes.extend(kinds.into_iter().map(|kind| Scope::Kind(module, kind)));
        }
        scopes.truncate(MOST_VIEWS);
        scopes
    }

    /// The node that a block is part of in a picture.
    fn key(&self, scope: Scope, block: usize) -> NodeKey {
        let (own, kind) = (self.module_of[block], self.kind_of[block]);
        match scope {
            Scope::Everything => NodeKey::Block(block),
            Scope::Module(module) if own == module && !self.is_grouped[module] => NodeKey::Block(block),
            Scope::Module(module) if own == module => NodeKey::Kind(module, kind),
            Scope::Kind(module, wanted) if own == module && kind == wanted => NodeKey::Block(block),
            Scope::Kind(module, _) if own == module => NodeKey::Kind(module, kind),
            Scope::Module(module) | Scope::Kind(module, _) => NodeKey::Module(self.towards(module, own)),
        }
    }

    /// The module that stands for another one in the picture of a module: the outermost one that does not hold the picture's module,
    /// or the other one itself if it does.
    fn towards(&self, module: usize, other: usize) -> usize {
        let mut around = BTreeSet::from([module]);
        let mut next = self.parents[module];
        while let Some(parent) = next {
            around.insert(parent);
            next = self.parents[parent];
        }
        let mut outermost = other;
        while let Some(parent) = self.parents[outermost].filter(|parent| !around.contains(parent)) {
            outermost = parent;
        }
        outermost
    }

    /// The picture; `has_room`: it is more than a title.
    fn view(&self, scope: Scope, places: &FxHashMap<Scope, usize>, has_room: bool) -> GraphView {
        let blocks: Vec<usize> = match scope {
            Scope::Everything => (0..self.blocks.len()).collect(),
            Scope::Module(module) => self.inside[module].clone(),
            Scope::Kind(module, kind) => {
                let own = self.inside[module].iter().copied();
                own.filter(|block| self.module_of[*block] == module && self.kind_of[*block] == kind).collect()
            }
        };
        let keys: FxHashMap<usize, NodeKey> = blocks.iter().map(|block| (*block, self.key(scope, *block))).collect();
        let mut members: Vec<NodeKey> = keys.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        members.sort_by_cached_key(|key| (self.effect(*key), *key));
        let most = if has_room { MOST_NODES } else { 0 };
        let mut hidden = members.len().saturating_sub(most);
        members.truncate(most);
        let mut nodes: FxHashMap<NodeKey, usize> = members.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut missing: FxHashSet<NodeKey> = FxHashSet::default();
        for block in &blocks {
            let outgoing = self.needs[*block].iter().map(|other| (*block, *other));
            let incoming = self.needed_by[*block].iter().map(|other| (*other, *block));
            for (from, to) in outgoing.chain(incoming) {
                let mut end = |block: usize| {
                    let key = keys.get(&block).copied().unwrap_or_else(|| self.key(scope, block));
                    if !nodes.contains_key(&key) && !keys.contains_key(&block) {
                        match members.len() < most {
                            true => {
                                nodes.insert(key, members.len());
                                members.push(key);
                            }
                            false => _ = missing.insert(key),
                        }
                    }
                    nodes.get(&key).copied()
                };
                if let (Some(from), Some(to)) = (end(from), end(to)) {
                    edges.insert((from, to));
                }
            }
        }
        hidden += missing.len();
        let mut edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, to)| from != to).collect();
        let hidden_lines = edges.len().saturating_sub(MOST_LINES);
        edges.truncate(MOST_LINES);
        GraphView { hidden, hidden_lines, ..self.drawn(scope, &members, edges, places) }
    }

    fn drawn(
        &self,
        scope: Scope,
        members: &[NodeKey],
        edges: Vec<(usize, usize)>,
        places: &FxHashMap<Scope, usize>,
    ) -> GraphView {
        let nodes: Vec<ViewNode> = members.iter().map(|key| self.node(*key, scope, places)).collect();
        let sized = members.iter().zip(&nodes).enumerate().map(|(at, (key, node))| {
            let longest = node.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let group = match (scope, key) {
                (Scope::Everything, NodeKey::Block(block)) => Some(self.module_of[*block]).filter(|module| *module > 0),
                _ => None,
            };
            Node {
                id: at.to_string(),
                width: longest as f64 * CHARACTER + PADDING,
                height: HEIGHT,
                group: group.map(|module| self.modules[module].to_string()),
            }
        });
        let layout = lay_out(&Graph { nodes: sized.collect(), edges: edges.clone() });
        let by_name: FxHashMap<String, usize> =
            self.modules.iter().enumerate().map(|(place, module)| (module.to_string(), place)).collect();
        let frame = |(name, _): &(String, _)| places.get(&Scope::Module(*by_name.get(name)?)).copied();
        let frames = layout.groups.iter().map(frame).collect();
        let parent = match scope {
            Scope::Everything => None,
            Scope::Module(module) => match self.parents[module] {
                Some(parent) => places.get(&Scope::Module(parent)).copied(),
                None => places.get(&Scope::Everything).copied(),
            },
            Scope::Kind(module, _) => places.get(&Scope::Module(module)).copied(),
        };
        GraphView { title: self.title(scope), parent, nodes, edges, layout, frames, hidden: 0, hidden_lines: 0 }
    }

    fn title(&self, scope: Scope) -> String {
        match scope {
            Scope::Everything => "All modules".to_owned(),
            Scope::Module(module) => self.module_name(module),
            Scope::Kind(_, kind) => self.kinds[kind].clone(),
        }
    }

    fn module_name(&self, module: usize) -> String {
        let module = &self.modules[module];
        if module.is_root() { "root module".to_owned() } else { module.to_string() }
    }

    /// The blocks that a node stands for.
    fn blocks_of(&self, key: NodeKey) -> Vec<usize> {
        match key {
            NodeKey::Block(block) => vec![block],
            NodeKey::Module(module) => self.inside[module].clone(),
            NodeKey::Kind(module, kind) => {
                let is_member = |block: &usize| self.module_of[*block] == module && self.kind_of[*block] == kind;
                self.inside[module].iter().copied().filter(is_member).collect()
            }
        }
    }

    /// The most dangerous effect in a node.
    fn effect(&self, key: NodeKey) -> Effect {
        let effects = self.blocks_of(key).into_iter().filter_map(|block| self.effects[block].keys().next().copied());
        effects.min().unwrap_or(Effect::Unchanged)
    }

    fn node(&self, key: NodeKey, scope: Scope, places: &FxHashMap<Scope, usize>) -> ViewNode {
        let blocks = self.blocks_of(key);
        let mut counts: BTreeMap<Effect, usize> = BTreeMap::new();
        for (effect, count) in blocks.iter().flat_map(|block| &self.effects[*block]) {
            *counts.entry(*effect).or_default() += count;
        }
        let (first, second) = match key {
            NodeKey::Block(block) => {
                (self.kinds[self.kind_of[block]].clone(), self.blocks[block].resource.name.to_string())
            }
            NodeKey::Kind(_, kind) => (self.kinds[kind].clone(), counted(blocks.len(), "block")),
            NodeKey::Module(module) => (self.module_name(module), counted(blocks.len(), "block")),
        };
        let target = match key {
            NodeKey::Block(_) => None,
            NodeKey::Module(module) => places.get(&Scope::Module(module)).copied(),
            NodeKey::Kind(module, kind) => places.get(&Scope::Kind(module, kind)).copied(),
        };
        let block = match key {
            NodeKey::Block(block) => Some(block),
            NodeKey::Module(_) | NodeKey::Kind(..) => None,
        };
        let own = places.get(&scope).copied();
        let sign = |(effect, count): (&Effect, &usize)| format!("{} {count}", effect.sign());
        let signs: Vec<String> = counts.iter().filter(|(effect, _)| **effect != Effect::Unchanged).map(sign).collect();
        ViewNode {
            lines: [shortened(&first), shortened(&second), shortened(&signs.join("  "))],
            effect: self.effect(key),
            target: target.filter(|target| Some(*target) != own),
            block,
        }
    }
}

/// A label without its middle, if it is long.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST_LABEL {
        return text.to_owned();
    }
    let half = LONGEST_LABEL / 2;
    let (start, end) = (text.chars().take(half), text.chars().skip(length - half + 1));
    start.chain(['…']).chain(end).collect()
}

impl GraphView {
    /// How many numbers it takes in the data of a page.
    fn numbers(&self) -> usize {
        let corners: usize = self.layout.edges.iter().map(|line| 2 * line.len() + 2).sum();
        10 * self.nodes.len() + corners + 6 * self.frames.len()
    }

    /// Title, parent, hidden nodes and lines, width, height, nodes, edges, frames.
    pub fn write(&self, out: &mut String, texts: &mut TextTable) {
        let place = |place: Option<usize>| place.map_or(-1, |place| place as i64);
        let (width, height) = (self.layout.width.ceil(), self.layout.height.ceil());
        let title = texts.place(&self.title);
        let _ = write!(out, "[{title},{},{},{},{width},{height},[", place(self.parent), self.hidden, self.hidden_lines);
        for (at, (node, placed)) in self.nodes.iter().zip(&self.layout.nodes).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let lines = node.lines.each_ref().map(|line| texts.place(line));
            let effect = Effect::ALL.iter().position(|effect| *effect == node.effect).unwrap_or_default();
            let longest = node.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let width = (longest as f64 * CHARACTER + PADDING).ceil();
            let (x, y, block, target) = (placed.x.round(), placed.y.round(), place(node.block), place(node.target));
            let [first, second, third] = lines;
            let _ = write!(out, "{comma}[{x},{y},{width},{HEIGHT},{first},{second},{third},{effect},{target},{block}]");
        }
        out.push_str("],[");
        for (at, ((from, to), points)) in self.edges.iter().zip(&self.layout.edges).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let _ = write!(out, "{comma}[{from},{to}");
            points.iter().for_each(|(x, y)| _ = write!(out, ",{},{}", x.round(), y.round()));
            out.push(']');
        }
        out.push_str("],[");
        for (at, ((name, rect), target)) in self.layout.groups.iter().zip(&self.frames).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let name = texts.place(name);
            let (x, y) = (rect.x.round(), rect.y.round());
            let (width, height) = (rect.width.round(), rect.height.round());
            let _ = write!(out, "{comma}[{name},{x},{y},{width},{height},{}]", place(*target));
        }
        out.push_str("]]");
    }
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use model::addr::Resource;
    use model::plan::{Action, Plan};
    use terrane_value::Value;

    use super::*;
    use crate::review::dependencies::BlockGraph;
    use crate::review::tests::{change, schemas};
    use crate::schemas::SchemaLookup;

    /// A review of blocks, given as module and name; each needs the one before it. The first is replaced.
    fn review_of<'a>(plan: &'a Plan, blocks: &[(&str, String)], schemas: &'a SchemaLookup<'a>) -> Review<'a> {
        let mut review = Review::of_plan(plan, None, schemas, Dialect::default());
        let block = |(module, name): &(&str, String)| {
            let path = module.split('.').filter(|name| !name.is_empty());
            let module = path.fold(Module::root(), |module, name| module.child(name));
            Resource::managed("t", name).in_module(module)
        };
        review.graph = BlockGraph {
            blocks: blocks.iter().map(block).collect(),
            edges: (1..blocks.len()).map(|at| (at, at - 1)).collect(),
            is_cut: false,
        };
        review.entries.iter_mut().for_each(|entry| entry.block = Some(0));
        review
    }

    fn plan() -> Plan {
        let null = Value::null_dynamic();
        Plan { changes: vec![change("t.a", Action::DeleteThenCreate, null.clone(), null)], ..Plan::default() }
    }

    fn titles(views: &[GraphView]) -> Vec<(&str, usize, Option<usize>)> {
        views.iter().map(|view| (view.title.as_str(), view.nodes.len(), view.parent)).collect()
    }

    #[test]
    fn small_graphs_have_a_picture_of_everything() {
        let (plan, schemas) = (plan(), schemas());
        let blocks = [("", "a"), ("m", "b"), ("m.n", "c"), ("o", "d")].map(|(module, name)| (module, name.to_owned()));
        let review = review_of(&plan, &blocks, &schemas);
        let views = views(&review);
        let expected = [
            ("All modules", 4, None),
            ("root module", 3, Some(0)),
            ("module.m", 4, Some(1)),
            ("module.m.module.n", 3, Some(2)),
            ("module.o", 2, Some(1)),
        ];
        assert_eq!(titles(&views), expected);
        assert_eq!(views[0].nodes[0].effect, Effect::Replace);
        assert_eq!(views[0].layout.groups.len(), 3);
    }

    #[test]
    fn large_modules_are_drawn_by_type_and_no_picture_is_too_large() {
        let (plan, schemas) = (plan(), schemas());
        let blocks: Vec<(&str, String)> = (0..1000).map(|i| ("m", format!("x{i}"))).collect();
        let review = review_of(&plan, &blocks, &schemas);
        let views = views(&review);
        assert_eq!(titles(&views), [("root module", 1, None), ("module.m", 1, Some(0)), ("t", MOST_NODES, Some(1))]);
        assert_eq!(views[2].hidden, 600);
        // The most dangerous are drawn.
        assert_eq!(views[2].nodes[0].effect, Effect::Replace);
    }

    #[test]
    fn pictures_have_a_limited_number_of_lines() {
        let (plan, schemas) = (plan(), schemas());
        let blocks: Vec<(&str, String)> = (0..100).map(|i| ("", format!("x{i}"))).collect();
        let mut review = review_of(&plan, &blocks, &schemas);
        review.graph.edges = (0..100).flat_map(|from| (0..from).map(move |to| (from, to))).collect();
        let views = views(&review);
        assert_eq!((views[0].edges.len(), views[0].hidden_lines), (MOST_LINES, 4_950 - MOST_LINES));
        let empty = Sketcher::new(&review).view(Scope::Module(0), &FxHashMap::default(), false);
        assert_eq!((empty.nodes.len(), empty.hidden), (0, 100));
    }

    #[test]
    fn long_labels_are_cut_in_the_middle() {
        assert_eq!(shortened(&"x".repeat(40)).len(), 40);
        let cut = shortened(&format!("{}{}", "a".repeat(50), "b".repeat(50)));
        assert_eq!((cut.chars().count(), cut.starts_with("aa"), cut.ends_with("bb")), (40, true, true));
    }
}
