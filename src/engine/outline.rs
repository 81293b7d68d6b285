//! The graph of an operation for users: every block by name, and its dependencies.
//!
//! The engine itself walks blocks, not this graph: it has nodes for ends and reports that a walk does not need. Its
//! names and its shape are the reference's, observed on 1.11.4.

mod reduce;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::{AbsResourceInstance, ConfigResource, Module};
use model::plan::{Action, Plan};
use model::state::State;
use terrane_protocol::schema::ResourceMode;

use super::build::builder::Builder;
use super::build::{config, imports};
use super::engine_errors;
use super::graph::{Dag, Node};
use super::ports::Ports;
use crate::blocks::provider_configs;
use crate::blocks::references::{Gatherer, Needs};
use crate::blocks::schemas::Schemas;
use crate::blocks::tree::Tree;
use crate::facts::Facts;
use crate::ids::{ModuleId, NodeId, ProviderId, ROOT, ResourceId};

pub struct OutlineInput {
    pub facts: Arc<Facts>,
    pub state: State,
    pub operation: Outlined,
    /// Cycles are wanted too, and no error.
    pub draw_cycles: bool,
}

/// The operation whose graph is wanted.
pub enum Outlined {
    Plan,
    PlanRefreshOnly,
    PlanDestroy,
    /// Carrying out a plan.
    Apply(Arc<Plan>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    Resource(ConfigResource),
    Provider(String),
    /// A variable or an output of the root module, with its label.
    RootValue(String),
    Other,
}

#[derive(Clone, Debug)]
pub struct OutlineNode {
    pub name: String,
    pub kind: OutlineKind,
}

/// Nodes, and edges from what waits to what it waits for, as positions.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub nodes: Vec<OutlineNode>,
    pub edges: Vec<(u32, u32)>,
    /// Nodes that wait for each other in circles; empty for a sound configuration.
    pub cycles: Vec<Vec<u32>>,
}

/// Draws the graph. The edges hold nothing that others imply, unless there are cycles.
pub async fn outline(input: OutlineInput, ports: &Ports) -> Result<Outline, Diagnostics> {
    let (schemas, diagnostics) = Schemas::load(input.facts.config(), Some(&input.state), ports).await;
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut builder = config::graph(&input.facts, &schemas);
    if builder.diagnostics.has_errors() {
        return Err(builder.diagnostics);
    }
    let stored = stored(&input.state, &input.facts.tree, &mut builder);
    if matches!(input.operation, Outlined::Plan) {
        imports::connect(&mut builder);
    }
    let mut sketch = Sketch::of_blocks(&builder);
    match &input.operation {
        Outlined::Plan | Outlined::PlanRefreshOnly => {
            sketch.checks(true);
            sketch.orphans(&stored, &input.state);
            sketch.orphan_outputs(&input.state);
        }
        Outlined::PlanDestroy => sketch.destroyed(&stored),
        Outlined::Apply(plan) => {
            sketch.checks(false);
            sketch.changed(plan, &stored);
        }
    }
    sketch.ephemeral_ends();
    sketch.provider_ends();
    sketch.root();
    let drawn = sketch.finish();
    if input.draw_cycles || drawn.cycles.is_empty() { Ok(drawn) } else { Err(drawn.cycle_errors()) }
}

/// An object of the state with the provider configuration that serves it.
struct StoredObject {
    addr: AbsResourceInstance,
    provider: Option<ProviderId>,
    dependencies: Arc<[ConfigResource]>,
    in_configuration: bool,
}

fn stored(state: &State, tree: &Tree, builder: &mut Builder) -> Vec<StoredObject> {
    let mut all = Vec::new();
    for (addr, resource) in &state.resources {
        if addr.resource.mode != ResourceMode::Managed {
            continue;
        }
        let provider = provider_configs::resolve_stored(tree, &resource.provider).map(|found| builder.provider(found));
        let in_configuration = tree.find_resource(&addr.config()).is_some();
        for (key, instance) in &resource.instances {
            let Some(current) = &instance.current else { continue };
            let (addr, dependencies) = (addr.instance(key.clone()), current.dependencies.clone());
            all.push(StoredObject { addr, provider, dependencies, in_configuration });
        }
    }
    all
}

/// A graph being drawn. The builder's nodes come first, under their own numbers.
struct Sketch<'a> {
    builder: &'a Builder<'a>,
    nodes: Vec<OutlineNode>,
    edges: Vec<BTreeSet<NodeId>>,
    kept: Vec<bool>,
    /// Who uses which provider configuration.
    users: Vec<(NodeId, ProviderId)>,
    has_checks: bool,
}

