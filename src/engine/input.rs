//! The inputs of each verb: plain structs whose fields are all set by the caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::source::Range;
use model::addr::{AbsResourceInstance, ModuleInstance};
use model::config::policy_file::PolicySet;
use model::plan::{Plan, PlanScope};
use model::state::State;
use terrane_value::Value;

use crate::facts::Facts;

/// A value given for a root variable, not yet converted to the variable's type, and where it comes from.
#[derive(Clone, Debug)]
pub struct GivenVariable {
    pub value: Value,
    pub origin: Origin,
}

/// Where a root variable's value comes from; messages about the value speak of it.
#[derive(Clone, Debug)]
pub enum Origin {
    /// `-var`
    Argument,
    /// `TF_VAR_name`
    Environment,
    Prompt,
    /// A values file; the range of the assignment.
    File(Range),
    /// A saved plan, a test.
    Other,
}

pub type GivenVariables = BTreeMap<Arc<str>, GivenVariable>;

#[derive(Clone, Debug)]
pub struct ValidateInput {
    pub facts: Arc<Facts>,
    /// At most so many steps run at the same time.
    pub parallelism: usize,
}

#[derive(Clone, Debug)]
pub struct PlanInput {
    pub facts: Arc<Facts>,
    /// The state as read.
    pub state: State,
    /// By name; variables not listed take their default.
    pub variables: GivenVariables,
    pub scope: PlanScope,
}

#[derive(Clone, Debug)]
pub struct QueryInput {
    pub facts: Arc<Facts>,
    /// The state as read.
    pub state: State,
    /// By name; variables not listed take their default.
    pub variables: GivenVariables,
    /// Write blocks that import the results.
    pub generate_config: bool,
    /// Evaluated for the results.
    pub policies: Arc<PolicySet>,
    /// At most so many steps run at the same time.
    pub parallelism: usize,
}

#[derive(Clone, Debug)]
pub struct ApplyInput {
    pub facts: Arc<Facts>,
    pub plan: Arc<Plan>,
    /// Values that the plan does not hold: those of ephemeral variables. The plan's own win.
    pub variables: GivenVariables,
    /// At most so many steps run at the same time.
    pub parallelism: usize,
}

/// What apply leaves behind, whether or not it succeeded.
#[derive(Clone, Debug, Default)]
pub struct ApplyOutcome {
    /// None: nothing was begun, and what is stored stays as it is.
    pub state: Option<State>,
}

#[derive(Clone, Debug)]
pub struct ImportInput {
    pub facts: Arc<Facts>,
    /// The state as read.
    pub state: State,
    /// By name; variables not listed take their default.
    pub variables: GivenVariables,
    /// The instance that the object becomes. A block declares its resource.
    pub addr: AbsResourceInstance,
    /// What the provider knows the object by.
    pub id: Arc<str>,
    /// At most so many steps run at the same time.
    pub parallelism: usize,
}

/// What is needed to evaluate expressions in a module outside of a run.
#[derive(Clone, Debug)]
pub struct EvaluateInput {
    pub facts: Arc<Facts>,
    pub state: State,
    pub variables: GivenVariables,
    pub module: ModuleInstance,
    pub parallelism: usize,
}
