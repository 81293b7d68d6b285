//! One run: its configuration is prepared and validated, planned, and applied unless `command = plan`; then its assertions are judged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use base::diag::{Diagnostic, Diagnostics};
use engine::ports::{Observer, Ports};
use engine::{Facts, ValidateInput};
use model::addr::parse::{parse_abs_instance_traversal, parse_target_traversal};
use model::addr::{AbsResourceInstance, Target};
use model::config::test_file::{TestCommand, TestRun};
use model::plan::{Mode, PlanScope, Refresh};
use model::state::State;
use terrane_value::Value;

use super::context::{FileContext, objects_of};
use super::doubles::Doubles;
use super::providers::{self, Prepared};
use super::run_backend;
use super::run_step::{RunStep, end_early};
use super::shared_facts::FactsKey;
use super::variables::{Lookup, RunValues};
use crate::interface::listen::SilentListener;
use crate::interface::testing::{RunReport, RunTiming, SkipReason, TestStatus};
use crate::run::open::replaces_in_another_mode;
use crate::run::session::sinkless_ports;

/// The error of what was abandoned after the second interrupt.
pub fn interrupted() -> Diagnostic {
    let detail = "The test operation could not be completed due to an interrupt signal. Please read the remaining diagnostics carefully \
                  for any sign of failed state cleanup or dangling resources.";
    Diagnostic::error("Test interrupted", detail)
}

/// What a run works with, once its configuration is prepared.
pub struct PreparedRun {
    pub facts: Arc<Facts>,
    pub ports: Ports,
}

/// Executes a run. Returns how it ended; its outputs and its state are kept in the file's context.
pub async fn execute(context: &FileContext<'_>, index: usize) -> RunReport {
    let run = &context.file.runs[index];
    let (start, clock) = (context.suite.host.now(), Instant::now());
    let mut report = RunReport {
        name: run.name.clone(),
        index,
        assertions: run.asserts.len(),
        status: TestStatus::Pending,
        diagnostics: run.check(context.base_of(run)),
        timing: None,
        verbose: None,
        skip_reason: None,
    };
    if !report.diagnostics.has_errors() && !is_file_sound(context, run) {
        (report.status, report.skip_reason) = (TestStatus::Skip, Some(SkipReason::EarlierError));
        return report;
    }
    report.status = match report.diagnostics.has_errors() {
        true => TestStatus::Error,
        false => work(context, index, &mut report).await,
    };
    report.timing = Some(RunTiming { start, duration: clock.elapsed() });
    report
}

/// Whether the values and `provider` blocks of the file that a run uses have no errors. What is wrong with them goes to the file.
fn is_file_sound(context: &FileContext<'_>, run: &TestRun) -> bool {
    let (base, outputs) = (context.base_of(run), context.outputs());
    let blocks = providers::blocks_of(base, context.file, run);
    let found = lookup(context, run, &base.root, &outputs).check_file(run, &blocks);
    let failed = found.has_errors();
    context.add_diagnostics(found);
    !failed
}

async fn work(context: &FileContext<'_>, index: usize, report: &mut RunReport) -> TestStatus {
    let run = &context.file.runs[index];
    let (prepared, found) = match prepare(context, run).await {
        Ok(prepared) => prepared,
        Err(found) => return end_early(context, run, &context.base_of(run).root, found, report),
    };
    report.diagnostics.extend(found);
    let root = prepared.facts.config().root.clone();
    let values = match values(context, run, &prepared, report).await {
        Ok(Some(values)) => values,
        Ok(None) => {
            report.diagnostics.push(interrupted());
            return TestStatus::Error;
        }
        Err(found) => return end_early(context, run, &root, found, report),
    };
    let scope = match scope(context, run) {
        Ok(scope) => scope,
        Err(found) => {
            report.diagnostics.extend(found);
            return TestStatus::Error;
        }
    };
    let step = RunStep { context, run, index, prepared: &prepared, values: &values };
    match run.command {
        TestCommand::Plan => step.plan(scope, report).await,
        TestCommand::Apply => step.apply(scope, report).await,
    }
}

