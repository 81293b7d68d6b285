//! Combines the results of a finished walk in a plan.

use std::sync::Arc;

use base::moment::Moment;
use model::addr::AbsResource;
use model::plan::{Action, Change, Mode, OutputChange, Plan, PlanScope, ResourceChange};
use model::state::{Instance, ResourceState, State};
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Type, Value};

use crate::input::PlanInput;
use crate::run::records::PlannedChanges;
use crate::run::{Run, Verb};
use crate::verbs::{check_results, relevant};

/// The plan that a finished walk comes to.
pub fn of_run(run: &Run, input: &PlanInput, now: Moment, errored: bool) -> Plan {
    let mut found = std::mem::take(&mut *run.results.changes());
    run.results.changes().has_deferrals = found.has_deferrals;
    let mut changes = found.take_resources();
    let PlannedChanges { mut invocations, drift, mut outputs, has_module_outputs, mut deferred, .. } = found;
    let states = std::mem::take(&mut *run.results.states());
    let checks = std::mem::take(&mut run.results.checks().records);
    // Without a copy of all changes; no two are of the same object.
    changes.sort_unstable_by(|a, b| (&a.addr, &a.deposed).cmp(&(&b.addr, &b.deposed)));
    deferred.sort_by_cached_key(|d| (d.change.addr.to_string(), d.change.deposed.clone()));
    let mut deferred_invocations = found.deferred_invocations;
    deferred_invocations
        .sort_by_cached_key(|d| (d.invocation.addr.to_string(), d.invocation.caller().map(ToString::to_string)));
    // Stable: those of one object keep their order.
    invocations.sort_by(|a, b| (a.lifecycle().is_some(), a.caller()).cmp(&(b.lifecycle().is_some(), b.caller())));
    outputs.extend(gone_outputs(run));
    outputs.sort_by(|a, b| a.name.cmp(&b.name));
    let declared = &run.blocks.config.root.variables;
    let variables = input.variables.iter().filter(|(name, _)| declared.get(*name).is_some_and(|v| !v.ephemeral));
    let relevant_attributes = relevant::contributing(run, &changes, &outputs);
    Plan {
        // With requested actions, targets choose their callers, which the invocations name.
        scope: match input.scope.requested_actions.is_empty() {
            true => input.scope.clone(),
            false => PlanScope { targets: Vec::new(), ..input.scope.clone() },
        },
        changes,
        invocations,
        deferred,
        deferred_invocations,
        drift,
        outputs,
        has_module_outputs,
        variables: variables.map(|(name, given)| (name.clone(), given.value.clone())).collect(),
        ephemeral_variables: input
            .variables
            .iter()
            .filter(|(name, given)| !given.value.is_null() && declared.get(*name).is_some_and(|v| v.ephemeral))
            .map(|(name, _)| name.clone())
            .collect(),
        previous_state: states.previous,
        prior_state: State { checks: None, ..states.current },
        checks: check_results::results(run, checks, None).unwrap_or_default(),
        timestamp: format_time(now),
        relevant_attributes,
        function_results: std::mem::take(&mut *run.results.calls()),
        applyable: false,
        complete: false,
        errored,
        denied_by: Vec::new(),
        undecided_policies: Vec::new(),
        is_of_opentofu: false,
    }
}

/// Outputs of the state that the configuration does not have any more; in a destroy, all.
fn gone_outputs(run: &Run) -> Vec<OutputChange> {
    let is_destroy = run.verb == Verb::PlanDestroy;
    let mut gone = Vec::new();
    if !run.inputs.are_whole() {
        return gone;
    }
    for (name, output) in &run.prior.state.outputs {
        if is_destroy || !run.blocks.config.root.outputs.contains_key(name) {
            let after = Value::null(Type::Dynamic);
            gone.push(OutputChange {
                name: name.clone(),
                action: Action::Delete,
                change: Change { before: output.value.clone(), after },
                sensitive: output.sensitive,
            });
        }
    }
    gone
}

pub fn is_applyable(plan: &Plan) -> bool {
    if !plan.invocations.is_empty() {
        return true;
    }
    if plan.scope.mode == Mode::RefreshOnly {
        return !has_same_objects(&plan.prior_state, &plan.previous_state)
            || plan.prior_state.outputs != plan.previous_state.outputs;
    }
    let counts = |c: &ResourceChange| c.previous_addr != c.addr || c.importing.is_some();
    plan.has_resource_changes()
        || plan.changes.iter().any(counts)
        || plan.outputs.iter().any(|o| o.action != Action::NoOp)
}

/// Whether two states have the same managed resources, with the same objects. Identities do not count: the reference's state
/// has none, so a provider that begins to report them has changed nothing.
pub fn has_same_objects(a: &State, b: &State) -> bool {
    fn managed(state: &State) -> impl Iterator<Item = (&AbsResource, &Arc<ResourceState>)> {
        state.resources.iter().filter(|(addr, _)| addr.resource.mode == ResourceMode::Managed)
    }
    managed(a).count() == managed(b).count()
        && managed(a).zip(managed(b)).all(|(a, b)| a.0 == b.0 && has_same_instances(a.1, b.1))
}

fn has_same_instances(a: &ResourceState, b: &ResourceState) -> bool {
    let anonymous = |instance: &Instance| {
        let mut instance = instance.clone();
        for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
            object.identity = None;
        }
        instance
    };
    a.provider == b.provider
        && a.instances.keys().eq(b.instances.keys())
        && a.instances.values().zip(b.instances.values()).all(|(a, b)| a == b || anonymous(a) == anonymous(b))
}

/// RFC 3339, in UTC, whole seconds.
pub fn format_time(moment: Moment) -> String {
    jiff::Timestamp::from_second(moment.seconds).map_or_else(|_| String::new(), |t| t.to_string())
}

pub fn parse_time(text: &str) -> Option<Moment> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(Moment::from_seconds(time.as_second()))
}
