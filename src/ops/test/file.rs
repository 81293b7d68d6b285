//! One test file: its runs in their order, each once those that it waits for have ended, then the teardown.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use model::version::at_least;

use super::context::FileContext;
use super::{kept, order, run, snapshot, teardown};
use crate::interface::testing::{FileReport, RunReport, SkipReason, TestProgress, TestStatus};

/// Every how many seconds a run that goes on is reported.
const REPORT_PAUSE: Duration = Duration::from_secs(2);

/// Executes a file. Returns what came of it; its states are destroyed.
pub async fn execute(context: &FileContext<'_>) -> FileReport {
    let listener = &context.suite.listener;
    let mut report = FileReport {
        name: context.file.name.clone(),
        diagnostics: context.file.check(&context.suite.config),
        ..FileReport::default()
    };
    listener.file(&report, TestProgress::Starting);
    if !context.suite.kept.of_file(&context.file.name).is_empty() {
        report.diagnostics.push(kept::not_empty(&context.file.name));
    }
    if report.diagnostics.has_errors() {
        report.runs =
            (0..context.file.runs.len()).map(|index| skipped(context, index, SkipReason::EarlierError)).collect();
        report.status = TestStatus::Error;
        listener.file(&report, TestProgress::Complete);
        return report;
    }
    report.runs = runs(context).await;
    let status = report.runs.iter().map(|run| run.status).max().unwrap_or(TestStatus::Pass);
    report.status = status.max(TestStatus::Skip);
    let mut found = context.take_diagnostics();
    found.extend(snapshot::finish(context));
    let is_killed = context.suite.setup.stop.is_killed();
    if found.has_errors() || is_killed {
        report.status = TestStatus::Error;
    }
    report.diagnostics.extend(found);
    if !(is_killed && at_least(12)) {
        listener.file(&report, TestProgress::TearDown);
    }
    if !is_killed {
        report.status = report.status.max(teardown::destroy_all(context, &report.runs).await);
    }
    report.diagnostics.extend(context.backends.release().await);
    listener.file(&report, TestProgress::Complete);
    report
}

/// A run that waits, or how it ended.
#[derive(Clone)]
enum RunState {
    Waiting,
    Executing,
    Ended(Box<RunReport>),
}

async fn runs(context: &FileContext<'_>) -> Vec<RunReport> {
    let waits = order::predecessors(&context.order);
    let mut states = vec![RunState::Waiting; context.file.runs.len()];
    let mut executing = FuturesUnordered::new();
    loop {
        start_ready(context, &waits, &mut states, |index| executing.push(execute_reported(context, index)));
        match executing.next().await {
            Some(report) => {
                let report: RunReport = report;
                context.suite.listener.run(&context.file.name, &report, TestProgress::Complete, Duration::ZERO);
                let index = report.index;
                states[index] = RunState::Ended(Box::new(report));
            }
            None => break,
        }
    }
    let ended = |(index, state): (usize, RunState)| match state {
        RunState::Ended(report) => *report,
        RunState::Waiting | RunState::Executing => empty_report(context, index),
    };
    states.into_iter().enumerate().map(ended).collect()
}

/// Starts every run that waits for nothing any more, in the order of the file, and skips those that cannot be executed.
fn start_ready(
    context: &FileContext<'_>,
    waits: &[BTreeSet<usize>],
    states: &mut [RunState],
    mut start: impl FnMut(usize),
) {
    for index in 0..states.len() {
        if !matches!(states[index], RunState::Waiting) {
            continue;
        }
        let executing = states.iter().filter(|state| matches!(state, RunState::Executing)).count();
        if executing >= context.suite.request.run_parallelism.max(1) {
            return;
        }
        let waits: Vec<usize> = waits[index].iter().copied().filter(|other| context.selected.contains(other)).collect();
        let ended = |other: &usize| match &states[*other] {
            RunState::Ended(report) => Some(report.status),
            RunState::Waiting | RunState::Executing => None,
        };
        let earlier: Vec<TestStatus> = waits.iter().filter_map(ended).collect();
        if earlier.len() < waits.len() {
            continue;
        }
        if context.suite.setup.stop.is_killed() {
            return;
        }
        let reason = if !context.selected.contains(&index) {
            Some(SkipReason::NotSelected)
        } else if context.suite.setup.stop.is_stopping() {
            Some(SkipReason::Interrupted)
        } else {
            (!order::is_ready(&earlier)).then_some(SkipReason::EarlierError)
        };
        match reason {
            Some(reason) => {
                let report = skipped(context, index, reason);
                context.suite.listener.run(&context.file.name, &report, TestProgress::Complete, Duration::ZERO);
                states[index] = RunState::Ended(Box::new(report));
            }
            None => {
                states[index] = RunState::Executing;
                start(index);
            }
        }
    }
}

/// Executes a run, and reports every two seconds that it goes on.
async fn execute_reported(context: &FileContext<'_>, index: usize) -> RunReport {
    let listener = &context.suite.listener;
    let empty = empty_report(context, index);
    listener.run(&context.file.name, &empty, TestProgress::Starting, Duration::ZERO);
    let clock = std::time::Instant::now();
    context.applies.begin(index, Vec::new());
    let work = run::execute(context, index);
    tokio::pin!(work);
    loop {
        tokio::select! {
            report = &mut work => {
                let report = without_isolated_state(context, report).await;
                context.snapshots.end_run(&report.name, report.status);
                context.applies.end(index);
                return report;
            }
            () = tokio::time::sleep(REPORT_PAUSE) => {
                listener.run(&context.file.name, &empty, TestProgress::Running, clock.elapsed());
            }
        }
    }
}

/// The report of a run, once what it left is destroyed if it is isolated.
async fn without_isolated_state(context: &FileContext<'_>, mut report: RunReport) -> RunReport {
    let run = &context.file.runs[report.index];
    if run.isolated {
        let reports = std::slice::from_ref(&report);
        let status = teardown::destroy_state(context, &run.state_key(), reports).await;
        report.status = report.status.max(status);
    }
    report
}

fn skipped(context: &FileContext<'_>, index: usize, reason: SkipReason) -> RunReport {
    RunReport { status: TestStatus::Skip, skip_reason: Some(reason), ..empty_report(context, index) }
}

/// The report of a run before it is executed.
pub fn empty_report(context: &FileContext<'_>, index: usize) -> RunReport {
    RunReport {
        name: context.file.runs[index].name.clone(),
        index,
        assertions: context.file.runs[index].asserts.len(),
        status: TestStatus::Pending,
        diagnostics: Default::default(),
        timing: None,
        verbose: None,
        skip_reason: None,
    }
}