/// Validates the configuration of a run, opens its backend and evaluates its values. None if the user interrupted it. Warnings go to the
/// report, unless errors are returned with them.
async fn values(
    context: &FileContext<'_>,
    run: &TestRun,
    prepared: &PreparedRun,
    report: &mut RunReport,
) -> Result<Option<RunValues>, Diagnostics> {
    let check = ValidateInput { facts: prepared.facts.clone(), parallelism: context.suite.request.parallelism };
    let validation = context.suite.facts.validated(&prepared.facts, engine::validate(check, &prepared.ports));
    let Some(found) = context.suite.unless_abandoned(validation).await else { return Ok(None) };
    if found.has_errors() {
        return Err(found);
    }
    report.diagnostics.extend(found);
    report.diagnostics.extend(run_backend::open_state(context, run).await?);
    let root = prepared.facts.config().root.clone();
    let outputs = context.outputs();
    let (values, found) = lookup(context, run, &root, &outputs).of_run(run, true);
    if found.has_errors() {
        return Err(found);
    }
    report.diagnostics.extend(found);
    Ok(Some(values))
}

/// The values of names in the file, as a run sees them.
pub fn lookup<'a>(
    context: &'a FileContext<'_>,
    run: &TestRun,
    module: &'a model::config::Module,
    outputs: &'a BTreeMap<Arc<str>, Option<Value>>,
) -> Lookup<'a> {
    Lookup {
        file: context.file,
        outside: &context.suite.outside,
        module,
        runs: outputs,
        host: &*context.suite.host,
        each: run.instance.as_ref().map(|instance| (instance.key.clone(), instance.value.clone())),
        open: Default::default(),
    }
}

/// The configuration of a run with the file's providers, and ports that know its mocks.
pub async fn prepare(context: &FileContext<'_>, run: &TestRun) -> Result<(PreparedRun, Diagnostics), Diagnostics> {
    let (prepared, mut diagnostics) = providers::prepare(context.base_of(run), context.file, run);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let Prepared { config, mocks } = prepared;
    let outputs = context.outputs();
    let names = lookup(context, run, &config.root, &outputs).names_for_providers();
    let doubles = diagnostics.take(Doubles::of(context, run, &config, mocks, names));
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let key = FactsKey::of(context.base_of(run), &config, &doubles.mocked());
    let facts = context.suite.facts.of(key, &config);
    let observer: Arc<dyn Observer> = Arc::new(SilentListener);
    let ports = sinkless_ports(&context.suite.setup, doubles.providers(context), observer);
    let (doubles, coverage) = (Arc::new(doubles.of_engine()), context.suite.coverage.clone());
    let turns = Some(context.suite.turns.clone());
    let ports = Ports { stop: context.suite.work.clone(), doubles, coverage, turns, ..ports };
    Ok((PreparedRun { facts, ports }, diagnostics))
}

/// What the run's plan is limited to.
fn scope(context: &FileContext<'_>, run: &TestRun) -> Result<PlanScope, Diagnostics> {
    let mut problems = Diagnostics::new();
    let file = &run.range.file;
    let mut targets: Vec<Target> = Vec::new();
    for traversal in &run.options.target {
        match parse_target_traversal(traversal, file) {
            Ok(target) => targets.push(target),
            Err(problem) => problems.push(problem),
        }
    }
    let mut force_replace: Vec<AbsResourceInstance> = Vec::new();
    for traversal in &run.options.replace {
        match parse_abs_instance_traversal(traversal, file) {
            Ok(instance) => force_replace.push(instance),
            Err(problem) => problems.push(problem),
        }
    }
    if run.options.refresh_only && !force_replace.is_empty() {
        problems.push(replaces_in_another_mode());
    }
    if problems.has_errors() {
        return Err(problems);
    }
    Ok(PlanScope {
        mode: if run.options.refresh_only { Mode::RefreshOnly } else { Mode::Normal },
        refresh: if run.options.refresh { Refresh::All } else { Refresh::Never },
        targets,
        force_replace,
        deferral_allowed: context.suite.request.deferral_allowed,
        parallelism: context.suite.request.parallelism,
        ..PlanScope::default()
    })
}

/// Whether a state has something to destroy.
pub fn has_objects(state: &State) -> bool {
    !objects_of(state).is_empty()
}
