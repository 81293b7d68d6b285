//! Options that several operations share, as plain values.

use std::path::PathBuf;
use std::time::Duration;

use model::lint::Selection;
use model::plan::{DenyRule, PlanScope};

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
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    pub scope: PlanScope,
    /// Files with more targets, still to be read.
    pub target_files: Vec<PathBuf>,
    /// Files with more exclusions, still to be read.
    pub exclude_files: Vec<PathBuf>,
    /// Changes that the plan must not have.
    pub deny: Vec<DenyRule>,
    /// Files and folders with policies, still to be read.
    pub policies: Vec<PathBuf>,
    /// What the linter checks beside the plan.
    pub lint: Selection,
}

/// One `-var` or `-var-file`, in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableArgument {
    /// `name=value`
    Value(String),
    File(String),
}
