//! The words of `test` that several of its outputs use.

use std::fmt::Write;
use std::time::Duration;

use base::diag::{Diagnostic, Kind};
use base::name::PROGRAM;
use base::stop::Stage;
use model::version::at_least;
use ops::interface::testing::{AbandonedState, LeftObject, SuiteReport, TestProgress, TestStatus};
use render::json::testing::TestCounts;
use terrane_value::text::go_quoted;

/// After a suite of which changed files are executed again.
pub const WAITING: &str = "Waiting for changes of files. An interrupt ends the command.";

/// What people read: errors are failures too.
pub fn status_word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Error => "fail",
        other => status_name(other),
    }
}

/// What programs read.
pub fn status_name(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Pending => "pending",
        TestStatus::Skip => "skip",
        TestStatus::Pass => "pass",
        TestStatus::Fail => "fail",
        TestStatus::Error => "error",
    }
}

pub fn progress_name(progress: TestProgress) -> &'static str {
    match progress {
        TestProgress::Starting => "starting",
        TestProgress::Running => "running",
        TestProgress::TearDown => "teardown",
        TestProgress::Complete => "complete",
    }
}

/// What people read of a file or a run that is not over; none if it is.
pub fn progress_word(progress: TestProgress) -> Option<&'static str> {
    match progress {
        TestProgress::Starting | TestProgress::Running => Some("in progress"),
        TestProgress::TearDown => Some("tearing down"),
        TestProgress::Complete => None,
    }
}

pub fn counts(suite: &SuiteReport) -> TestCounts {
    let mut counts = TestCounts::default();
    for run in suite.files.iter().flat_map(|file| &file.runs) {
        match run.status {
            TestStatus::Pending => {}
            TestStatus::Skip => counts.skipped += 1,
            TestStatus::Pass => counts.passed += 1,
            TestStatus::Fail => counts.failed += 1,
            TestStatus::Error => counts.errored += 1,
        }
    }
    counts
}

/// The last line: its first word, if the suite has a result, and the rest.
pub fn conclusion(suite: &SuiteReport) -> (Option<&'static str>, String) {
    let TestCounts { passed, failed, errored, skipped } = counts(suite);
    let skipped = if skipped > 0 { format!(", {skipped} skipped.") } else { ".".to_owned() };
    let verdict = if suite.status <= TestStatus::Pass { "Success!" } else { "Failure!" };
    if suite.is_cleanup {
        return (Some(verdict), String::new());
    }
    if suite.status <= TestStatus::Skip {
        return (None, format!("Executed 0 tests{skipped}"));
    }
    (Some(verdict), format!(" {passed} passed, {} failed{skipped}", failed + errored))
}

/// What an interrupt says.
pub fn interrupt(stage: Stage) -> Option<String> {
    match stage {
        Stage::Running => None,
        Stage::Stopping => Some(format!(
            "\nInterrupt received.\nPlease wait for {PROGRAM} to exit or data loss may occur.\nGracefully shutting down...\n"
        )),
        Stage::Killed => {
            Some("\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n".to_owned())
        }
    }
}

/// A list of objects, a line each.
pub fn objects(left: &[LeftObject]) -> String {
    let mut out = String::new();
    for object in left {
        let _ = match &object.deposed {
            Some(key) => writeln!(out, "  - {} ({key})", object.addr),
            None => writeln!(out, "  - {}", object.addr),
        };
    }
    out
}

/// What programs read of an abandoned state: Terraform 1.11 names it by the run that wrote it last, later releases by its key. That of the
/// root module has no name.
pub fn state_name(state: &AbandonedState) -> &str {
    if state.key.is_empty() {
        return "";
    }
    state.run.as_deref().filter(|_| !at_least(12)).unwrap_or(&state.key)
}

/// What the objects of an abandoned state are for, as people read it.
pub fn state_owner(state: &AbandonedState) -> String {
    const ROOT: &str = "from the module under test";
    match (&state.run, &state.module) {
        _ if state.key.is_empty() => ROOT.to_owned(),
        (Some(run), Some(module)) if !at_least(12) => format!("for {} from {}", go_quoted(run), go_quoted(module)),
        (Some(run), None) if !at_least(12) => format!("for {} {ROOT}", go_quoted(run)),
        _ => format!("for {}", go_quoted(&state.key)),
    }
}

/// The warning where a plan or a state cannot be shown.
pub fn not_shown(what: &str, why: &str) -> Diagnostic {
    let detail = format!("{PROGRAM} could not marshal the {what} for display: {why}");
    Diagnostic::warning(format!("Failed to render test {what}"), detail)
}

/// Whether a diagnostic is an assertion that is false, rather than an error of the run.
pub fn is_failed_assertion(diagnostic: &Diagnostic) -> bool {
    diagnostic.is_error() && diagnostic.kind == Kind::FailedAssertion
}

/// The runs that took longest, a line each.
pub fn slowest(suite: &SuiteReport, count: usize) -> String {
    let runs = suite.files.iter().flat_map(|file| file.runs.iter().map(move |run| (&file.name, run)));
    let mut timed: Vec<(Duration, &str, &str)> =
        runs.filter_map(|(file, run)| Some((run.timing?.duration, file.as_str(), &*run.name))).collect();
    if count == 0 || timed.is_empty() {
        return String::new();
    }
    timed.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    timed.truncate(count);
    let mut out = "\nSlowest runs:\n".to_owned();
    for (duration, file, run) in timed {
        let _ = writeln!(out, "{:>9.2}s  {file}/{run}", duration.as_secs_f64());
    }
    out
}

#[cfg(test)]
mod tests {
    use TestStatus::{Error, Fail, Pass, Pending, Skip};

    use super::*;
    use crate::view::test::sample_tests::{self as samples, run};

    #[test]
    fn the_last_line_counts_runs() {
        let of = |status, runs| {
            let files = vec![samples::file("f", status, runs)];
            let suite = SuiteReport { status, files, ..SuiteReport::default() };
            let (verdict, rest) = conclusion(&suite);
            format!("{}{rest}", verdict.unwrap_or_default())
        };
        assert_eq!(of(Pending, vec![]), "Executed 0 tests.");
        assert_eq!(of(Skip, vec![run("a", Skip)]), "Executed 0 tests, 1 skipped.");
        assert_eq!(of(Pass, vec![]), "Success! 0 passed, 0 failed.");
        let all = vec![run("a", Pass), run("b", Fail), run("c", Error), run("d", Skip)];
        assert_eq!(of(Error, all), "Failure! 1 passed, 2 failed, 1 skipped.");
        let cleanup = SuiteReport { is_cleanup: true, ..SuiteReport::default() };
        assert_eq!(conclusion(&cleanup), (Some("Success!"), String::new()));
    }

    #[test]
    fn the_slowest_runs_are_listed() {
        let suite = samples::mixed();
        assert_eq!(slowest(&suite, 0), "");
        assert_eq!(
            slowest(&suite, 2),
            "\nSlowest runs:\n     1.50s  main.tftest.hcl/one\n     0.25s  main.tftest.hcl/two\n"
        );
    }
}
