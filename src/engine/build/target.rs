//! `-target` and `-exclude`: the part of the graph that a run keeps.

use std::collections::BTreeSet;

use model::addr::{AbsResourceInstance, ConfigResource, ModuleInstance, Target};
use model::state::State;
use rustc_hash::{FxHashMap, FxHashSet};

use super::builder::Builder;
use crate::blocks::imports::Imports;
use crate::graph::{Dag, Node, Orphans};
use crate::ids::{NodeId, ROOT};

/// The instances that go in a destroy with targets: the targeted ones and, again and again, those that depend on one of
/// them. Instances of one module do not depend on each other.
pub fn destroyed(state: &State, targets: &[Target]) -> FxHashSet<AbsResourceInstance> {
    let mut users = Users::of(state);
    let mut open: Vec<AbsResourceInstance> = state.instances().map(|(addr, ..)| addr).collect();
    open.retain(|addr| targets.iter().any(|target| target.contains(addr)));
    let mut found: FxHashSet<AbsResourceInstance> = open.iter().cloned().collect();
    while let Some(addr) = open.pop() {
        for user in users.take(&addr) {
            if found.insert(user.clone()) {
                open.push(user);
            }
        }
    }
    found
}

/// The instances that stay in a destroy with excludes: the excluded ones and, again and again, those that one of them depends on.
/// Instances of one module do not depend on each other.
pub fn spared(state: &State, excludes: &[Target]) -> FxHashSet<AbsResourceInstance> {
    let mut instances: FxHashMap<ConfigResource, Vec<AbsResourceInstance>> = FxHashMap::default();
    let mut needs: FxHashMap<AbsResourceInstance, Vec<ConfigResource>> = FxHashMap::default();
    for (addr, _, instance) in state.instances() {
        instances.entry(addr.config()).or_default().push(addr.clone());
        let objects = instance.current.iter().chain(instance.deposed.values());
        needs.insert(addr, objects.flat_map(|object| object.dependencies.iter().cloned()).collect());
    }
    let is_excluded = |addr: &&AbsResourceInstance| excludes.iter().any(|target| target.contains(addr));
    let mut open: Vec<AbsResourceInstance> = needs.keys().filter(is_excluded).cloned().collect();
    let mut found: FxHashSet<AbsResourceInstance> = open.iter().cloned().collect();
    // Those of another module are needed by all its instances: once is enough.
    let mut followed: FxHashSet<(ConfigResource, Option<ModuleInstance>)> = FxHashSet::default();
    while let Some(addr) = open.pop() {
        let module = addr.module.module();
        for need in needs.get(&addr).into_iter().flatten() {
            let within = (need.module == module).then(|| addr.module.clone());
            if !followed.insert((need.clone(), within.clone())) {
                continue;
            }
            for other in instances.get(need).into_iter().flatten() {
                let is_needed = within.as_ref().is_none_or(|module| other.module == *module);
                if is_needed && found.insert(other.clone()) {
                    open.push(other.clone());
                }
            }
        }
    }
    found
}

/// Instances of the state by what they depend on.
#[derive(Default)]
struct Users {
    /// Those in other modules.
    apart: FxHashMap<ConfigResource, Vec<AbsResourceInstance>>,
    /// Those in the same module, by its instance.
    beside: FxHashMap<(ConfigResource, ModuleInstance), Vec<AbsResourceInstance>>,
}

impl Users {
    fn of(state: &State) -> Users {
        let mut users = Users::default();
        for (addr, _, instance) in state.instances() {
            let module = addr.module.module();
            let objects = instance.current.iter().chain(instance.deposed.values());
            for on in objects.flat_map(|object| object.dependencies.iter()) {
                let list = match on.module == module {
                    true => users.beside.entry((on.clone(), addr.module.clone())).or_default(),
                    false => users.apart.entry(on.clone()).or_default(),
                };
                list.push(addr.clone());
            }
        }
        users
    }

    /// Those that depend on an instance; each is returned once.
    fn take(&mut self, addr: &AbsResourceInstance) -> impl Iterator<Item = AbsResourceInstance> + use<> {
        let resource = addr.config();
        let apart = self.apart.remove(&resource).unwrap_or_default();
        let beside = self.beside.remove(&(resource, addr.module.clone())).unwrap_or_default();
        apart.into_iter().chain(beside)
    }
}

/// The resource that a node of the configuration is about; that of an import without a block, too.
fn resource_of(builder: &Builder<'_>, imports: &Imports, id: NodeId) -> Option<ConfigResource> {
    match builder.graph.node(id) {
        Node::Resource(block) => Some(builder.tree.config_addr(*block)),
        Node::Generate(id) => Some(imports.generated[id.index()].resource.clone()),
        _ => builder.refused_imports.get(&id).cloned(),
    }
}

/// Which instances orphans have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrphanInstances {
    All,
    /// Those that are to be destroyed, by the targets.
    Targeted,
}

