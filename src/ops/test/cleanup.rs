//! `test cleanup`: destroys the states that earlier tests left, or brings them back to what they should be. States in backends of runs
//! are there to be used again: they stay, and their objects are named. As Terraform, it destroys these, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Severity};
use base::name::COMMAND;
use model::config::test_file::{TestCommand, TestFile};
use model::state::State;
use model::version::at_least;
use terrane_value::{Marks, Value};

use super::context::{FileContext, objects_of};
use super::kept::Reason;
use super::restore::{self, Disposal, Keeper, StateFacts};
use super::run::has_objects;
use super::{file, run_backend, teardown};
use crate::interface::testing::{Cleanup, FileReport, RunReport, SkipReason, TeardownReport, TestProgress, TestStatus};

/// Destroys what is kept of a file. For a repair, only what errors left; what is to be kept is restored.
pub async fn execute(context: &FileContext<'_>) -> FileReport {
    let cleanup = context.suite.request.cleanup.unwrap_or(Cleanup { repair: false });
    let listener = &context.suite.listener;
    let mut report = FileReport {
        name: context.file.name.clone(),
        status: TestStatus::Pass,
        runs: run_reports(context),
        ..FileReport::default()
    };
    listener.file(&report, TestProgress::Starting);
    if let Some(problem) = missing_values(context) {
        let skipped = |run| RunReport { status: TestStatus::Skip, skip_reason: Some(SkipReason::EarlierError), ..run };
        report.runs = report.runs.into_iter().map(skipped).collect();
        report.status = TestStatus::Error;
        report.diagnostics.push(problem);
        listener.file(&report, TestProgress::Complete);
        return report;
    }
    let (mut disposals, untouched) = load_states(context, cleanup, &mut report).await;
    let cleans_backends = teardown::cleans_backends(context);
    let mut unopened = BTreeSet::new();
    if cleans_backends || !disposals.is_empty() {
        unopened = open_backends(context, &mut report).await;
    }
    if cleans_backends {
        disposals.extend(disposals_in_backends(context, cleanup));
    }
    listener.file(&report, TestProgress::TearDown);
    let (status, mut ended) = teardown::end_states(context, disposals, &report.runs).await;
    report.status = report.status.max(status);
    ended.extend(untouched.into_iter().map(|(key, reason)| (key, Some(reason))));
    report.status = report.status.max(teardown::record_reasons(context, &ended).await);
    if !cleans_backends && !context.suite.setup.stop.is_killed() {
        report.diagnostics.extend(name_in_backends(context, &unopened).await);
    }
    report.diagnostics.extend(context.backends.release().await);
    listener.file(&report, TestProgress::Complete);
    report
}

/// The error about variables that had a value from outside when the states of the file were created, and have none now. Defaults could
/// lead a provider to another place, such as another region, where the objects do not exist, so that they would be forgotten.
fn missing_values(context: &FileContext<'_>) -> Option<Diagnostic> {
    let (suite, file) = (context.suite, context.file);
    let recorded = suite.kept.variables(&file.name);
    let missing = recorded.iter().filter(|name| !suite.outside.has_value(file, name));
    let list: String = missing.map(|name| format!("\n  - {name}")).collect();
    if list.is_empty() {
        return None;
    }
    let detail = format!(
        "The states of {} were created with values for these variables, which are not stored with the states and are not given \
         now:\n{list}\n\n\
         With other values, a provider could look for the objects in another place and forget them, so nothing was destroyed. Run \
         \"{COMMAND} test cleanup\" with the values that the tests had: with -var or -var-file, or in the environment, as \
         TF_VAR_NAME. A variable that nothing uses any more may have any value.",
        file.name
    );
    Some(Diagnostic::error("Missing values of variables for the cleanup", detail))
}

/// The reports of the runs. A cleanup executes none of them. Since Terraform 1.14 all count as passed, and their teardown is reported.
fn run_reports(context: &FileContext<'_>) -> Vec<RunReport> {
    let runs = if at_least(14) { context.file.runs.len() } else { 0 };
    (0..runs).map(|index| RunReport { status: TestStatus::Pass, ..file::empty_report(context, index) }).collect()
}

