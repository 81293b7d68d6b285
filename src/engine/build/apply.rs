//! The graph of an apply: that of the configuration, with a task per planned change and their order.
//!
//! Creates and updates follow the references of the configuration; destroys follow the dependencies in the state
//! (for new objects, in the configuration) within one module instance. `create_before_destroy` objects are destroyed after their dependents were updated.

use crate::engine::blocks::BlockId;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::actions;
use super::config::Builder;
use crate::engine::blocks::provider_configs::{not_present, resolve_stored};
use crate::engine::blocks::references::Need;
use crate::engine::blocks::tree::ModuleId;
use crate::engine::graph::{Dag, Invocation, Node, NodeId, Task};
use crate::model::addr::{AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, ResourceMode};
use crate::model::plan::{Action, ActionInvocation, ResourceChange};
use crate::model::state::State;

/// What a built apply graph consists of beside the configuration's part.
pub struct ApplyGraph {
    pub graph: Dag<Node>,
    pub tasks: Vec<Task>,
}

/// What is known of each resource block.
#[derive(Clone, Copy)]
pub struct Blocks<'b> {
    pub create_before_destroy: &'b FxHashMap<BlockId, bool>,
    pub dependencies: &'b FxHashMap<BlockId, Arc<[ConfigResource]>>,
}

/// What a plan says is to be done.
#[derive(Clone, Copy)]
pub struct Planned<'p> {
    pub changes: &'p [Arc<ResourceChange>],
    pub invocations: &'p [Arc<ActionInvocation>],
}

/// `destroy`: everything goes, so that of the configuration only provider configurations matter.
pub fn build(
    builder: &mut Builder<'_>,
    planned: Planned<'_>,
    state: &State,
    blocks: Blocks<'_>,
    destroy: bool,
) -> ApplyGraph {
    let tasks = tasks(builder, planned);
    let mut pass = Pass { graph: Dag::default(), tasks: &tasks, builder, state, blocks };
    let base = pass.copy_blocks();
    let nodes = pass.add_tasks(base);
    pass.connect_blocks(&nodes, destroy);
    pass.connect_tasks(&nodes);
    pass.connect_deposed(&nodes);
    pass.order_destruction(&nodes);
    let graph = pass.graph;
    ApplyGraph { graph, tasks }
}

fn tasks(builder: &mut Builder<'_>, planned: Planned<'_>) -> Vec<Task> {
    let mut tasks = Vec::with_capacity(planned.changes.len());
    let mut invocations: FxHashMap<&AbsResourceInstance, Vec<Invocation>> = FxHashMap::default();
    for invocation in planned.invocations {
        if let (Some(trigger), Some(found)) = (invocation.lifecycle(), actions::invocation(builder, invocation)) {
            invocations.entry(&trigger.resource).or_default().push(found);
        }
    }
    for change in planned.changes {
        let block = builder.tree.find_resource(&change.addr.config());
        if change.action == Action::NoOp && change.importing.is_none() && !has_conditions(builder, block) {
            continue;
        }
        let provider = match block.and_then(|b| builder.provider_of.get(&b).copied()) {
            Some(provider) => Some(provider),
            None => resolve_stored(builder.tree, &change.provider).map(|addr| builder.provider(addr)),
        };
        match provider {
            Some(provider) => {
                let is_current = change.deposed.is_none();
                let invocations = is_current.then(|| invocations.remove(&change.addr)).flatten().unwrap_or_default();
                tasks.push(Task { change: change.clone(), provider, block, invocations });
            }
            None => builder.diagnostics.push(not_present(&change.addr.to_string(), &change.provider)),
        }
    }
    tasks
}

fn has_conditions(builder: &Builder<'_>, block: Option<BlockId>) -> bool {
    block.is_some_and(|(module, index)| {
        let lifecycle = &builder.tree.resource(module, index).lifecycle;
        !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty()
    })
}

