//! The states of a file at its end: each is destroyed, kept, or brought back to what a run made of it, by the run that is in charge of
//! it. States that need each other are in the order of [`order`]; others go side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use base::diag::Diagnostics;
use engine::mock::TestDoubles;
use engine::ports::Ports;
use engine::{ApplyInput, GivenVariable, Origin, PlanInput};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use model::config::Module;
use model::config::test_file::TestRun;
use model::plan::{Mode, PlanScope, Refresh};
use model::state::State;
use model::version::at_least;
use terrane_value::Value;

use super::context::{FileContext, KeptState, objects_of};
use super::kept::Reason;
use super::order;
use super::providers::KnownConfigurations;
use super::restore::{self, Disposal, StateFacts};
use super::run::{has_objects, interrupted, lookup, prepare};
use super::run_record::RunRecord;
use super::variables::RunValues;
use crate::interface::testing::{AbandonedReport, AbandonedState, RunReport, TeardownReport, TestProgress, TestStatus};
use crate::opentofu;

/// How the end of a state came out.
struct EndedState {
    key: String,
    status: TestStatus,
    /// Why it is kept; none: nothing needs it any more.
    reason: Option<Reason>,
}

/// Ends all states after the runs. Returns the error status if something is left that was to be destroyed. States of isolated runs that
/// [`destroy_state`] did not destroy are kept: they are neither destroyed nor reported again.
pub async fn destroy_all(context: &FileContext<'_>, reports: &[RunReport]) -> TestStatus {
    let undestroyed = context.undestroyed();
    let disposals = context.states().into_iter().map(|(key, kept)| {
        let facts = StateFacts { has_objects: has_objects(&kept.state), last_run: kept.last_run, keeper: kept.keeper };
        let disposal = if undestroyed.contains_key(&key) { Disposal::Nothing } else { restore::after_runs(facts) };
        (key, disposal)
    });
    let (status, mut ended) = end_states(context, disposals.collect(), reports).await;
    ended.extend(undestroyed.into_iter().map(|(key, reason)| (key, Some(reason))));
    let status = status.max(find_unfinished(context, &mut ended).await);
    status.max(record_reasons(context, &ended).await)
}

/// Destroys the state of an isolated run, if there is something in it. Returns the error status if something is left.
pub async fn destroy_state(context: &FileContext<'_>, key: &str, reports: &[RunReport]) -> TestStatus {
    let kept = context.states().remove(key).unwrap_or_default();
    let facts = StateFacts { has_objects: has_objects(&kept.state), last_run: kept.last_run, keeper: None };
    let ended = end_state(context, key.to_owned(), restore::after_runs(facts), reports).await;
    if let Some(reason) = ended.reason {
        context.set_undestroyed(key, reason);
    }
    ended.status
}

/// Does what was decided on each state. Returns the error status if something is left that was to be destroyed, and of each state why it
/// is kept.
pub async fn end_states(
    context: &FileContext<'_>,
    disposals: BTreeMap<String, Disposal>,
    reports: &[RunReport],
) -> (TestStatus, BTreeMap<String, Option<Reason>>) {
    let states = context.states();
    let position = |key: &String| match states.get(key).and_then(|kept| kept.last_run) {
        // Terraform 1.11 goes by the runs that wrote the states, later releases by all runs of the file.
        Some(writer) if !at_least(12) => Some(writer),
        _ => context.order.iter().rposition(|run| run.state_key == *key),
    };
    // States that no run wrote are in the order, too: others may need each other through them.
    let of_runs = context.order.iter().map(|run| &run.state_key);
    let last = disposals.keys().chain(of_runs).filter_map(|key| Some((key.clone(), position(key)?))).collect();
    let mut waiting = order::teardown(&context.order, &last);
    let mut status = TestStatus::Pending;
    let mut ended: BTreeMap<String, Option<Reason>> = BTreeMap::new();
    let mut executing = FuturesUnordered::new();
    loop {
        let is_ready = |step: &mut order::TeardownStep| step.after.iter().all(|other| ended.contains_key(other));
        let is_killed = context.suite.setup.stop.is_killed();
        for step in waiting.extract_if(.., is_ready) {
            let disposal = disposals.get(&step.key).copied().filter(|_| !is_killed);
            executing.push(end_state(context, step.key, disposal.unwrap_or(Disposal::Nothing), reports));
        }
        let Some(done) = executing.next().await else { break };
        status = status.max(done.status);
        ended.insert(done.key, done.reason);
    }
    ended.retain(|key, _| disposals.contains_key(key));
    if context.suite.setup.stop.is_killed() {
        // What was not ended any more stays in the manifest as it is.
        let is_left = |key: &String| has_objects(&context.state(key));
        ended.retain(|key, reason| reason.is_some() || !is_left(key));
        status = TestStatus::Error;
    }
    (status, ended)
}

