//! The graph of an apply: that of the configuration, with a task per planned change and their order.
//!
//! Creates and updates follow the references of the configuration; destroys follow the dependencies in the state
//! (for new objects, in the configuration) within one module instance. `create_before_destroy` objects are destroyed after their dependents were updated.

use std::sync::Arc;

use model::addr::{AbsResourceInstance, ConfigResource, InstanceKey};
use model::plan::{Action, ActionInvocation, ResourceChange};
use model::state::State;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_protocol::schema::ResourceMode;

use super::actions;
use super::builder::Builder;
use super::destroy_order::{Extent, Groups, Role};
use crate::blocks::provider_configs::{not_present, resolve_stored};
use crate::blocks::references::Need;
use crate::graph::{Dag, Invocation, Node, Task};
use crate::ids::{NodeId, ProviderId, ResourceId, TaskId};

/// What a built apply graph consists of beside the configuration's part.
pub struct ApplyGraph {
    pub graph: Dag<Node>,
    pub tasks: Vec<Task>,
}

/// What decides the order of destruction, by resource block.
#[derive(Clone, Copy)]
pub struct OrderFacts<'b> {
    pub create_before_destroy: &'b FxHashMap<ResourceId, bool>,
    pub dependencies: &'b FxHashMap<ResourceId, Arc<[ConfigResource]>>,
}

/// What a plan says is to be done.
#[derive(Clone, Copy)]
pub struct PlannedWork<'p> {
    pub changes: &'p [Arc<ResourceChange>],
    pub invocations: &'p [Arc<ActionInvocation>],
}

pub fn build(
    builder: &mut Builder<'_>,
    planned: PlannedWork<'_>,
    state: &State,
    blocks: OrderFacts<'_>,
    extent: Extent,
) -> ApplyGraph {
    let tasks = tasks(builder, planned);
    let mut pass = Pass { graph: Dag::default(), tasks: &tasks, builder, state, blocks, extent };
    pass.copy_blocks();
    let nodes = pass.add_tasks();
    pass.connect_blocks(&nodes);
    pass.connect_tasks(&nodes);
    pass.connect_deposed(&nodes);
    pass.order_destruction(&nodes);
    let graph = pass.graph;
    ApplyGraph { graph, tasks }
}

fn tasks(builder: &mut Builder<'_>, planned: PlannedWork<'_>) -> Vec<Task> {
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
        let provider = needs_provider(change).then(|| provider_of(builder, block, change));
        if provider == Some(None) {
            builder.diagnostics.push(not_present(&change.addr.to_string(), &change.provider));
            continue;
        }
        let is_current = change.deposed.is_none();
        let invocations = is_current.then(|| invocations.remove(&change.addr)).flatten().unwrap_or_default();
        tasks.push(Task { change: change.clone(), provider: provider.flatten(), block, invocations });
    }
    tasks
}

/// Data sources that go are dropped from the state without a request.
fn needs_provider(change: &ResourceChange) -> bool {
    change.action != Action::Delete || change.addr.mode() != ResourceMode::Data
}

/// The provider configuration of the block; without a block, the one that the change names.
fn provider_of(builder: &mut Builder<'_>, block: Option<ResourceId>, change: &ResourceChange) -> Option<ProviderId> {
    match block.and_then(|b| builder.provider_of.get(&b).copied()) {
        Some(provider) => Some(provider),
        None => resolve_stored(builder.tree, &change.provider).map(|addr| builder.provider(addr)),
    }
}

