//! The nodes of a walk and their order.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::addr::AbsResourceInstance;
use model::plan::Action;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Semaphore;

use super::{Dag, Node, Orphans, Request, Task};
use crate::blocks::references::Needs;
use crate::ids::{ActionId, NodeId, ResourceId};

pub struct Schedule {
    pub graph: Dag<Node>,
    /// Per node.
    pub needs: Vec<Arc<Needs>>,
    /// Some block has invalid references in the content of a `dynamic` block.
    pub has_unchecked: bool,
    pub orphans: Vec<Orphans>,
    pub tasks: Vec<Task>,
    pub requests: Vec<Request>,
    /// In apply: instances whose value a task will find out.
    pub awaited: FxHashSet<AbsResourceInstance>,
    /// In apply: instances whose current object a task destroys.
    pub destroyed: FxHashSet<AbsResourceInstance>,
    /// The node of each resource block.
    pub resource_nodes: FxHashMap<ResourceId, NodeId>,
    /// The node of each action block.
    pub action_nodes: FxHashMap<ActionId, NodeId>,
    /// Nodes that do something; the others are done at once.
    pub active: Vec<bool>,
    /// Nodes whose instances are filtered by the targets; their dependencies are not.
    pub filtered: BTreeSet<NodeId>,
    /// One permit per step that may run now.
    pub turns: Arc<Semaphore>,
}

/// What a graph was built with, and which of its nodes matter.
pub struct Built {
    pub graph: Dag<Node>,
    pub needs: Vec<Arc<Needs>>,
    pub orphans: Vec<Orphans>,
    pub tasks: Vec<Task>,
    pub requests: Vec<Request>,
    pub active: Vec<bool>,
    pub filtered: BTreeSet<NodeId>,
}

impl Schedule {
    /// `parallelism`: so many steps run at the same time.
    pub fn new(built: Built, parallelism: usize) -> Schedule {
        Schedule {
            resource_nodes: resource_nodes(&built.graph),
            action_nodes: action_nodes(&built.graph),
            awaited: awaited(&built.tasks),
            destroyed: destroyed(&built.tasks),
            has_unchecked: built.needs.iter().any(|needs| needs.unchecked),
            graph: built.graph,
            needs: built.needs,
            orphans: built.orphans,
            tasks: built.tasks,
            requests: built.requests,
            active: built.active,
            filtered: built.filtered,
            turns: Arc::new(Semaphore::new(parallelism.max(1))),
        }
    }

    pub fn is_active(&self, node: NodeId) -> bool {
        self.active.get(node.index()).copied().unwrap_or(true)
    }
}

fn resource_nodes(graph: &Dag<Node>) -> FxHashMap<ResourceId, NodeId> {
    let block = |(id, node): (NodeId, &Node)| match node {
        Node::Resource(block) => Some((*block, id)),
        _ => None,
    };
    graph.nodes().filter_map(block).collect()
}

fn action_nodes(graph: &Dag<Node>) -> FxHashMap<ActionId, NodeId> {
    let block = |(id, node): (NodeId, &Node)| match node {
        Node::Action(block) => Some((*block, id)),
        _ => None,
    };
    graph.nodes().filter_map(block).collect()
}

fn awaited(tasks: &[Task]) -> FxHashSet<AbsResourceInstance> {
    let creates = |action| !matches!(action, Action::Delete | Action::Forget);
    tasks.iter().filter(|t| creates(t.change.action)).map(|t| t.change.addr.clone()).collect()
}

fn destroyed(tasks: &[Task]) -> FxHashSet<AbsResourceInstance> {
    let changes = tasks.iter().map(|task| &task.change);
    changes.filter(|c| c.action == Action::Delete && c.deposed.is_none()).map(|c| c.addr.clone()).collect()
}