async fn end_state(context: &FileContext<'_>, key: String, disposal: Disposal, reports: &[RunReport]) -> EndedState {
    let index = match disposal {
        Disposal::Nothing => return EndedState { key, status: TestStatus::Pending, reason: None },
        Disposal::Destroy(index) | Disposal::Keep(index, _) | Disposal::Restore(index) => index,
    };
    if let Some(report) = reports.iter().find(|report| report.index == index) {
        context.suite.listener.run(&context.file.name, report, TestProgress::TearDown, Default::default());
    }
    let diagnostics = match disposal {
        Disposal::Destroy(_) => destroy(context, &key, index).await,
        Disposal::Restore(_) => change(context, &key, index, Mode::Normal).await,
        Disposal::Keep(..) | Disposal::Nothing => Diagnostics::new(),
    };
    let left = objects_of(&context.state(&key));
    let failed = diagnostics.has_errors();
    let (status, reason) = match disposal {
        Disposal::Keep(_, reason) => (TestStatus::Pending, Some(reason)),
        Disposal::Restore(_) if !failed => (TestStatus::Pending, (!left.is_empty()).then_some(Reason::SkipCleanup)),
        Disposal::Restore(_) => (TestStatus::Error, (!left.is_empty()).then_some(Reason::Error)),
        _ if left.is_empty() => (TestStatus::Pending, None),
        _ => (TestStatus::Error, Some(Reason::Error)),
    };
    if matches!(reason, Some(Reason::SkipCleanup)) {
        // The manifest may not have it: nothing of it exists outside, or it comes from another run.
        save_if_unknown(context, &key).await;
    }
    let is_wanted = !matches!(disposal, Disposal::Destroy(_)) && !failed;
    let (file, run) = (context.file.name.clone(), Some(context.file.runs[index].name.clone()));
    let kept = place_of(context, &key).filter(|_| !left.is_empty());
    let stays_in_backend = context.backends.store(&key).is_some() && !cleans_backends(context);
    let report = TeardownReport { file, run, diagnostics, left, is_wanted, kept, stays_in_backend };
    context.suite.listener.torn_down(&report);
    EndedState { key, status, reason }
}

/// Whether a cleanup destroys what is in backends of runs.
pub fn cleans_backends(context: &FileContext<'_>) -> bool {
    opentofu::cleans_backends_of_tests(context.suite.setup.dialect())
}

/// The file that a state is in, if it is in one.
fn place_of(context: &FileContext<'_>, key: &str) -> Option<PathBuf> {
    match context.backends.store(key) {
        Some(store) => store.facts().state_file,
        None => context.suite.kept.path(&context.file.name, key),
    }
}

async fn save_if_unknown(context: &FileContext<'_>, key: &str) {
    let (kept, file) = (&context.suite.kept, &context.file.name);
    if context.backends.store(key).is_none()
        && kept.path(file, key).is_none()
        && let Err(problems) = kept.save(file, key, context.outside_variables, &context.state(key)).await
    {
        context.suite.listener.diagnostics(problems);
    }
}

