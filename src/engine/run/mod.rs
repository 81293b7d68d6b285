//! One run of the engine: its inputs ([`Inputs`]), static facts ([`Blocks`], [`Prior`]), the order
//! ([`Schedule`]), and the results of steps ([`Results`]). Never runs a step itself.

pub mod deferred;
pub mod module_scope;
pub mod object;
pub mod policy_notes;
pub mod policy_objects;
pub mod records;
pub mod renewal;
pub mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::Diagnostics;
use base::dialect::Dialect;
use base::moment::Moment;
use deferred::DeferredBlocks;
use model::addr::{AbsResource, AbsResourceInstance, InstanceKey, Target};
use model::plan::{PlanScope, Refresh};
use model::state::State;
use results::Results;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_value::Value;

use crate::blocks::Blocks;
use crate::blocks::references::Need;
use crate::graph::schedule::Schedule;
use crate::ids::{NodeId, ResourceId};
use crate::input::GivenVariables;
use crate::ports::Ports;

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
    pub inputs: Inputs,
    /// What the request replaces, for a look-up by each instance.
    pub replaced: FxHashSet<AbsResourceInstance>,
    pub blocks: Blocks,
    pub prior: Prior,
    pub schedule: Schedule,
    pub results: Results,
}

/// What the caller asked for.
pub struct Inputs {
    pub variables: GivenVariables,
    /// That of the plan. In an apply, deferrals are allowed if the plan deferred anything.
    pub scope: PlanScope,
    /// In apply: what the plan deferred.
    pub deferred: DeferredBlocks,
    /// In apply: the values of root outputs in the plan.
    pub planned_outputs: BTreeMap<Arc<str>, Value>,
    /// What `plantimestamp` says.
    pub plan_time: Option<Moment>,
    /// In apply: the address and the policy of what the plan could not decide on.
    pub undecided_policies: BTreeSet<(String, String)>,
    /// The run is a query: nothing but lists counts, and what they refer to.
    pub query: Option<Query>,
}

/// What a query is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Write blocks that import the results.
    pub generate: bool,
}

/// Those of a run that reads no objects.
impl Default for Inputs {
    fn default() -> Inputs {
        Inputs {
            variables: GivenVariables::new(),
            scope: PlanScope { refresh: Refresh::Never, ..PlanScope::default() },
            deferred: DeferredBlocks::default(),
            planned_outputs: BTreeMap::new(),
            plan_time: None,
            undecided_policies: BTreeSet::new(),
            query: None,
        }
    }
}

impl Inputs {
    /// True if the run is about the whole configuration.
    pub fn are_whole(&self) -> bool {
        self.scope.is_whole() && self.scope.requested_actions.is_empty()
    }
}

/// The state that the run starts from.
pub struct Prior {
    pub state: Arc<State>,
    /// Resources of the state by the block that claims them.
    pub stored: FxHashMap<ResourceId, Vec<AbsResource>>,
    /// New addresses of objects that moved, with the old ones.
    pub moved: BTreeMap<AbsResourceInstance, AbsResourceInstance>,
}

impl Run {
    /// The dialect that the configuration is written in.
    pub fn dialect(&self) -> Dialect {
        self.blocks.tree.dialect()
    }

    pub fn report(&self, node: NodeId, diagnostics: Diagnostics) {
        self.results.report(node, diagnostics);
    }

    /// True if the instance is to be looked at, by the targets and exclusions of the run.
    pub fn is_targeted(&self, node: NodeId, addr: &AbsResourceInstance) -> bool {
        let is_among = |targets: &[Target]| targets.iter().any(|target| target.contains(addr));
        (!self.schedule.filtered.contains(&node) || is_among(&self.inputs.scope.targets))
            && !is_among(&self.inputs.scope.excludes)
    }

    /// The literal keys by which a resource block refers to its instances.
    pub fn own_keys(&self, block: ResourceId) -> Vec<InstanceKey> {
        let Some(node) = self.schedule.resource_nodes.get(&block) else { return Vec::new() };
        let needs = self.schedule.needs[node.index()].on.iter();
        needs
            .filter_map(|need| match need {
                Need::Resource(id, Some(key)) if *id == block => Some(key.clone()),
                _ => None,
            })
            .collect()
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
            Verb::Plan { .. } | Verb::Apply { .. } => self.is_refresh_only() || !self.inputs.are_whole(),
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
        self.results.take_diagnostics()
    }
}
