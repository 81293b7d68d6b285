//! The order of destruction in an apply: as the stored dependencies say, and never in a circle through a provider configuration.
//!
//! Objects are destroyed before what they depend on is changed. If the provider of such an object is configured from the
//! changed one, that order is a circle: the configuration waits for the change, and the destruction for the configuration.
//! Then the destruction comes later. Only orders between objects of different provider configurations are given up.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::engine::graph::{Dag, Node, NodeId, Task};
use crate::model::addr::{AbsResourceInstance, ConfigResource, ModuleInstance, ResourceMode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Creator,
    DestroyFirst,
    DestroyLast,
}

/// Tasks of one resource in one module instance that play the same role, have the same provider configuration and stored the
/// same dependencies.
struct Group {
    resource: ConfigResource,
    module: ModuleInstance,
    role: Role,
    provider: Option<u32>,
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
    by_resource: FxHashMap<ConfigResource, BTreeMap<Kind, Vec<usize>>>,
    by_instance: FxHashMap<(ConfigResource, ModuleInstance), Vec<usize>>,
    gates: FxHashMap<(ConfigResource, Kind, Side), NodeId>,
}

/// What decides the order of a group and those that depend on it.
type Kind = (Role, Option<u32>);

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

impl Groups {
    pub fn add(&mut self, task: &Task, node: NodeId, role: Role, dependencies: Arc<[ConfigResource]>) {
        let addr: &AbsResourceInstance = &task.change.addr;
        if addr.mode() != ResourceMode::Managed && role != Role::Creator {
            return;
        }
        let (resource, module, provider) = (addr.config(), addr.module.clone(), task.provider);
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

    /// Adds the edges. `is_destroy`: everything goes; then provider configurations wait for nothing that changes.
    pub fn connect(&mut self, graph: &mut Dag<Node>, is_destroy: bool) {
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
                        match !is_destroy && self.may_be_given_up(user, *used) {
                            true => optional.push(order),
                            false => self.before(graph, &order),
                        }
                    }
                    continue;
                }
                for (kind, used) in by_resource.get(resource).into_iter().flatten() {
                    let Some(order) = self.order(user, used[0]) else { continue };
                    match !is_destroy && self.may_be_given_up(user, used[0]) {
                        true => optional.extend(used.iter().filter_map(|used| self.order(user, *used))),
                        false if used.len() == 1 => self.before(graph, &order),
                        false => self.connect_all(graph, user, &order, (resource, *kind, used)),
                    }
                }
            }
        }
        self.connect_where_possible(graph, optional);
    }

    /// Orders a group and all groups of one kind that it depends on, through a gate: many may depend on them. `order`: that of
    /// the group and one of them.
    fn connect_all(
        &mut self,
        graph: &mut Dag<Node>,
        user: usize,
        order: &Order,
        (resource, kind, used): (&ConfigResource, Kind, &[usize]),
    ) {
        let side = if order.first == user { Side::Start } else { Side::End };
        let key = (resource.clone(), kind, side);
        let gate = match self.gates.get(&key) {
            Some(gate) => *gate,
            None => {
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
        };
        match side {
            Side::Start => {
                let end = self.end(graph, user);
                graph.connect(gate, end);
            }
            Side::End => {
                let start = self.start(graph, user);
                graph.connect(start, gate);
            }
        }
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
            (Role::Creator, Role::Creator) => None,
        }
    }

    /// Observed: the reference gives up the order of a destruction where the two objects have different provider configurations,
    /// and never that of a change.
    fn may_be_given_up(&self, user: usize, used: usize) -> bool {
        let (user, used) = (&self.list[user], &self.list[used]);
        user.role != Role::Creator && user.provider != used.provider
    }

    /// Adds those orders that close no circle. Only those that could are looked at one by one.
    fn connect_where_possible(&mut self, graph: &mut Dag<Node>, orders: Vec<Order>) {
        if orders.is_empty() {
            return;
        }
        let gates: Vec<(NodeId, NodeId)> =
            orders.iter().map(|order| (self.start(graph, order.then), self.end(graph, order.first))).collect();
        let mut all = graph.clone();
        gates.iter().for_each(|(start, end)| all.connect(*start, *end));
        let components = all.components();
        let mut doubtful = Vec::new();
        for (order, (start, end)) in orders.iter().zip(gates) {
            match components[start as usize] == components[end as usize] {
                true => doubtful.push((order, end)),
                false => graph.connect(start, end),
            }
        }
        // The order of two destructions matters more than that of a destruction and a change.
        doubtful.sort_by_key(|(order, _)| self.list[order.then].role == Role::Creator);
        for (order, end) in doubtful {
            for member in &self.list[order.then].members {
                let circle = |node: NodeId| components[node as usize] == components[end as usize];
                if !graph.reaches(end, *member, circle) {
                    graph.connect(*member, end);
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