/// The nodes to keep: targeted ones with all they depend on, and root outputs that depend on nothing else. The second
/// set holds the targeted nodes themselves: only their instances are filtered.
pub fn select(
    builder: &Builder<'_>,
    orphans: &[Orphans],
    imports: &Imports,
    targets: &[Target],
    instances: OrphanInstances,
) -> (Vec<bool>, BTreeSet<NodeId>) {
    let graph = &builder.graph;
    let is_target = |id: NodeId, node: &Node| {
        let resource = match node {
            Node::Orphans(id) => Some(orphans[id.index()].resource.clone()),
            _ => resource_of(builder, imports, id),
        };
        resource.is_some_and(|resource| targets.iter().any(|target| target.touches(&resource)))
    };
    let mut direct: BTreeSet<NodeId> = graph.nodes().filter(|(id, n)| is_target(*id, n)).map(|(id, _)| id).collect();
    let is_wanted = |node: &Node| match node {
        Node::Orphans(id) => instances == OrphanInstances::Targeted && !orphans[id.index()].instances.is_empty(),
        _ => false,
    };
    let wanted: BTreeSet<NodeId> = graph.nodes().filter(|(_, n)| is_wanted(n)).map(|(id, _)| id).collect();
    let mut keep = graph.reachable(direct.iter().copied().chain(wanted.iter().copied()));
    // Objects without a block are kept as they are if something else that is kept depends on them.
    let needed = graph.reachable(direct.iter().flat_map(|id| graph.dependencies(*id)).copied());
    direct.retain(|id| {
        let is_needed = needed[id.index()] && matches!(graph.node(*id), Node::Orphans(_));
        !wanted.contains(id) && !is_needed
    });
    let outputs = graph.reachable(settled_outputs(graph, &keep));
    keep.iter_mut().zip(outputs).for_each(|(keep, output)| *keep |= output);
    (keep, direct)
}

/// The nodes that `-exclude` leaves: resources that are not excluded and depend on nothing that is, what these depend on, and root
/// outputs that depend on nothing else. Single instances are left out by the steps. And the resources with anything excluded.
pub fn exclude(
    builder: &Builder<'_>,
    imports: &Imports,
    excludes: &[Target],
) -> (Vec<bool>, FxHashSet<ConfigResource>) {
    let graph = &builder.graph;
    // Of each node: whether it, or what it depends on, has anything excluded.
    let mut touched = vec![false; graph.len()];
    let (mut kept, mut affected) = (Vec::new(), FxHashSet::default());
    for id in graph.topological() {
        let is_dependent = graph.dependencies(id).iter().any(|to| touched[to.index()]);
        // What the configuration does not have depends on nothing in it.
        if matches!(graph.node(id), Node::Orphans(_)) {
            kept.push(id);
            continue;
        }
        let Some(resource) = resource_of(builder, imports, id) else {
            touched[id.index()] = is_dependent;
            continue;
        };
        let is_whole = excludes.iter().any(|target| target.contains_block(&resource));
        touched[id.index()] = is_dependent || excludes.iter().any(|target| target.touches(&resource));
        if touched[id.index()] {
            affected.insert(resource);
        }
        if !is_dependent && !is_whole {
            kept.push(id);
        }
    }
    let mut keep = graph.reachable(kept);
    let outputs = graph.reachable(settled_outputs(graph, &keep));
    keep.iter_mut().zip(outputs).for_each(|(keep, output)| *keep |= output);
    (keep, affected)
}

/// Returns true if an object of the instance depends on one of some resources, as the state has it.
pub fn depends_on_any(state: &State, addr: &AbsResourceInstance, resources: &FxHashSet<ConfigResource>) -> bool {
    let objects = state.instance(addr).into_iter().flat_map(|instance| instance.objects());
    objects.flat_map(|object| object.dependencies.iter()).any(|resource| resources.contains(resource))
}

/// The root outputs that depend on resources, all of which are kept.
pub fn settled_outputs(graph: &Dag<Node>, keep: &[bool]) -> Vec<NodeId> {
    // Of each node: whether there are resources behind it, and whether all of them are kept.
    let mut behind = vec![(false, true); graph.len()];
    let mut found = Vec::new();
    for id in graph.topological() {
        let is_resource = |node: &Node| matches!(node, Node::Resource(_) | Node::Orphans(_) | Node::Generate(_));
        let mut sum = (false, true);
        for to in graph.dependencies(id) {
            let (any, all) = behind[to.index()];
            let own = is_resource(graph.node(*to));
            sum = (sum.0 | any | own, sum.1 & all & (!own || keep[to.index()]));
        }
        behind[id.index()] = sum;
        if sum == (true, true) && matches!(graph.node(id), Node::Output { module: ROOT, .. }) {
            found.push(id);
        }
    }
    found
}