/// The nodes of one task.
#[derive(Clone, Copy, Default)]
struct TaskNodes {
    create: Option<NodeId>,
    destroy: Option<NodeId>,
}

struct Pass<'p, 'b> {
    graph: Dag<Node>,
    tasks: &'p [Task],
    builder: &'p Builder<'b>,
    state: &'p State,
    blocks: Blocks<'p>,
}

impl Pass<'_, '_> {
    /// The nodes of the configuration under their old numbers.
    fn copy_blocks(&mut self) -> NodeId {
        for (_, node) in self.builder.graph.nodes() {
            self.graph.add(*node);
        }
        self.graph.len() as NodeId
    }

    fn add_tasks(&mut self, _base: NodeId) -> Vec<TaskNodes> {
        let mut nodes = Vec::with_capacity(self.tasks.len());
        for (index, task) in self.tasks.iter().enumerate() {
            let index = index as u32;
            let (create, destroy) = match task.change.action {
                Action::NoOp | Action::Create | Action::Read | Action::Update => (true, false),
                Action::Delete | Action::Forget => (false, true),
                Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => (true, true),
            };
            nodes.push(TaskNodes {
                create: create.then(|| self.graph.add(Node::Instance(index))),
                destroy: destroy.then(|| self.graph.add(Node::Destroy(index))),
            });
        }
        nodes
    }

    /// Blocks wait for what they refer to: for a resource, until its instances are done.
    fn connect_blocks(&mut self, nodes: &[TaskNodes], destroy: bool) {
        let mut barriers = Barriers::new(self.tasks, nodes);
        for node in 0..self.builder.graph.len() as NodeId {
            let ephemeral = self.is_ephemeral(node);
            let is_resource = matches!(self.graph.node(node), Node::Resource { .. }) && !ephemeral;
            let needs = &self.builder.needs[node as usize].on;
            let from_needs: Vec<NodeId> = needs.iter().map(|n| self.builder.node_of(n)).collect();
            for to in self.builder.graph.dependencies(node) {
                match *self.graph.node(*to) {
                    Node::Provider(_) if !ephemeral => {}
                    // In a destroy, resources are what the state says: nothing to wait for but their module.
                    _ if destroy && is_resource && from_needs.contains(to) => {}
                    Node::Resource { .. } if from_needs.contains(to) => {}
                    Node::Resource { module, index } => {
                        let barrier = barriers.of(&mut self.graph, *to, (module, index), None);
                        self.graph.connect(node, barrier);
                    }
                    _ => self.graph.connect(node, *to),
                }
            }
            if destroy && is_resource {
                continue;
            }
            for need in needs {
                if let Need::Resource(module, index, key) = need {
                    let expansion = self.builder.resource(*module, *index);
                    if expansion != node {
                        let barrier = barriers.of(&mut self.graph, expansion, (*module, *index), key.clone());
                        self.graph.connect(node, barrier);
                    }
                }
            }
        }
    }

    fn is_ephemeral(&self, node: NodeId) -> bool {
        matches!(self.graph.node(node), Node::Resource { module, index }
            if self.builder.tree.resource(*module, *index).addr.mode == ResourceMode::Ephemeral)
    }

    fn connect_tasks(&mut self, nodes: &[TaskNodes]) {
        for (task, of) in self.tasks.iter().zip(nodes) {
            let provider = self.builder.provider_nodes[task.provider as usize];
            if let Some(create) = of.create {
                self.graph.connect(create, provider);
                if let Some((module, index)) = task.block {
                    self.graph.connect(create, self.builder.resource(module, index));
                }
            }
            if let Some(destroy) = of.destroy {
                self.graph.connect(destroy, provider);
            }
            for invocation in &task.invocations {
                let provider = self.builder.provider_nodes[invocation.provider as usize];
                let is_destroy = invocation.planned.lifecycle().is_some_and(|trigger| trigger.event.is_destroy());
                if let Some(node) = if is_destroy { of.destroy } else { of.create } {
                    self.graph.connect(node, provider);
                }
            }
            match (task.change.action, of.create, of.destroy) {
                (Action::DeleteThenCreate, Some(create), Some(destroy)) => self.graph.connect(create, destroy),
                (Action::CreateThenDelete | Action::CreateThenForget, Some(create), Some(destroy)) => {
                    self.graph.connect(destroy, create)
                }
                _ => {}
            }
        }
    }