impl<'a> Sketch<'a> {
    fn of_blocks(builder: &'a Builder<'a>) -> Sketch<'a> {
        let mut sketch = Sketch {
            builder,
            nodes: Vec::new(),
            edges: Vec::new(),
            kept: Vec::new(),
            users: Vec::new(),
            has_checks: false,
        };
        for (id, node) in builder.graph.nodes() {
            let (name, kind) = sketch.describe(*node);
            sketch.add(name, kind);
            if !matches!(node, Node::Variable { .. }) {
                sketch.edges[id.index()].extend(builder.graph.dependencies(id));
            }
        }
        for (block, provider) in &builder.provider_of {
            sketch.users.push((builder.resource(*block), *provider));
        }
        for (block, chosen) in &builder.chosen_of {
            let node = builder.resource(*block);
            sketch.users.extend(chosen.instances.values().map(|provider| (node, *provider)));
        }
        sketch.users.sort_unstable();
        for module in builder.tree.ids() {
            for index in 0..builder.tree.module(module).variables.len() as u32 {
                sketch.variable(module, index);
            }
        }
        sketch
    }

    fn describe(&self, node: Node) -> (String, OutlineKind) {
        let tree = self.builder.tree;
        match node {
            Node::Variable { module: ROOT, index } => {
                let name = format!("var.{}", tree.variable(ROOT, index).name);
                (name.clone(), OutlineKind::RootValue(name))
            }
            Node::Resource(block) => {
                let addr = tree.config_addr(block);
                (format!("{addr} (expand)"), OutlineKind::Resource(addr))
            }
            Node::Output { module: ROOT, index } => {
                (format!("output.{} (expand)", tree.output(ROOT, index).name), OutlineKind::Other)
            }
            Node::Provider(id) => {
                let addr = self.builder.providers.get(id).addr.to_string();
                (addr.clone(), OutlineKind::Provider(addr))
            }
            other @ (Node::Variable { .. }
            | Node::Local { .. }
            | Node::Output { .. }
            | Node::Call { .. }
            | Node::Close { .. }
            | Node::Check { .. }
            | Node::Action(_)
            | Node::Request(_)
            | Node::CloseEphemeral(_)
            | Node::Generate(_)
            | Node::Orphans(_)
            | Node::Instance(_)
            | Node::Destroy(_)
            | Node::Gate) => (other.name(tree, &|_| String::new()), OutlineKind::Other),
        }
    }

    fn add(&mut self, name: String, kind: OutlineKind) -> NodeId {
        self.nodes.push(OutlineNode { name, kind });
        self.edges.push(BTreeSet::new());
        self.kept.push(true);
        NodeId::new(self.nodes.len() - 1)
    }

    fn connect(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            self.edges[from.index()].insert(to);
        }
    }

    fn connect_needs(&mut self, from: NodeId, needs: &Needs) {
        needs.on.iter().for_each(|need| self.connect(from, self.builder.node_of(need)));
    }

    /// Adds a node to a module: it waits for the module's expansion, and the module's end waits for it.
    fn add_in(&mut self, module: ModuleId, name: &str) -> NodeId {
        let path = &self.builder.tree.module(module).path;
        let name = if path.is_root() { name.to_string() } else { format!("{path}.{name}") };
        let node = self.add(name, OutlineKind::Other);
        if let Some(expansion) = self.builder.expansion_of(module) {
            self.connect(node, expansion);
            self.connect(self.builder.close(module), node);
        }
        node
    }

    /// The nodes that are drawn.
    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    fn dependents(&self, of: NodeId) -> Vec<NodeId> {
        self.ids().filter(|node| self.edges[node.index()].contains(&of)).collect()
    }

    /// A variable waits for its argument; its rules are checked by a node between it and those that read it.
    fn variable(&mut self, module: ModuleId, index: u32) {
        let builder = self.builder;
        let tree = builder.tree;
        let node = builder.variable(module, index);
        let variable = tree.variable(module, index);
        if let Some((parent, call)) = tree.parent(module) {
            self.connect(node, builder.call(parent, call));
            if let Some(argument) = tree.call(parent, call).body.just_attributes().0.get(&variable.name) {
                let mut gatherer = Gatherer::new(tree, builder.schemas, parent);
                gatherer.expression(&argument.expr);
                self.connect_needs(node, &gatherer.needs);
            }
        }
        if variable.validations.is_empty() {
            return;
        }
        let readers = self.dependents(node);
        let check = self.add_in(module, &format!("var.{} (validation)", variable.name));
        readers.into_iter().for_each(|reader| self.connect(reader, check));
        self.connect(check, node);
        let mut gatherer = Gatherer::new(tree, builder.schemas, module);
        variable.validations.iter().for_each(|c| gatherer.validation(c));
        self.connect_needs(check, &gatherer.needs);
    }

    /// Checks; with `report`, each with the node that opens its report.
    fn checks(&mut self, report: bool) {
        let builder = self.builder;
        for module in builder.tree.ids() {
            for (index, check) in builder.tree.module(module).checks.values().enumerate() {
                let expand = builder.check(module, index as u32);
                let data =
                    check.data.as_ref().and_then(|data| builder.tree.module(module).resources.get_index_of(data));
                let data = data.map(|index| builder.resource(ResourceId::new(module, index)));
                data.into_iter().for_each(|data| self.connect(expand, data));
                if report {
                    let report = self.add_in(module, &format!("check.{} (report)", check.name));
                    self.connect(expand, report);
                    data.into_iter().for_each(|data| self.connect(data, report));
                }
                self.has_checks |= data.is_some();
            }
        }
    }

    /// Objects without a block, and the ends of modules that are gone.
    fn orphans(&mut self, stored: &[StoredObject], state: &State) {
        for object in stored.iter().filter(|object| !object.in_configuration) {
            let node = self.add(format!("{} (orphan)", object.addr), OutlineKind::Resource(object.addr.config()));
            self.use_provider(node, object.provider);
        }
        let known = |path: &Module| self.builder.tree.find(path).is_some();
        let gone: BTreeSet<Module> =
            state.resources.keys().map(|addr| addr.module.module()).filter(|path| !known(path)).collect();
        for path in gone {
            self.add(format!("{path} (close)"), OutlineKind::Other);
        }
    }

    /// Outputs that the state has and the configuration has not.
    fn orphan_outputs(&mut self, state: &State) {
        for name in state.outputs.keys().filter(|name| !self.builder.tree.module(ROOT).outputs.contains_key(*name)) {
            let name = format!("output.{name} (destroy)");
            self.add(name.clone(), OutlineKind::RootValue(name));
        }
    }

    fn use_provider(&mut self, node: NodeId, provider: Option<ProviderId>) {
        let Some(provider) = provider else { return };
        self.connect(node, self.builder.provider_nodes[provider.index()]);
        self.users.push((node, provider));
    }

    /// Only what is stored, dependents first, with the providers that destroying takes.
    fn destroyed(&mut self, stored: &[StoredObject]) {
        let builder = self.builder;
        self.users.clear();
        let mut open: Vec<NodeId> =
            stored.iter().filter_map(|o| o.provider).map(|p| builder.provider_nodes[p.index()]).collect();
        self.kept.fill(false);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut self.kept[node.index()], true) {
                open.extend(&self.edges[node.index()]);
            }
        }
        for index in 0..builder.tree.module(ROOT).outputs.len() as u32 {
            let node = builder.output(ROOT, index);
            self.kept[node.index()] = true;
            self.edges[node.index()].clear();
        }
        // The reference names these after the block, all instances alike.
        self.destructions(stored.iter(), |object| object.addr.config().to_string());
    }

    /// A node for each object that goes. Those that depend on it go first.
    fn destructions<'s>(
        &mut self,
        objects: impl Iterator<Item = &'s StoredObject> + Clone,
        name: impl Fn(&StoredObject) -> String,
    ) -> BTreeMap<AbsResourceInstance, NodeId> {
        let mut nodes = BTreeMap::new();
        let mut by_block: BTreeMap<ConfigResource, Vec<NodeId>> = BTreeMap::new();
        for object in objects.clone() {
            let node = self.add(format!("{} (destroy)", name(object)), OutlineKind::Resource(object.addr.config()));
            self.use_provider(node, object.provider);
            by_block.entry(object.addr.config()).or_default().push(node);
            nodes.insert(object.addr.clone(), node);
        }
        for object in objects {
            let node = nodes[&object.addr];
            for needed in object.dependencies.iter().filter_map(|d| by_block.get(d)).flatten() {
                self.connect(*needed, node);
            }
        }
        nodes
    }

    /// A node for each planned change, behind the block that it belongs to.
    fn changed(&mut self, plan: &Plan, stored: &[StoredObject]) {
        let builder = self.builder;
        let goes = |action| matches!(action, Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete);
        let going: BTreeSet<_> = plan.changes.iter().filter(|c| goes(c.action)).map(|c| &c.addr).collect();
        let going = stored.iter().filter(|object| going.contains(&object.addr));
        let destroyed = self.destructions(going, |object| object.addr.to_string());
        let ends: BTreeSet<NodeId> = builder.tree.ids().map(|module| builder.close(module)).collect();
        let start = self.has_checks.then(|| self.add("(execute checks)".into(), OutlineKind::Other));
        for change in &plan.changes {
            if matches!(change.action, Action::NoOp | Action::Delete | Action::Forget) {
                continue;
            }
            let addr = change.addr.config();
            let Some(block) = builder.tree.find_resource(&addr) else { continue };
            let expand = builder.resource(block);
            let readers = self.dependents(expand);
            let node = self.add(change.addr.to_string(), OutlineKind::Resource(addr.clone()));
            self.connect(node, expand);
            for reader in readers {
                // The instances of one block do not wait for each other.
                if ends.contains(&reader)
                    || !matches!(&self.nodes[reader.index()].kind, OutlineKind::Resource(of) if *of == addr)
                {
                    self.connect(reader, node);
                }
            }
            self.use_provider(node, builder.provider_of.get(&block).copied());
            if let Some(before) = destroyed.get(&change.addr) {
                match change.action {
                    Action::CreateThenDelete => self.connect(*before, node),
                    _ => self.connect(node, *before),
                }
            }
            let checks = &builder.tree.module(block.module).checks;
            let nested = checks.values().any(|check| check.data.as_ref() == Some(&addr.resource));
            match start {
                Some(start) if nested => self.connect(node, start),
                Some(start) => self.connect(start, node),
                None => {}
            }
        }
    }

    /// An ephemeral resource is closed when the last of those are done that read it, directly or through others.
    fn ephemeral_ends(&mut self) {
        let builder = self.builder;
        let is_ephemeral = |node: &OutlineNode| matches!(&node.kind, OutlineKind::Resource(addr) if addr.resource.mode == ResourceMode::Ephemeral);
        let opened = self.ids().filter(|node| self.kept[node.index()] && is_ephemeral(&self.nodes[node.index()]));
        let opened: Vec<NodeId> = opened.collect();
        if opened.is_empty() {
            return;
        }
        let ends: BTreeSet<NodeId> = builder.tree.ids().map(|module| builder.close(module)).collect();
        let mut readers: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for node in self.ids() {
            let name = &self.nodes[node.index()].name;
            let reads = !ends.contains(&node) && !name.ends_with("(close)") && name != "(execute checks)";
            if self.kept[node.index()] && reads {
                self.edges[node.index()].iter().for_each(|of| readers[of.index()].push(node));
            }
        }
        for node in opened {
            let end = self.add(format!("{} (close)", self.address(node)), OutlineKind::Other);
            self.connect(end, node);
            last_readers(&readers, node).into_iter().for_each(|reader| self.connect(end, reader));
            if let Some((_, provider)) = self.users.iter().find(|(user, _)| *user == node).copied() {
                self.users.push((end, provider));
            }
        }
    }

    fn address(&self, node: NodeId) -> String {
        match &self.nodes[node.index()].kind {
            OutlineKind::Resource(addr) => addr.to_string(),
            _ => self.nodes[node.index()].name.clone(),
        }
    }

    /// A provider is closed when all who use it are done.
    fn provider_ends(&mut self) {
        let used: BTreeSet<ProviderId> = self.users.iter().map(|(_, provider)| *provider).collect();
        for provider in used {
            let addr = self.builder.providers.get(provider).addr.to_string();
            let end = self.add(format!("{addr} (close)"), OutlineKind::Other);
            self.connect(end, self.builder.provider_nodes[provider.index()]);
            let users = self.users.clone();
            users.iter().filter(|(_, p)| *p == provider).for_each(|(user, _)| self.connect(end, *user));
        }
    }

    /// The root depends on all nodes without dependents.
    fn root(&mut self) {
        let root = self.builder.close(ROOT);
        self.kept[root.index()] = true;
        let awaited: BTreeSet<NodeId> = self
            .ids()
            .filter(|node| self.kept[node.index()] && *node != root)
            .flat_map(|node| self.edges[node.index()].iter().copied())
            .collect();
        let loose = self.ids().filter(|node| self.kept[node.index()] && !awaited.contains(node));
        self.edges[root.index()] = loose.filter(|node| *node != root).collect();
    }

    fn finish(self) -> Outline {
        let mut place = vec![None; self.nodes.len()];
        let mut nodes = Vec::new();
        for (index, node) in self.nodes.into_iter().enumerate().filter(|(index, _)| self.kept[*index]) {
            place[index] = Some(nodes.len() as u32);
            nodes.push(node);
        }
        let mut edges = vec![Vec::new(); nodes.len()];
        for (from, to) in self.edges.iter().enumerate() {
            let Some(from) = place[from] else { continue };
            edges[from as usize] = to.iter().filter_map(|to| place[to.index()]).collect();
        }
        let cycles = cycles(&edges);
        let edges = match cycles.is_empty() {
            true => reduce::reduced(&edges),
            false => (0..).zip(&edges).flat_map(|(from, to)| to.iter().map(move |to| (from, *to))).collect(),
        };
        Outline { nodes, edges, cycles }
    }
}