/// Adds states that are in the manifest although no run came to know them: their apply failed before it began, or was cut short.
async fn find_unfinished(context: &FileContext<'_>, ended: &mut BTreeMap<String, Option<Reason>>) -> TestStatus {
    let mut status = TestStatus::Pending;
    if context.suite.setup.stop.is_killed() {
        return status;
    }
    let file = &context.file.name;
    for key in context.suite.kept.of_file(file).into_keys().filter(|key| !ended.contains_key(key)).collect::<Vec<_>>() {
        let (left, diagnostics) = match context.suite.kept.load(file, &key).await {
            Ok(state) => (objects_of(&state), Diagnostics::new()),
            Err(found) => (Vec::new(), found),
        };
        if left.is_empty() && !diagnostics.has_errors() {
            ended.insert(key, None);
            continue;
        }
        status = TestStatus::Error;
        let kept = place_of(context, &key);
        let run = context.order.iter().rposition(|run| run.state_key == key);
        let run = run.map(|index| context.file.runs[index].name.clone());
        let (file, is_wanted, stays_in_backend) = (file.clone(), false, false);
        let report = TeardownReport { file, run, diagnostics, left, is_wanted, kept, stays_in_backend };
        context.suite.listener.torn_down(&report);
        ended.insert(key, Some(Reason::Error));
    }
    status
}

/// Says in the manifest why states are kept, and forgets the others. States in backends are not in it.
pub async fn record_reasons(context: &FileContext<'_>, ended: &BTreeMap<String, Option<Reason>>) -> TestStatus {
    let (kept, file) = (&context.suite.kept, &context.file.name);
    let own = ended.iter().filter(|(key, _)| context.backends.store(key).is_none());
    let mut reasons = restore::reasons(&own.map(|(key, reason)| (key.clone(), *reason)).collect());
    let mut problems = Diagnostics::new();
    for (key, reason) in &mut reasons {
        if *reason != Some(Reason::Dependency) {
            continue;
        }
        let state = context.state(key);
        if state.outputs.is_empty() {
            *reason = None;
        } else if let Err(found) = kept.save(file, key, context.outside_variables, &state).await {
            problems.extend(found);
            if !has_objects(&state) {
                // What is on the disk names objects that do not exist any more.
                *reason = None;
            }
        }
    }
    problems.extend(kept.record_reasons(file, &reasons).await.err().into_iter().flatten());
    if problems.is_empty() {
        return TestStatus::Pending;
    }
    context.suite.listener.diagnostics(problems);
    TestStatus::Error
}

/// Destroys one state. Its outputs stay: this or another state may need them to be destroyed later.
async fn destroy(context: &FileContext<'_>, key: &str, index: usize) -> Diagnostics {
    let outputs = context.state(key).outputs;
    let diagnostics = change(context, key, index, Mode::Destroy).await;
    let state = State { outputs, ..context.state(key) };
    context.set_state(key, state, index);
    diagnostics
}

/// Plans and applies with the configuration and the values of a run.
async fn change(context: &FileContext<'_>, key: &str, index: usize, mode: Mode) -> Diagnostics {
    let run = &context.file.runs[index];
    let suite = context.suite;
    let prepared = match prepare(context, run).await {
        Ok((prepared, _)) => prepared,
        Err(found) => return found,
    };
    let doubles = TestDoubles { overrides_prevention: at_least(14), ..TestDoubles::clone(&prepared.ports.doubles) };
    let mut ports = Ports { doubles: Arc::new(doubles), ..prepared.ports };
    let outputs = context.outputs();
    let module = prepared.facts.config().root.clone();
    let (mut values, missing) = lookup(context, run, &module, &outputs).of_run(run, false);
    let lacks_values = missing.has_errors();
    if lacks_values {
        if mode != Mode::Destroy {
            return missing;
        }
        add_unknown(&mut values, &module);
        ports.providers = Arc::new(KnownConfigurations(ports.providers));
    }
    let scope = PlanScope {
        mode,
        // Nothing that was found outside would keep the objects.
        refresh: if mode == Mode::Normal || at_least(13) || lacks_values { Refresh::Never } else { Refresh::All },
        deferral_allowed: suite.request.deferral_allowed,
        parallelism: suite.request.parallelism,
        ..PlanScope::default()
    };
    let state = context.state(key);
    let input = PlanInput { facts: prepared.facts.clone(), state, variables: values.given.clone(), scope };
    let Some((plan, mut diagnostics)) = suite.unless_abandoned(engine::plan(input, &ports)).await else {
        return missing.into_iter().chain([interrupted()]).collect();
    };
    if let (false, Some(plan)) = (diagnostics.has_errors(), plan) {
        let input = ApplyInput {
            facts: prepared.facts.clone(),
            plan: plan.into(),
            variables: values.given,
            parallelism: suite.request.parallelism,
        };
        diagnostics.extend(apply(context, key, index, mode, input, &ports).await);
    }
    // Values that a destroy did well without are not reported.
    match diagnostics.has_errors() || !lacks_values {
        true => missing.into_iter().chain(diagnostics).collect(),
        false => diagnostics,
    }
}