fn has_conditions(builder: &Builder<'_>, block: Option<ResourceId>) -> bool {
    block.is_some_and(|block| {
        let lifecycle = &builder.tree.resource(block).lifecycle;
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
    blocks: OrderFacts<'p>,
    extent: Extent,
}

impl Pass<'_, '_> {
    /// The nodes of the configuration under their old numbers.
    fn copy_blocks(&mut self) {
        for (_, node) in self.builder.graph.nodes() {
            self.graph.add(*node);
        }
    }

    fn add_tasks(&mut self) -> Vec<TaskNodes> {
        let mut nodes = Vec::with_capacity(self.tasks.len());
        for (index, task) in self.tasks.iter().enumerate() {
            let id = TaskId::new(index);
            let (create, destroy) = match task.change.action {
                Action::NoOp | Action::Create | Action::Read | Action::Update => (true, false),
                Action::Delete | Action::Forget => (false, true),
                Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => (true, true),
            };
            nodes.push(TaskNodes {
                create: create.then(|| self.graph.add(Node::Instance(id))),
                destroy: destroy.then(|| self.graph.add(Node::Destroy(id))),
            });
        }
        nodes
    }

    /// Blocks wait for what they refer to: for a resource, until its instances are done.
    fn connect_blocks(&mut self, nodes: &[TaskNodes]) {
        let destroy = self.extent == Extent::Everything;
        let mut barriers = Barriers::new(self.tasks, nodes);
        for node in self.builder.graph.ids() {
            let ephemeral = self.is_ephemeral(node);
            let is_resource = matches!(self.graph.node(node), Node::Resource(_)) && !ephemeral;
            let needs = &self.builder.needs[node.index()].on;
            let from_needs: FxHashSet<NodeId> = needs.iter().map(|n| self.builder.node_of(n)).collect();
            for to in self.builder.graph.dependencies(node) {
                match *self.graph.node(*to) {
                    // In a destroy, resources are what the state says: nothing to wait for but their module.
                    Node::Provider(_) if destroy && !ephemeral => {}
                    _ if destroy && is_resource && from_needs.contains(to) => {}
                    // Other blocks wait for their provider configuration, also where nothing uses it: what it refers to comes before them.
                    Node::Resource(_) if from_needs.contains(to) => {}
                    Node::Resource(block) => {
                        let barrier = barriers.of(&mut self.graph, *to, block, None);
                        self.graph.connect(node, barrier);
                    }
                    _ => self.graph.connect(node, *to),
                }
            }
            if destroy && is_resource {
                continue;
            }
            for need in needs {
                if let Need::Resource(block, key) = need {
                    let expansion = self.builder.resource(*block);
                    if expansion != node {
                        let barrier = barriers.of(&mut self.graph, expansion, *block, key.clone());
                        self.graph.connect(node, barrier);
                    }
                }
            }
        }
    }

    fn is_ephemeral(&self, node: NodeId) -> bool {
        matches!(self.graph.node(node), Node::Resource(block)
            if self.builder.tree.resource(*block).addr.mode == ResourceMode::Ephemeral)
    }

    fn connect_tasks(&mut self, nodes: &[TaskNodes]) {
        for (task, of) in self.tasks.iter().zip(nodes) {
            if let Some(provider) = task.provider.map(|provider| self.builder.provider_nodes[provider.index()]) {
                of.create.iter().chain(&of.destroy).for_each(|node| self.graph.connect(*node, provider));
            }
            if let (Some(create), Some(block)) = (of.create, task.block) {
                self.graph.connect(create, self.builder.resource(block));
            }
            for invocation in &task.invocations {
                let provider = self.builder.provider_nodes[invocation.provider.index()];
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
                let role = match () {
                    () if task.change.addr.mode() == ResourceMode::Data => Role::Drop,
                    () if self.destroys_last(task) => Role::DestroyLast,
                    () => Role::DestroyFirst,
                };
                groups.add(task, destroy, role, dependencies);
            }
        }
        groups.connect(&mut self.graph, self.extent);
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
    instances: FxHashMap<ResourceId, Vec<(InstanceKey, NodeId)>>,
    /// The same by key, of the blocks of which single instances were asked for.
    by_key: FxHashMap<ResourceId, FxHashMap<InstanceKey, Vec<NodeId>>>,
    made: FxHashMap<(ResourceId, Option<InstanceKey>), NodeId>,
}

impl Barriers {
    fn new(tasks: &[Task], nodes: &[TaskNodes]) -> Barriers {
        let mut instances: FxHashMap<ResourceId, Vec<(InstanceKey, NodeId)>> = FxHashMap::default();
        for (task, of) in tasks.iter().zip(nodes) {
            if let (Some(block), Some(create)) = (task.block, of.create) {
                instances.entry(block).or_default().push((task.change.addr.key().clone(), create));
            }
        }
        Barriers { instances, by_key: FxHashMap::default(), made: FxHashMap::default() }
    }

    fn of(&mut self, graph: &mut Dag<Node>, expansion: NodeId, block: ResourceId, key: Option<InstanceKey>) -> NodeId {
        let Some(instances) = self.instances.get(&block) else { return expansion };
        let slot = (block, key.clone());
        if let Some(made) = self.made.get(&slot) {
            return *made;
        }
        let gate = graph.add(Node::Gate);
        graph.connect(gate, expansion);
        match &key {
            None => instances.iter().for_each(|(_, node)| graph.connect(gate, *node)),
            Some(key) => {
                let by_key = self.by_key.entry(block).or_insert_with(|| {
                    let mut by_key: FxHashMap<InstanceKey, Vec<NodeId>> = FxHashMap::default();
                    instances.iter().for_each(|(key, node)| by_key.entry(key.clone()).or_default().push(*node));
                    by_key
                });
                by_key.get(key).into_iter().flatten().for_each(|node| graph.connect(gate, *node));
            }
        }
        self.made.insert(slot, gate);
        gate
    }
}