/// Reads the states of a file and decides what to do with each. Those that nothing can be done with stay as they are.
async fn load_states(
    context: &FileContext<'_>,
    cleanup: Cleanup,
    report: &mut FileReport,
) -> (BTreeMap<String, Disposal>, BTreeMap<String, Reason>) {
    let (mut disposals, mut untouched) = (BTreeMap::new(), BTreeMap::new());
    for (key, kept) in context.suite.kept.of_file(&context.file.name) {
        let Some(last_run) = last_writer(context.file, &key) else {
            let place = context.suite.kept.path(&context.file.name, &key).unwrap_or_default();
            let detail = format!(
                "The state {key:?} of {} is kept, but no run of the file uses it any more, so it cannot be destroyed. It is in the file \
                 {}.",
                context.file.name,
                place.display()
            );
            report.diagnostics.push(Diagnostic::warning("Orphaned state", detail));
            report.status = TestStatus::Error;
            untouched.insert(key, kept.reason);
            continue;
        };
        match context.suite.kept.load(&context.file.name, &key).await {
            Ok(state) => {
                give_outputs(context, &key, &state);
                let keeper = keeper(context.file, &key);
                let facts = StateFacts { has_objects: has_objects(&state), last_run: Some(last_run), keeper };
                context.set_state(&key, state, last_run);
                disposals.insert(key, restore::in_cleanup(cleanup, kept.reason, facts));
            }
            Err(problems) => {
                report.diagnostics.extend(problems);
                report.status = TestStatus::Error;
                untouched.insert(key, kept.reason);
            }
        }
    }
    (disposals, untouched)
}

/// The last run that writes a state, or else the last that uses it.
fn last_writer(file: &TestFile, key: &str) -> Option<usize> {
    let uses = |index: &usize| file.runs[*index].state_key() == key;
    let positions: Vec<usize> = (0..file.runs.len()).filter(uses).collect();
    let writes = |index: &&usize| file.runs[**index].command == TestCommand::Apply;
    positions.iter().rfind(writes).or(positions.last()).copied()
}

/// The last run that asks to keep a state.
fn keeper(file: &TestFile, key: &str) -> Option<Keeper> {
    let keeps = |index: &usize| {
        let run = &file.runs[*index];
        run.command == TestCommand::Apply && run.state_key() == key && file.skips_cleanup(run)
    };
    (0..file.runs.len()).rfind(keeps).map(|run| Keeper { run, is_whole: true })
}

/// Locks and reads the states in backends, whose outputs the cleanup of others may need. Returns the keys of those that cannot be read.
async fn open_backends(context: &FileContext<'_>, report: &mut FileReport) -> BTreeSet<String> {
    let kept = context.suite.kept.of_file(&context.file.name);
    let mut unopened = BTreeSet::new();
    for (index, run) in context.file.runs.iter().enumerate().filter(|(_, run)| run.backend.is_some()) {
        let key = run.state_key();
        if kept.contains_key(&key) {
            // It is from before the run had a backend, and the one that is cleaned up.
            continue;
        }
        match run_backend::open_state(context, run).await {
            Ok(warnings) => {
                report.diagnostics.extend(warnings);
                give_outputs(context, &key, &context.state(&key));
            }
            Err(problems) => {
                report.diagnostics.extend(problems);
                report.status = TestStatus::Error;
                if let Some(run) = report.runs.get_mut(index) {
                    run.status = TestStatus::Fail;
                }
                unopened.insert(key);
            }
        }
    }
    unopened
}

