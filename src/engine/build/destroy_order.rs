//! The order of destruction in an apply: as the stored dependencies say, and never in a circle through a provider configuration.
//!
//! Objects are destroyed before what they depend on is changed. If the provider of such an object is configured from the
//! changed one, that order is a circle: the configuration waits for the change, and the destruction for the configuration.
//! Then the destruction comes later. Only orders between objects of different provider configurations are given up.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::addr::{AbsResourceInstance, ConfigResource, ModuleInstance};
use rustc_hash::FxHashMap;

use crate::graph::{Dag, Node, Task};
use crate::ids::{NodeId, ProviderId};

/// What a plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Its changes.
    Changes,
    /// Everything goes, so that of the configuration only provider configurations matter.
    Everything,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Creator,
    DestroyFirst,
    DestroyLast,
    /// A data source that leaves the state: it stays while an object that depends on it could not be destroyed.
    Drop,
}

/// Tasks of one resource in one module instance that play the same role, have the same provider configuration and stored the
/// same dependencies.
struct Group {
    resource: ConfigResource,
    module: ModuleInstance,
    role: Role,
    provider: Option<ProviderId>,
    dependencies: Arc<[ConfigResource]>,
    members: Vec<NodeId>,
    /// What stands for the start and the end of all members.
    start: Option<NodeId>,
    end: Option<NodeId>,
}

#[derive(Default)]
pub struct Groups {
    list: Vec<Group>,
    index: FxHashMap<(ConfigResource, ModuleInstance, Role), Vec<usize>>,
    /// Of each resource, in all instances of its module.
    by_resource: FxHashMap<ConfigResource, BTreeMap<GroupKind, Vec<usize>>>,
    by_instance: FxHashMap<(ConfigResource, ModuleInstance), Vec<usize>>,
    gates: FxHashMap<(ConfigResource, GroupKind, Side), NodeId>,
}

/// What decides the order of a group and those that depend on it.
type GroupKind = (Role, Option<ProviderId>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Start,
    End,
}

/// All members of a group come before all members of another.
struct Order {
    first: usize,
    then: usize,
}

/// Orders that may be given up, of a group and others of one kind that it depends on.
struct Optional<'u> {
    user: usize,
    used: &'u [usize],
    /// What waits if none of them is given up, and for what.
    waiting: NodeId,
    awaited: NodeId,
}

/// Groups of one kind that others depend on.
type Used<'u> = (&'u ConfigResource, GroupKind, &'u [usize]);

impl Groups {
    pub fn add(&mut self, task: &Task, node: NodeId, role: Role, dependencies: Arc<[ConfigResource]>) {
        self.insert(&task.change.addr, task.provider, node, role, dependencies);
    }

    fn insert(
        &mut self,
        addr: &AbsResourceInstance,
        provider: Option<ProviderId>,
        node: NodeId,
        role: Role,
        dependencies: Arc<[ConfigResource]>,
    ) {
        let (resource, module) = (addr.config(), addr.module.clone());
        let same = self.index.entry((resource.clone(), module.clone(), role)).or_default();
        let found = same.iter().copied().find(|g| {
            let group = &self.list[*g];
            let of = &group.dependencies;
            group.provider == provider && (Arc::ptr_eq(of, &dependencies) || **of == *dependencies)
        });
        match found {
            Some(group) => self.list[group].members.push(node),
            None => {
                let group = self.list.len();
                same.push(group);
                self.by_resource.entry(resource.clone()).or_default().entry((role, provider)).or_default().push(group);
                self.by_instance.entry((resource.clone(), module.clone())).or_default().push(group);
                let members = vec![node];
                self.list.push(Group {
                    resource,
                    module,
                    role,
                    provider,
                    dependencies,
                    members,
                    start: None,
                    end: None,
                });
            }
        }
    }