/// Gives unknown values to variables that have none: a destroy needs only those of provider configurations.
fn add_unknown(values: &mut RunValues, module: &Module) {
    for variable in module.variables.values().filter(|variable| variable.default.is_none()) {
        let unknown = GivenVariable { value: Value::dynamic(), origin: Origin::Other };
        values.given.entry(variable.name.clone()).or_insert(unknown);
    }
}

/// Applies a plan, with a record on the disk.
async fn apply(
    context: &FileContext<'_>,
    key: &str,
    index: usize,
    mode: Mode,
    input: ApplyInput,
    ports: &Ports,
) -> Diagnostics {
    let run = &context.file.runs[index];
    let is_destroy = mode == Mode::Destroy;
    let opened = match is_destroy {
        true => RunRecord::of_destroy(context, run, key, ports).await,
        false => RunRecord::of(context, run, key, ports).await.map(|record| (record, Diagnostics::new())),
    };
    let (record, mut of_record) = match opened {
        Ok(opened) => opened,
        Err(found) => return found,
    };
    let outputs = context.state(key).outputs;
    let done = context.suite.unless_abandoned(engine::apply(input, &record.ports)).await;
    let state = done.as_ref().and_then(|(outcome, _)| outcome.state.clone());
    let state = state.map(|state| if is_destroy { State { outputs, ..state } } else { state });
    of_record.extend(record.finish(state.as_ref()).await);
    if is_destroy && state.as_ref().is_some_and(|state| !has_objects(state)) {
        // The kept state is removed: errors of writing it do not matter.
        of_record = of_record.into_iter().filter(|found| !found.is_error()).collect();
    }
    let mut diagnostics = of_record;
    if done.is_none() || context.suite.setup.stop.is_killed() {
        diagnostics.push(interrupted());
    }
    diagnostics.extend(done.into_iter().flat_map(|(_, found)| found));
    if let Some(state) = state {
        context.set_state(key, state, index);
    }
    diagnostics
}

/// Reports what exists when the user does not wait for the teardown.
pub fn report_abandoned(context: &FileContext<'_>) {
    let (run, creating) = match context.applies.first() {
        Some((index, creating)) => (Some(&context.file.runs[index]), creating),
        None => (None, Vec::new()),
    };
    let file = &context.file.name;
    let known: BTreeSet<String> = context.suite.kept.of_file(file).into_keys().collect();
    context.suite.listener.abandoned(&AbandonedReport {
        file: file.clone(),
        run: run.map(|run| run.name.clone()),
        module: run.and_then(source_of),
        states: abandoned_states(context),
        creating,
        kept: known.iter().filter_map(|key| place_of(context, key)).collect(),
    });
}

/// The source of the module that a run tests in place of the root.
fn source_of(run: &TestRun) -> Option<String> {
    run.module.as_ref().map(|call| call.source.clone())
}

/// The states with objects: that of the root module, then those of the others in the order of the runs that wrote them last.
fn abandoned_states(context: &FileContext<'_>) -> Vec<AbandonedState> {
    let mut states: Vec<(String, KeptState)> = context.states().into_iter().collect();
    // From Terraform 1.12, they are in the order of their keys.
    states.sort_by_key(|(key, kept)| (!key.is_empty(), kept.last_run.filter(|_| !at_least(12))));
    let report = |(key, kept): (String, KeptState)| {
        let run = kept.last_run.map(|index| &context.file.runs[index]);
        let objects = objects_of(&kept.state);
        AbandonedState { key, run: run.map(|run| run.name.clone()), module: run.and_then(source_of), objects }
    };
    states.into_iter().map(report).filter(|state| !state.objects.is_empty()).collect()
}
