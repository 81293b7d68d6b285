//! One run of the engine: what was asked, what is known beforehand, and where the steps leave what they found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Semaphore;

use crate::base::diag::Diagnostics;
use crate::model::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, Target};
use crate::model::config::Config;
use crate::model::plan::ResourceChange;
use crate::model::state::State;

use super::functions::ProviderFunctions;
use super::graph::{Dag, Node, NodeId};
use super::imports::Imports;
use super::input::GivenVariables;
use super::ports::Ports;
use super::provider_configs::{Chosen, ProviderConfigs};
use super::references::{Need, Needs};
use super::removed::RemovedBlocks;
use super::results::Results;
use super::schemas::Schemas;
use super::tree::{ModuleId, Tree};

/// What the walk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Validate,
    /// `refresh_only`: nothing is planned. `pre_destroy`: the plan ahead of a destroy, of which the refreshed state is used
    /// and nothing else: it imports nothing. In both, failing conditions only warn.
    Plan {
        refresh_only: bool,
        pre_destroy: bool,
    },
    PlanDestroy,
    /// One object becomes managed, by its id. Other objects are taken as they are stored, and nothing is planned.
    Import,
    /// `refresh_only`: of a plan that changes nothing but the state; outputs and checks are evaluated by it.
    Apply {
        refresh_only: bool,
    },
    /// Apply of a plan that destroys everything.
    ApplyDestroy,
    /// Values only, from the state.
    Evaluate,
}

/// Everything that a step may read, shared by all of them.
pub struct Run {
    pub verb: Verb,
    pub ports: Ports,
    pub config: Arc<Config>,
    pub tree: Tree,
    pub schemas: Schemas,
    pub functions: ProviderFunctions,
    pub providers: ProviderConfigs,
    /// The provider configuration of each resource block.
    pub provider_of: FxHashMap<(ModuleId, u32), u32>,
    /// Blocks whose instances choose among the instances of one.
    pub chosen_of: FxHashMap<(ModuleId, u32), Chosen>,
    /// The state that the run starts from.
    pub state: Arc<State>,
    pub variables: GivenVariables,
    pub refresh: bool,
    pub targets: Vec<Target>,
    pub force_replace: BTreeSet<AbsResourceInstance>,
    pub graph: Dag<Node>,
    /// Per node.
    pub needs: Vec<Needs>,
    /// Per resource block: what its objects depend on, transitively; sorted by address text.
    pub dependencies: FxHashMap<(ModuleId, u32), Arc<[ConfigResource]>>,
    /// Resource blocks that replace by creating first, by themselves or because something that depends on them does.
    pub create_before_destroy: FxHashMap<(ModuleId, u32), bool>,
    /// Per data source: the managed resources whose pending changes put its reading off.
    pub read_barriers: FxHashMap<(ModuleId, u32), Arc<[ConfigResource]>>,
    /// Resources of the state by the block that claims them.
    pub stored: FxHashMap<(ModuleId, u32), Vec<AbsResource>>,
    /// New addresses of objects that moved, with the old ones.
    pub moved: BTreeMap<AbsResourceInstance, AbsResourceInstance>,
    pub removed: RemovedBlocks,
    pub imports: Imports,
    pub orphans: Vec<Orphans>,
    pub tasks: Vec<Task>,
    /// In apply: instances whose value a task will find out.
    pub awaited: FxHashSet<AbsResourceInstance>,
    /// In apply: instances whose current object a task destroys.
    pub destroyed: FxHashSet<AbsResourceInstance>,
    /// The node of each resource block.
    pub resource_nodes: FxHashMap<(ModuleId, u32), NodeId>,
    /// Nodes that do something; the others are done at once.
    pub active: Vec<bool>,
    /// Nodes whose instances are filtered by the targets; their dependencies are not.
    pub filtered: BTreeSet<NodeId>,
    pub results: Results,
    pub turns: Arc<Semaphore>,
    /// Seconds since the epoch and nanoseconds: what `plantimestamp` says.
    pub plan_time: Option<(i64, u32)>,
}

/// Objects in the state without a block, of one resource.
#[derive(Clone, Debug)]
pub struct Orphans {
    pub resource: ConfigResource,
    pub provider: u32,
    pub instances: Vec<AbsResourceInstance>,
}

/// A planned change that apply carries out.
#[derive(Clone, Debug)]
pub struct Task {
    pub change: Arc<ResourceChange>,
    pub provider: u32,
    pub block: Option<(ModuleId, u32)>,
}

impl Run {
    pub fn report(&self, node: NodeId, diagnostics: Diagnostics) {
        self.results.report(node, diagnostics);
    }

    /// True if the instance is to be looked at, by the targets of the run.
    pub fn is_targeted(&self, node: NodeId, addr: &AbsResourceInstance) -> bool {
        !self.filtered.contains(&node) || self.targets.iter().any(|target| target.contains(addr))
    }

    /// The literal keys by which a resource block refers to instances of its own.
    pub fn own_keys(&self, module: ModuleId, index: u32) -> Vec<InstanceKey> {
        let Some(node) = self.resource_nodes.get(&(module, index)) else { return Vec::new() };
        let needs = self.needs[*node as usize].on.iter();
        needs
            .filter_map(|need| match need {
                Need::Resource(m, i, Some(key)) if (*m, *i) == (module, index) => Some(key.clone()),
                _ => None,
            })
            .collect()
    }

    pub fn is_active(&self, node: NodeId) -> bool {
        self.active.get(node as usize).copied().unwrap_or(true)
    }

    /// Whether failing conditions of resources are warnings.
    pub fn is_lenient(&self) -> bool {
        matches!(self.verb, Verb::Plan { pre_destroy: true, .. } | Verb::Import) || self.is_refresh_only()
    }

    /// Whether instances are brought up to date in the state, and no changes are planned for them.
    pub fn plans_nothing(&self) -> bool {
        matches!(self.verb, Verb::Plan { refresh_only: true, .. } | Verb::Import)
    }

    pub fn is_refresh_only(&self) -> bool {
        matches!(self.verb, Verb::Plan { refresh_only: true, .. } | Verb::Apply { refresh_only: true })
    }

    /// True if objects that the configuration does not want stay, which then are part of what references see.
    pub fn leaves_objects_alone(&self) -> bool {
        match self.verb {
            Verb::Plan { .. } | Verb::Apply { .. } => self.is_refresh_only() || !self.targets.is_empty(),
            Verb::Import => true,
            _ => false,
        }
    }

    pub fn is_plan(&self) -> bool {
        matches!(self.verb, Verb::Plan { .. } | Verb::PlanDestroy)
    }

    pub fn is_apply(&self) -> bool {
        matches!(self.verb, Verb::Apply { .. } | Verb::ApplyDestroy)
    }

    /// All diagnostics in the order of the graph's nodes.
    pub fn take_diagnostics(&self) -> Diagnostics {
        let mut all = std::mem::take(&mut self.results.gathered().diagnostics);
        let mut by_node: BTreeMap<NodeId, Vec<Diagnostics>> = BTreeMap::new();
        for (node, diagnostics) in all.drain(..) {
            by_node.entry(node).or_default().push(diagnostics);
        }
        by_node.into_values().flatten().flatten().collect()
    }
}