fn cycles(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut graph = Dag::default();
    for _ in edges {
        graph.add(());
    }
    for (from, to) in edges.iter().enumerate() {
        to.iter().for_each(|to| graph.connect(NodeId::new(from), NodeId::new(*to as usize)));
    }
    let positions = |cycle: Vec<NodeId>| cycle.into_iter().map(|node| node.index() as u32).collect();
    graph.cycles().into_iter().map(positions).collect()
}

impl Outline {
    /// The cycles, told by name.
    fn cycle_errors(&self) -> Diagnostics {
        let told = self.cycles.iter().map(|members| {
            let mut names: Vec<String> = members.iter().map(|node| self.nodes[*node as usize].name.clone()).collect();
            names.sort();
            engine_errors::cycle(&names)
        });
        told.collect()
    }

    /// The resources alone, in order, each waiting for the nearest ones that it waits for.
    pub fn resources(&self) -> (Vec<ConfigResource>, Vec<(u32, u32)>) {
        let mut edges = vec![Vec::new(); self.nodes.len()];
        self.edges.iter().for_each(|(from, to)| edges[*from as usize].push(*to));
        let resource = |node: u32| match &self.nodes[node as usize].kind {
            OutlineKind::Resource(addr) => Some(addr.clone()),
            _ => None,
        };
        let found: BTreeSet<ConfigResource> = (0..self.nodes.len() as u32).filter_map(resource).collect();
        let mut found: Vec<ConfigResource> = found.into_iter().collect();
        found.sort_by_cached_key(order);
        let mut between = vec![Vec::new(); found.len()];
        for node in 0..self.nodes.len() as u32 {
            let Some(from) = resource(node).and_then(|addr| found.iter().position(|a| *a == addr)) else { continue };
            let mut seen = vec![false; self.nodes.len()];
            let mut open = edges[node as usize].clone();
            while let Some(next) = open.pop() {
                if std::mem::replace(&mut seen[next as usize], true) {
                    continue;
                }
                match resource(next).and_then(|addr| found.iter().position(|a| *a == addr)) {
                    Some(to) if to != from => between[from].push(to as u32),
                    Some(_) => {}
                    None => open.extend(&edges[next as usize]),
                }
            }
            between[from].sort_unstable();
            between[from].dedup();
        }
        (found, reduce::reduced(&between))
    }
}