    /// Adds the edges. Where everything goes, provider configurations wait for nothing that changes.
    pub fn connect(&mut self, graph: &mut Dag<Node>, extent: Extent) {
        let is_destroy = extent == Extent::Everything;
        let (by_resource, by_instance) = (std::mem::take(&mut self.by_resource), std::mem::take(&mut self.by_instance));
        let mut optional = Vec::new();
        for user in 0..self.list.len() {
            let (module, dependencies) = (self.list[user].module.clone(), self.list[user].dependencies.clone());
            for resource in dependencies.iter() {
                // Different instances of one module never wait for each other.
                if resource.module == self.list[user].resource.module {
                    let beside = by_instance.get(&(resource.clone(), module.clone()));
                    let beside = beside.into_iter().flatten().filter(|used| **used != user);
                    for used in beside {
                        let Some(order) = self.order(user, *used) else { continue };
                        if is_destroy || !self.may_be_given_up(user, *used) {
                            self.before(graph, &order);
                            continue;
                        }
                        let (waiting, awaited) = (self.start(graph, order.then), self.end(graph, order.first));
                        optional.push(Optional { user, used: std::slice::from_ref(used), waiting, awaited });
                    }
                    continue;
                }
                for (kind, used) in by_resource.get(resource).into_iter().flatten() {
                    let Some(order) = self.order(user, used[0]) else { continue };
                    let (waiting, awaited) = self.ends(graph, user, &order, (resource, *kind, used));
                    match !is_destroy && self.may_be_given_up(user, used[0]) {
                        true => optional.push(Optional { user, used, waiting, awaited }),
                        false => graph.connect(waiting, awaited),
                    }
                }
            }
        }
        self.connect_where_possible(graph, optional);
    }

    /// The nodes that order a group and all groups of one kind that it depends on: what waits, and for what. Of more than one
    /// group, a gate, which all that depend on them share. `order`: that of the group and one of them.
    fn ends(&mut self, graph: &mut Dag<Node>, user: usize, order: &Order, used: Used<'_>) -> (NodeId, NodeId) {
        if used.2.len() == 1 {
            return (self.start(graph, order.then), self.end(graph, order.first));
        }
        match order.first == user {
            true => (self.gate(graph, Side::Start, used), self.end(graph, user)),
            false => (self.start(graph, user), self.gate(graph, Side::End, used)),
        }
    }

    /// What stands for the start or the end of all groups of one kind.
    fn gate(&mut self, graph: &mut Dag<Node>, side: Side, (resource, kind, used): Used<'_>) -> NodeId {
        let key = (resource.clone(), kind, side);
        if let Some(gate) = self.gates.get(&key) {
            return *gate;
        }
        let gate = graph.add(Node::Gate);
        for used in used {
            match side {
                Side::Start => {
                    let start = self.start(graph, *used);
                    graph.connect(start, gate);
                }
                Side::End => {
                    let end = self.end(graph, *used);
                    graph.connect(gate, end);
                }
            }
        }
        self.gates.insert(key, gate);
        gate
    }

    /// Which of two groups comes first, the first of which depends on the second.
    fn order(&self, user: usize, used: usize) -> Option<Order> {
        match (self.list[user].role, self.list[used].role) {
            // What used something goes before it.
            (Role::DestroyFirst | Role::DestroyLast, Role::DestroyFirst | Role::DestroyLast)
            | (Role::DestroyFirst, Role::Creator)
            // The old object stays until its users know the new one.
            | (Role::Creator, Role::DestroyLast) => Some(Order { first: user, then: used }),
            (Role::DestroyLast, Role::Creator) | (Role::Creator, Role::DestroyFirst) => {
                Some(Order { first: used, then: user })
            }
            (Role::DestroyFirst | Role::DestroyLast, Role::Drop) => Some(Order { first: user, then: used }),
            (Role::Creator, Role::Creator | Role::Drop) | (Role::Drop, _) => None,
        }
    }

    /// Observed: the reference gives up the order of a destruction where the two objects have different provider configurations,
    /// and never that of a change. Nothing waits for a drop, so it closes no circle.
    fn may_be_given_up(&self, user: usize, used: usize) -> bool {
        let (user, used) = (&self.list[user], &self.list[used]);
        user.role != Role::Creator && used.role != Role::Drop && user.provider != used.provider
    }

