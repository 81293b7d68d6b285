//! The verbs: graph, walk, validate, plan, apply.
//!
//! One free function per verb with one input struct each. The verbs of a command share the static facts about its configuration
//! ([`Facts`]). Accesses the outside only through [`ports`] and reports through [`event`]. Never
//! prints, never reads arguments, environment, files or sockets, never knows a backend or a process.

mod blocks;
mod build;
pub mod change;
pub mod coverage;
pub mod engine_errors;
pub mod event;
mod execute;
mod facts;
mod graph;
mod ids;
pub mod input;
pub mod mock;
mod moves;
mod opentofu;
pub mod outline;
mod pending_request;
pub mod policy;
pub mod ports;
mod run;
mod step;
pub mod testing;
#[cfg(test)]
mod tests;
mod verbs;

use std::sync::Arc;

use base::diag::Diagnostics;
use base::telemetry::{self, Description, Detail};
pub use facts::Facts;
pub use input::{
    ApplyInput, ApplyOutcome, EvaluateInput, GivenVariable, GivenVariables, ImportInput, Origin, PlanInput, QueryInput,
    ValidateInput,
};
use model::addr::ModuleInstance;
use model::plan::{ListResults, Mode, Plan};
use model::state::State;
use ports::Ports;
pub use step::variable::test_file_value;
pub use verbs::{Evaluation, Names, Verdict};

/// Checks a configuration against its providers' schemas and by its providers, without values and without state.
pub async fn validate(input: ValidateInput, ports: &Ports) -> Diagnostics {
    telemetry::phase(
        Detail::Steps,
        || Description::new("Validation phase"),
        || verbs::validate(input, ports),
        Diagnostics::has_errors,
    )
    .await
}

/// What is to be done to bring the world to the configuration. On errors the plan, if there is one, is marked so; it
/// shows what was planned until then.
pub async fn plan(input: PlanInput, ports: &Ports) -> (Option<Plan>, Diagnostics) {
    let mode = input.scope.mode;
    let describe = || Description::new("Plan phase").with("opentofu.plan.mode", mode_name(mode));
    telemetry::phase(Detail::Steps, describe, || verbs::plan(input, ports), |(_, found)| found.has_errors()).await
}

/// Runs the lists of a configuration. Returns the results of those that succeeded, in the order of their blocks.
pub async fn query(input: QueryInput, ports: &Ports) -> (Vec<Arc<ListResults>>, Diagnostics) {
    telemetry::phase(
        Detail::Steps,
        || Description::new("Query phase"),
        || verbs::query(input, ports),
        |(_, found)| found.has_errors(),
    )
    .await
}

/// What has to be given again, and was not, before anything of a plan may be done.
pub fn missing_variables(plan: &Plan, given: &GivenVariables) -> Diagnostics {
    verbs::missing_variables(plan, given)
}

/// Does what a plan says. The outcome's state holds everything that was done, errors or not.
pub async fn apply(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Diagnostics) {
    let mode = input.plan.scope.mode;
    let describe = || Description::new("Apply phase").with("opentofu.plan.mode", mode_name(mode));
    telemetry::phase(Detail::Steps, describe, || verbs::apply(input, ports), |(_, found)| found.has_errors()).await
}

/// As [`plan`], with the values of the root module as the plan has them: for tests.
pub async fn plan_and_evaluate(input: PlanInput, ports: &Ports) -> (Option<(Plan, Evaluation)>, Diagnostics) {
    let mode = input.scope.mode;
    let describe = || Description::new("Plan phase").with("opentofu.plan.mode", mode_name(mode));
    telemetry::phase(
        Detail::Steps,
        describe,
        || verbs::plan_and_evaluate(input, ports),
        |(_, found)| found.has_errors(),
    )
    .await
}

/// As [`apply`], with the values of the root module after it: for tests.
pub async fn apply_and_evaluate(input: ApplyInput, ports: &Ports) -> (ApplyOutcome, Option<Evaluation>, Diagnostics) {
    let mode = input.plan.scope.mode;
    let describe = || Description::new("Apply phase").with("opentofu.plan.mode", mode_name(mode));
    let work = || verbs::apply_and_evaluate(input, ports);
    telemetry::phase(Detail::Steps, describe, work, |(_, _, found)| found.has_errors()).await
}

/// Imports an existing object; import blocks are ignored. Returns the state with the object and with the outputs
/// that follow from it; None with errors.
pub async fn import(input: ImportInput, ports: &Ports) -> (Option<State>, Diagnostics) {
    telemetry::phase(
        Detail::Steps,
        || Description::new("Import phase"),
        || verbs::import(input, ports),
        |(_, found)| found.has_errors(),
    )
    .await
}

/// What expressions of a module instance evaluate to, by the configuration and the state. None if there is no such
/// instance, or if the configuration is not sound enough to ask.
pub async fn evaluate(input: EvaluateInput, ports: &Ports) -> (Option<Evaluation>, Diagnostics) {
    telemetry::phase(
        Detail::Steps,
        || Description::new("Evaluation phase"),
        || verbs::evaluate(input, ports),
        |(_, found)| found.has_errors(),
    )
    .await
}

/// As `evaluate`, by the values that a plan gives: those of the whole plan, where it could not be made as far as it got.
pub async fn evaluate_plan(
    input: PlanInput,
    module: &ModuleInstance,
    ports: &Ports,
) -> (Option<Evaluation>, Diagnostics) {
    let work = || verbs::evaluate_plan(input, module, ports);
    telemetry::phase(Detail::Steps, || Description::new("Evaluation phase"), work, |(_, found)| found.has_errors())
        .await
}

/// The name of a mode in spans.
fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "normal",
        Mode::Destroy => "destroy",
        Mode::RefreshOnly => "refresh-only",
    }
}