/// What is done with the states in open backends: a run with a backend keeps its state as one with `skip_cleanup` does. Empty ones stay
/// empty.
fn disposals_in_backends(context: &FileContext<'_>, cleanup: Cleanup) -> BTreeMap<String, Disposal> {
    let runs = context.file.runs.iter().filter(|run| run.backend.is_some());
    let disposal = |key: String| {
        context.backends.store(&key)?;
        let state = context.state(&key);
        let last_run = last_writer(context.file, &key).filter(|_| has_objects(&state))?;
        context.set_state(&key, state, last_run);
        let facts = StateFacts { has_objects: true, last_run: Some(last_run), keeper: keeper(context.file, &key) };
        Some((key, restore::in_cleanup(cleanup, Reason::SkipCleanup, facts)))
    };
    runs.filter_map(|run| disposal(run.state_key())).collect()
}

/// Names the objects whose states stay in backends. Nothing has to be destroyed there, so what cannot be read is a warning. `unopened`:
/// the keys of states that could not be read before.
async fn name_in_backends(context: &FileContext<'_>, unopened: &BTreeSet<String>) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    for run in context.file.runs.iter().filter(|run| run.backend.is_some()) {
        let key = run.state_key();
        let found = match context.backends.store(&key) {
            Some(store) => Some((context.state(&key), store.facts().state_file)),
            None if unopened.contains(&key) => None,
            None => warnings.take(as_warnings(run_backend::read_state(context, run).await)),
        };
        let Some((state, kept)) = found.filter(|(state, _)| has_objects(state)) else { continue };
        let keeper = keeper(context.file, &key).map(|keeper| context.file.runs[keeper.run].name.clone());
        context.suite.listener.torn_down(&TeardownReport {
            file: context.file.name.clone(),
            run: keeper,
            diagnostics: Diagnostics::new(),
            left: objects_of(&state),
            is_wanted: true,
            kept,
            stays_in_backend: true,
        });
    }
    warnings
}

/// The value, and errors as warnings.
fn as_warnings<T>(found: Result<Option<T>, Diagnostics>) -> (Option<T>, Diagnostics) {
    let as_warning = |mut problem: Diagnostic| {
        problem.severity = Severity::Warning;
        problem
    };
    match found {
        Ok(value) => (value, Diagnostics::new()),
        Err(problems) => (None, problems.into_iter().map(as_warning).collect()),
    }
}

/// What the runs of a state gave, for the runs that refer to them.
fn give_outputs(context: &FileContext<'_>, key: &str, state: &State) {
    let outputs: BTreeMap<Arc<str>, Value> = state
        .outputs
        .iter()
        .map(|(name, output)| {
            let value = output.value.clone();
            let name: Arc<str> = Arc::from(&**name);
            (name, if output.sensitive { value.mark(Marks::SENSITIVE) } else { value })
        })
        .collect();
    for run in context.file.runs.iter().filter(|run| run.state_key() == key) {
        context.set_outputs(&run.name, Value::object(outputs.clone()));
    }
}

/// The errors about files of which states are kept and that are not there any more.
pub fn missing_files(tests: &[TestFile], kept: &[String]) -> Diagnostics {
    let is_gone = |name: &&String| !tests.iter().any(|file| file.name == **name);
    let error = |name: &String| {
        let detail = format!(
            "States of {name} are kept, but the file is not there any more, so their objects cannot be destroyed. Bring it back, or \
             destroy the objects by other means and remove the entry from the manifest in the folder of tests."
        );
        Diagnostic::error("Test file of kept states is missing", detail)
    };
    kept.iter().filter(is_gone).map(error).collect()
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_file;

    use super::*;

    #[test]
    fn the_run_in_charge_is_the_last_that_writes() {
        let text = "run \"a\" {}\nrun \"b\" {\n skip_cleanup = true\n}\nrun \"c\" {}\nrun \"d\" {\n command = plan\n}\n\
                    run \"e\" {\n command = plan\n state_key = \"k\"\n}\n";
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        let file = model::config::test_file::decode("a.tftest.hcl", &body, &mut Diagnostics::new());
        assert_eq!(last_writer(&file, ""), Some(2));
        assert_eq!(last_writer(&file, "k"), Some(4));
        assert_eq!(last_writer(&file, "gone"), None);
        assert_eq!(keeper(&file, "").map(|keeper| keeper.run), Some(1));
        assert_eq!(keeper(&file, "k"), None);
    }
}