    /// A deposed object is destroyed after the current one of its instance was created or updated.
    fn connect_deposed(&mut self, nodes: &[TaskNodes]) {
        let both = || self.tasks.iter().zip(nodes);
        let deposed: Vec<(&AbsResourceInstance, NodeId)> = both()
            .filter(|(task, _)| task.change.deposed.is_some() && task.change.action == Action::Delete)
            .filter_map(|(task, of)| Some((&task.change.addr, of.destroy?)))
            .collect();
        if deposed.is_empty() {
            return;
        }
        let creators: FxHashMap<&AbsResourceInstance, NodeId> =
            both().filter_map(|(task, of)| Some((&task.change.addr, of.create?))).collect();
        for (addr, destroy) in deposed {
            if let Some(create) = creators.get(addr) {
                self.graph.connect(destroy, *create);
            }
        }
    }

    fn order_destruction(&mut self, nodes: &[TaskNodes]) {
        if nodes.iter().all(|of| of.destroy.is_none()) {
            return;
        }
        let mut groups = Groups::default();
        for (task, of) in self.tasks.iter().zip(nodes) {
            let dependencies = self.dependencies(task);
            if let Some(create) = of.create.filter(|_| task.change.action != Action::NoOp) {
                groups.add(task, create, Role::Creator, dependencies.clone());
            }
            if let Some(destroy) = of.destroy.filter(|_| !task.change.action.forgets()) {
                let role = if self.destroys_last(task) { Role::DestroyLast } else { Role::DestroyFirst };
                groups.add(task, destroy, role, dependencies);
            }
        }
        groups.connect(&mut self.graph);
    }

    /// What the object depends on as the state says; the configuration, where there is none yet.
    fn dependencies(&self, task: &Task) -> Arc<[ConfigResource]> {
        let instance = self.state.instance(&task.change.addr);
        let object = instance.and_then(|i| match &task.change.deposed {
            Some(key) => i.deposed.get(key),
            None => i.current.as_ref(),
        });
        let configured = || task.block.and_then(|block| self.blocks.dependencies.get(&block).cloned());
        object.map(|o| o.dependencies.clone()).or_else(configured).unwrap_or_default()
    }

    /// True if the object is destroyed after its dependents were updated.
    fn destroys_last(&self, task: &Task) -> bool {
        if task.change.deposed.is_some() {
            return true;
        }
        match task.change.action {
            Action::CreateThenDelete => true,
            Action::DeleteThenCreate => false,
            // The setting in the state counts: the block may have changed.
            _ => match self.state.instance(&task.change.addr).and_then(|i| i.current.as_ref()) {
                Some(object) => object.create_before_destroy,
                None => task.block.and_then(|b| self.blocks.create_before_destroy.get(&b)).copied().unwrap_or(false),
            },
        }
    }
}

/// Nodes that stand for "the instances of this resource are done", made when first asked for.
struct Barriers {
    instances: FxHashMap<BlockId, Vec<(InstanceKey, NodeId)>>,
    made: FxHashMap<(ModuleId, u32, Option<InstanceKey>), NodeId>,
}

impl Barriers {
    fn new(tasks: &[Task], nodes: &[TaskNodes]) -> Barriers {
        let mut instances: FxHashMap<BlockId, Vec<(InstanceKey, NodeId)>> = FxHashMap::default();
        for (task, of) in tasks.iter().zip(nodes) {
            if let (Some(block), Some(create)) = (task.block, of.create) {
                instances.entry(block).or_default().push((task.change.addr.key().clone(), create));
            }
        }
        Barriers { instances, made: FxHashMap::default() }
    }

