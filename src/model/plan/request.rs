//! What a plan is asked for: the one list of planning options. Commands fill it in, the engine obeys it, and a plan has it;
//! what of it a saved plan keeps is said in `model::plan::file::text`.

use std::sync::Arc;

use crate::addr::{AbsActionInstance, AbsResourceInstance, Target};
use crate::config::policy_file::PolicySet;

/// How many steps run at the same time unless the user says otherwise.
pub const DEFAULT_PARALLELISM: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    #[default]
    Normal,
    Destroy,
    RefreshOnly,
}

/// Which stored objects a plan reads, to see what has changed outside of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    All,
    /// Those with a planned change.
    Changed,
    /// None: they are taken as they are.
    Never,
}

/// The scope of a plan: what it is about, and what it leaves out.
#[derive(Clone, Debug)]
pub struct PlanScope {
    pub mode: Mode,
    pub refresh: Refresh,
    pub targets: Vec<Target>,
    /// What OpenTofu's `-exclude` leaves out, with all that depends on it. Never together with targets.
    pub excludes: Vec<Target>,
    pub force_replace: Vec<AbsResourceInstance>,
    /// Actions to invoke, and nothing else: the mode is then `RefreshOnly`.
    pub requested_actions: Vec<AbsActionInstance>,
    /// Plan what can be planned, and defer the rest to a later plan.
    pub deferral_allowed: bool,
    /// Write configuration for imports that have none; it is in the plan's changes.
    pub generate_config: bool,
    /// Evaluated for what the plan has, and again in apply where their results were not known.
    pub policies: Arc<PolicySet>,
    /// At most so many steps run at the same time.
    pub parallelism: usize,
}

impl Default for PlanScope {
    fn default() -> PlanScope {
        PlanScope {
            mode: Mode::Normal,
            refresh: Refresh::All,
            targets: Vec::new(),
            excludes: Vec::new(),
            force_replace: Vec::new(),
            requested_actions: Vec::new(),
            deferral_allowed: false,
            generate_config: false,
            policies: Arc::default(),
            parallelism: DEFAULT_PARALLELISM,
        }
    }
}

impl PlanScope {
    /// True if neither targets nor exclusions limit the plan.
    pub fn is_whole(&self) -> bool {
        self.targets.is_empty() && self.excludes.is_empty()
    }
}
