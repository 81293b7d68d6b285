//! What did not pass the last time: `.terraform/test/last.json`, for `-last-failed`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};

use super::kept;
use super::select::FailedRun;
use crate::interface::testing::{RunReport, SkipReason, SuiteReport, TestStatus};
use crate::setup::Setup;

const FILE: &str = "last.json";

#[derive(Debug, Default, Serialize, Deserialize)]
struct LastRun {
    version: u64,
    failed: Vec<StoredRun>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredRun {
    file: String,
    run: Option<String>,
}

fn path(setup: &Setup) -> PathBuf {
    kept::folder(setup).join(FILE)
}

/// The files and runs that did not pass the last time; none if there was no last time.
pub fn failed(setup: &Setup) -> Result<Option<Vec<FailedRun>>, Diagnostic> {
    let path = path(setup);
    let unreadable = |error: &dyn std::fmt::Display| {
        let detail = format!("{}: {error}. Remove the file to execute all tests.", path.display());
        Diagnostic::error("Failed to read what the last tests left", detail)
    };
    let content = match std::fs::read(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let last: LastRun = serde_json::from_slice(&content).map_err(|error| unreadable(&error))?;
    Ok(Some(last.failed.into_iter().map(|one| (one.file, one.run.map(Arc::from))).collect()))
}

/// Keeps what did not pass. Results of runs that were not executed this time stay as they were.
pub fn keep(setup: &Setup, report: &SuiteReport) -> Diagnostics {
    let path = path(setup);
    let before = failed(setup).ok().flatten().unwrap_or_default();
    let failed = still_failed(&before, report).into_iter();
    let failed = failed.map(|(file, run)| StoredRun { file, run: run.map(|run| run.to_string()) }).collect();
    let written = write(&path, &LastRun { version: 0, failed });
    written.err().map(|error| not_kept(&path, &error)).into_iter().collect()
}

/// What did not pass this time, and before if it was not executed this time.
fn still_failed(before: &[FailedRun], report: &SuiteReport) -> Vec<FailedRun> {
    let mut left = Vec::new();
    for file in &report.files {
        let of_run = |run: &RunReport| (file.name.clone(), Some(run.name.clone()));
        let is_left = |run: &RunReport| match (run.status, run.skip_reason) {
            (TestStatus::Pass, _) => false,
            (_, Some(SkipReason::NotSelected)) => before.contains(&of_run(run)),
            _ => true,
        };
        let runs: Vec<FailedRun> = file.runs.iter().filter(|run| is_left(run)).map(of_run).collect();
        if runs.is_empty() && file.status > TestStatus::Pass {
            left.push((file.name.clone(), None));
        }
        left.extend(runs);
    }
    let is_executed = |name: &str| report.files.iter().any(|file| file.name == name);
    left.extend(before.iter().filter(|(file, _)| !is_executed(file)).cloned());
    left
}

fn write(path: &Path, last: &LastRun) -> io::Result<()> {
    if last.failed.is_empty() && !path.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(atomic::directory_of(path))?;
    let text = serde_json::to_vec_pretty(last).map_err(io::Error::other)?;
    atomic::write_private_content(path, &text)
}

/// A warning: the tests are not affected.
fn not_kept(path: &Path, error: &io::Error) -> Diagnostic {
    let detail =
        format!("{}: {error}. The next -last-failed does not know the results of these tests.", path.display());
    Diagnostic::warning("Failed to keep the results of the tests", detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::testing::FileReport;

    #[test]
    fn results_of_runs_that_were_not_executed_stay() {
        let run = |name: &str, status, skip_reason| RunReport {
            name: name.into(),
            index: 0,
            assertions: 0,
            status,
            diagnostics: Diagnostics::new(),
            timing: None,
            verbose: None,
            skip_reason,
        };
        let file = |name: &str, status, runs| FileReport { name: name.into(), status, runs, ..FileReport::default() };
        let not_selected = Some(SkipReason::NotSelected);
        let runs = vec![
            run("passes", TestStatus::Pass, None),
            run("fails", TestStatus::Fail, None),
            run("failed", TestStatus::Skip, not_selected),
            run("passed", TestStatus::Skip, not_selected),
            run("skipped", TestStatus::Skip, Some(SkipReason::EarlierError)),
        ];
        let files = vec![file("a", TestStatus::Fail, runs), file("b", TestStatus::Error, Vec::new())];
        let report = SuiteReport { files, ..SuiteReport::default() };
        let before: Vec<FailedRun> = [("a", "passes"), ("a", "failed"), ("c", "x")]
            .map(|(file, run)| (file.to_owned(), Some(Arc::from(run))))
            .into();
        let left = still_failed(&before, &report);
        let left: Vec<String> =
            left.iter().map(|(file, run)| format!("{file}:{}", run.as_deref().unwrap_or_default())).collect();
        assert_eq!(left, ["a:fails", "a:failed", "a:skipped", "b:", "c:x"]);
    }
}