    fn of(&mut self, graph: &mut Dag<Node>, expansion: NodeId, block: BlockId, key: Option<InstanceKey>) -> NodeId {
        let Some(instances) = self.instances.get(&block) else { return expansion };
        let slot = (block.0, block.1, key.clone());
        if let Some(made) = self.made.get(&slot) {
            return *made;
        }
        let gate = graph.add(Node::Gate);
        graph.connect(gate, expansion);
        for (of, node) in instances {
            if key.as_ref().is_none_or(|key| key == of) {
                graph.connect(gate, *node);
            }
        }
        self.made.insert(slot, gate);
        gate
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Role {
    Creator,
    DestroyFirst,
    DestroyLast,
}

/// Tasks of one resource in one module instance that play the same role and stored the same dependencies.
struct Group {
    resource: ConfigResource,
    module: ModuleInstance,
    role: Role,
    dependencies: Arc<[ConfigResource]>,
    members: Vec<NodeId>,
    /// What stands for the start and the end of all members.
    start: Option<NodeId>,
    end: Option<NodeId>,
}

#[derive(Default)]
struct Groups {
    list: Vec<Group>,
    index: FxHashMap<(ConfigResource, ModuleInstance, Role), Vec<usize>>,
    by_resource: FxHashMap<ConfigResource, Vec<usize>>,
}

impl Groups {
    fn add(&mut self, task: &Task, node: NodeId, role: Role, dependencies: Arc<[ConfigResource]>) {
        let addr: &AbsResourceInstance = &task.change.addr;
        if addr.mode() != ResourceMode::Managed && role != Role::Creator {
            return;
        }
        let (resource, module) = (addr.config(), addr.module.clone());
        let same = self.index.entry((resource.clone(), module.clone(), role)).or_default();
        let found = same.iter().copied().find(|g| {
            let of = &self.list[*g].dependencies;
            Arc::ptr_eq(of, &dependencies) || **of == *dependencies
        });
        match found {
            Some(group) => self.list[group].members.push(node),
            None => {
                let group = self.list.len();
                same.push(group);
                self.by_resource.entry(resource.clone()).or_default().push(group);
                let members = vec![node];
                self.list.push(Group { resource, module, role, dependencies, members, start: None, end: None });
            }
        }
    }

    fn connect(&mut self, graph: &mut Dag<Node>) {
        let by_resource = std::mem::take(&mut self.by_resource);
        for user in 0..self.list.len() {
            let dependencies = self.list[user].dependencies.clone();
            for resource in dependencies.iter() {
                for used in by_resource.get(resource).into_iter().flatten().copied() {
                    if user == used || self.are_siblings(user, used) {
                        continue;
                    }
                    match (self.list[user].role, self.list[used].role) {
                        // What used something goes before it.
                        (Role::DestroyFirst | Role::DestroyLast, Role::DestroyFirst | Role::DestroyLast)
                        | (Role::DestroyFirst, Role::Creator)
                        // The old object stays until its users know the new one.
                        | (Role::Creator, Role::DestroyLast) => self.before(graph, user, used),
                        (Role::DestroyLast, Role::Creator) | (Role::Creator, Role::DestroyFirst) => {
                            self.before(graph, used, user);
                        }
                        (Role::Creator, Role::Creator) => {}
                    }
                }
            }
        }
    }

    /// True for tasks in different instances of the same module: they never wait for each other.
    fn are_siblings(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.list[a], &self.list[b]);
        a.resource.module == b.resource.module && a.module != b.module
    }

    fn before(&mut self, graph: &mut Dag<Node>, first: usize, then: usize) {
        let (end, start) = (self.end(graph, first), self.start(graph, then));
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
