//! Options that several operations share, as plain values.

use std::path::PathBuf;
use std::time::Duration;

use model::addr::{AbsActionInstance, AbsResourceInstance, Target};
use model::lint::Selection;
use model::plan::{Mode, Refresh};

/// How the state is reached.
#[derive(Clone, Debug)]
pub struct StateOptions {
    pub lock: bool,
    /// Duration to retry a state lock.
    pub lock_timeout: Duration,
    /// Settings of the local backend from before there were others: where to read, write and back up the state.
    pub state: Option<PathBuf>,
    pub state_out: Option<PathBuf>,
    /// `-`: none.
    pub backup: Option<String>,
    /// Changes the state although the workspace of HCP Terraform is for another version.
    pub ignore_remote_version: bool,
}

impl Default for StateOptions {
    fn default() -> StateOptions {
        StateOptions {
            lock: true,
            lock_timeout: Duration::ZERO,
            state: None,
            state_out: None,
            backup: None,
            ignore_remote_version: false,
        }
    }
}

/// What a plan is made for.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    pub mode: Mode,
    pub refresh: Refresh,
    /// Write configuration for imports that have none.
    pub generate_config: bool,
    pub targets: Vec<Target>,
    /// Left out, with all that depends on it. Never together with targets.
    pub excludes: Vec<Target>,
    /// Plan what can be planned, and defer the rest to a later plan.
    pub deferral_allowed: bool,
    /// Files with more of them, still to be read.
    pub target_files: Vec<PathBuf>,
    pub exclude_files: Vec<PathBuf>,
    pub force_replace: Vec<AbsResourceInstance>,
    /// Actions to invoke, and nothing else.
    pub requested_actions: Vec<AbsActionInstance>,
    pub parallelism: usize,
    /// What the linter checks beside the plan.
    pub lint: Selection,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            mode: Mode::Normal,
            refresh: Refresh::All,
            generate_config: false,
            targets: Vec::new(),
            excludes: Vec::new(),
            deferral_allowed: false,
            target_files: Vec::new(),
            exclude_files: Vec::new(),
            force_replace: Vec::new(),
            requested_actions: Vec::new(),
            parallelism: 10,
            lint: Selection::default(),
        }
    }
}

/// One `-var` or `-var-file`, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableArgument {
    /// `name=value`
    Value(String),
    File(String),
}