    /// Adds those orders that close no circle. Only those that could are looked at one by one.
    fn connect_where_possible(&mut self, graph: &mut Dag<Node>, optional: Vec<Optional<'_>>) {
        if optional.is_empty() {
            return;
        }
        let mut all = graph.clone();
        optional.iter().for_each(|optional| all.connect(optional.waiting, optional.awaited));
        let components = all.components();
        let mut doubtful = Vec::new();
        for optional in optional {
            match components[optional.waiting.index()] == components[optional.awaited.index()] {
                true => doubtful.push(optional),
                false => graph.connect(optional.waiting, optional.awaited),
            }
        }
        // The order of two destructions matters more than that of a destruction and a change.
        doubtful.sort_by_key(|optional| self.list[optional.used[0]].role == Role::Creator);
        for Optional { user, used, .. } in doubtful {
            for order in used.iter().filter_map(|used| self.order(user, *used)).collect::<Vec<_>>() {
                let end = self.end(graph, order.first);
                let circle = |node: NodeId| components[node.index()] == components[end.index()];
                for member in &self.list[order.then].members {
                    if !graph.reaches(end, *member, circle) {
                        graph.connect(*member, end);
                    }
                }
            }
        }
    }

    fn before(&mut self, graph: &mut Dag<Node>, order: &Order) {
        let (end, start) = (self.end(graph, order.first), self.start(graph, order.then));
        graph.connect(start, end);
    }

    fn start(&mut self, graph: &mut Dag<Node>, group: usize) -> NodeId {
        let group = &mut self.list[group];
        if let [only] = group.members.as_slice() {
            return *only;
        }
        *group.start.get_or_insert_with(|| {
            let gate = graph.add(Node::Gate);
            group.members.iter().for_each(|member| graph.connect(*member, gate));
            gate
        })
    }

    fn end(&mut self, graph: &mut Dag<Node>, group: usize) -> NodeId {
        let group = &mut self.list[group];
        if let [only] = group.members.as_slice() {
            return *only;
        }
        *group.end.get_or_insert_with(|| {
            let gate = graph.add(Node::Gate);
            group.members.iter().for_each(|member| graph.connect(gate, *member));
            gate
        })
    }
}

#[cfg(test)]
mod tests {
    use model::addr::{InstanceKey, Resource};

    use super::*;
    use crate::ids::TaskId;

    /// Orders the destruction of the objects of two modules with `n` instances each, whose providers differ; returns the number of edges.
    /// `is_circular`: the first user waits for the first object that it uses.
    fn edges_of_modules(n: u32, is_circular: bool) -> usize {
        let (mut graph, mut groups) = (Dag::default(), Groups::default());
        let object = |module: &str, i: u32| {
            let module = ModuleInstance::root().child(module, InstanceKey::Int(i.into()));
            Resource::managed("t", "r").absolute(module).instance(InstanceKey::None)
        };
        let used: Arc<[ConfigResource]> = [object("a", 0).config()].into();
        for i in 0..n {
            let mut add = |module, task, provider, dependencies| {
                let node = graph.add(Node::Destroy(TaskId::new(task as usize)));
                let provider = Some(ProviderId::new(provider));
                groups.insert(&object(module, i), provider, node, Role::DestroyFirst, dependencies);
            };
            add("a", i, 0, [].into());
            add("b", n + i, 1, used.clone());
        }
        if is_circular {
            graph.connect(NodeId::new(1), NodeId::new(0));
        }
        groups.connect(&mut graph, Extent::Changes);
        assert!(graph.cycles().is_empty());
        let before = graph.reachable([NodeId::new(2 * (n as usize - 1))]);
        assert!((0..n).all(|i| before[2 * i as usize + 1]), "the last one waits for all its users");
        assert_eq!(graph.reachable([NodeId::new(0)])[1], !is_circular);
        graph.nodes().map(|(id, _)| graph.dependencies(id).len()).sum()
    }

    #[test]
    fn orders_that_may_be_given_up_share_gates() {
        assert!(edges_of_modules(100, false) <= 300, "{}", edges_of_modules(100, false));
        assert!(edges_of_modules(100, true) <= 500, "{}", edges_of_modules(100, true));
    }
}
