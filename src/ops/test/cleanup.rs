//! `test cleanup`: destroys the states that earlier tests left, or brings them back to what they should be.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use model::config::test_file::{TestCommand, TestFile};
use model::state::State;
use model::version::at_least;
use terrane_value::{Marks, Value};

use super::context::FileContext;
use super::kept::Reason;
use super::restore::{self, Disposal, Keeper, StateFacts};
use super::run::has_objects;
use super::{file, run_backend, teardown};
use crate::interface::testing::{Cleanup, FileReport, RunReport, TestProgress, TestStatus};

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
    let (disposals, untouched) = load_states(context, cleanup, &mut report).await;
    if !disposals.is_empty() {
        open_backends(context, &mut report).await;
    }
    listener.file(&report, TestProgress::TearDown);
    let (status, mut ended) = teardown::end_states(context, disposals, &report.runs).await;
    report.status = report.status.max(status);
    ended.extend(untouched.into_iter().map(|(key, reason)| (key, Some(reason))));
    report.status = report.status.max(teardown::record_reasons(context, &ended).await);
    report.diagnostics.extend(context.backends.release().await);
    listener.file(&report, TestProgress::Complete);
    report
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
            Ok((state, warnings)) => {
                report.diagnostics.extend(warnings);
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

/// Reads the outputs of states in backends. These states are not destroyed: they are there to be used again.
async fn open_backends(context: &FileContext<'_>, report: &mut FileReport) {
    for (index, run) in context.file.runs.iter().enumerate().filter(|(_, run)| run.backend.is_some()) {
        match run_backend::open_state(context, run).await {
            Ok(warnings) => {
                report.diagnostics.extend(warnings);
                let key = run.state_key();
                give_outputs(context, &key, &context.state(&key));
            }
            Err(problems) => {
                report.diagnostics.extend(problems);
                report.status = TestStatus::Error;
                if let Some(run) = report.runs.get_mut(index) {
                    run.status = TestStatus::Fail;
                }
            }
        }
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
