//! The nodes of the graph: one per configuration block, and in apply one per planned change.

use crate::blocks::tree::Tree;
use crate::ids::{ActionId, GeneratedId, ModuleId, OrphansId, ProviderId, RequestId, ResourceId, TaskId};

/// A unit of the walk. Indices are positions in the module's declarations, or in the run's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An input variable in all instances of its module.
    Variable {
        module: ModuleId,
        index: u32,
    },
    Local {
        module: ModuleId,
        index: u32,
    },
    Output {
        module: ModuleId,
        index: u32,
    },
    /// A module call: which instances its module has.
    Call {
        module: ModuleId,
        index: u32,
    },
    /// Everything in a module is done.
    Close {
        module: ModuleId,
    },
    /// A provider configuration: evaluated, running, configured.
    Provider(ProviderId),
    /// A resource block: which instances it has, and, except in apply, what becomes of them.
    Resource(ResourceId),
    /// A `check` block: its assertions in all instances of its module.
    Check {
        module: ModuleId,
        index: u32,
    },
    /// An action block: which instances it has.
    Action(ActionId),
    /// An action that was asked for: an entry of the run's table of requests.
    Request(RequestId),
    /// Nothing uses an ephemeral resource any more.
    CloseEphemeral(ResourceId),
    /// An import that writes its configuration: an entry of the run's table of imports.
    Generate(GeneratedId),
    /// Objects in the state whose block, or whose module, is gone: an entry of the run's table of orphans.
    Orphans(OrphansId),
    /// Creating, updating or reading one instance: an entry of the run's table of tasks.
    Instance(TaskId),
    /// Destroying one object: an entry of the run's table of tasks.
    Destroy(TaskId),
    /// A barrier: nothing but an order.
    Gate,
}

impl Node {
    /// The name that cycle errors show; `detail` names the entries of the run's tables.
    pub fn name(self, tree: &Tree, detail: &dyn Fn(Node) -> String) -> String {
        let within = |module: ModuleId, text: String| {
            let path = &tree.module(module).path;
            if path.is_root() { text } else { format!("{path}.{text}") }
        };
        match self {
            Node::Variable { module, index } => {
                let variable = tree.variable(module, index);
                let part = match (tree.module(module).path.is_root(), variable.validations.is_empty()) {
                    (true, true) => "",
                    // What it is given cannot refer to anything, but its rules can.
                    (true, false) => " (validation)",
                    (false, _) => " (expand)",
                };
                within(module, format!("var.{}{part}", variable.name))
            }
            Node::Local { module, index } => {
                within(module, format!("local.{} (expand)", tree.local(module, index).name))
            }
            Node::Output { module, index } => {
                let expand = if tree.module(module).path.is_root() { "" } else { " (expand)" };
                within(module, format!("output.{}{expand}", tree.output(module, index).name))
            }
            Node::Call { module, index } => {
                within(module, format!("module.{} (expand)", tree.call(module, index).name))
            }
            Node::Close { module } => match tree.module(module).path.is_root() {
                true => "root".into(),
                false => format!("{} (close)", tree.module(module).path),
            },
            Node::Resource(id) => within(id.module, tree.resource(id).addr.to_string()),
            Node::Check { module, index } => {
                within(module, format!("check.{} (expand)", tree.check(module, index).name))
            }
            Node::Action(id) => within(id.module, format!("{} (config)", tree.action(id).addr)),
            Node::CloseEphemeral(id) => within(id.module, format!("{} (close)", tree.resource(id).addr)),
            Node::Provider(_)
            | Node::Request(_)
            | Node::Generate(_)
            | Node::Orphans(_)
            | Node::Instance(_)
            | Node::Destroy(_)
            | Node::Gate => detail(self),
        }
    }
}