/// Those that read a node, directly or through others, and that have no reader themselves.
fn last_readers(readers: &[Vec<NodeId>], node: NodeId) -> Vec<NodeId> {
    let mut open = readers[node.index()].clone();
    let mut seen: BTreeSet<NodeId> = open.iter().copied().collect();
    let mut last = Vec::new();
    while let Some(next) = open.pop() {
        match readers[next.index()].as_slice() {
            [] => last.push(next),
            more => open.extend(more.iter().copied().filter(|reader| seen.insert(*reader))),
        }
    }
    last
}

/// Outer modules first, data sources before the others.
fn order(addr: &ConfigResource) -> (usize, Module, u8, Arc<str>, Arc<str>) {
    let mode = match addr.resource.mode {
        ResourceMode::Data => 0,
        ResourceMode::Managed => 1,
        ResourceMode::Ephemeral => 2,
        ResourceMode::List => 3,
    };
    (addr.module.0.len(), addr.module.clone(), mode, addr.resource.kind.clone(), addr.resource.name.clone())
}

#[cfg(test)]
mod tests {
    use super::last_readers;
    use crate::ids::NodeId;

    #[test]
    fn the_root_depends_on_nodes_without_dependents() {
        // 0 is read by 1 and 2; 1 by 3; 2 by 3 and 4. 3 and 4 have no reader; 5 neither reads nor is read.
        let ids = |of: &[usize]| of.iter().copied().map(NodeId::new).collect::<Vec<_>>();
        let readers = [ids(&[1, 2]), ids(&[3]), ids(&[3, 4]), ids(&[]), ids(&[]), ids(&[])];
        for (node, expected) in [(0, ids(&[3, 4])), (1, ids(&[3])), (3, ids(&[])), (5, ids(&[]))] {
            let mut last = last_readers(&readers, NodeId::new(node));
            last.sort_unstable();
            assert_eq!(last, expected, "{node}");
        }
    }
}
