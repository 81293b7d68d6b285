//! `test` and `test cleanup`

use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::files::reason;
use base::{atomic, env};
use ops::interface::coverage::CoverageReport;
use ops::interface::testing::{SkipReason, SuiteReport, TestStatus};
use terrane_value::text::go_quoted;

use super::THREADS;
use crate::Invocation;
use crate::args::ArgsError;
use crate::args::test::{CoverageOutput, Test, parse, parse_cleanup};
use crate::view::test::{TestViewOptions, coverage, github, junit, listener, view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    execute(invocation, parse(args))
}

pub fn run_cleanup(invocation: &Invocation, args: &[String]) -> u8 {
    execute(invocation, parse_cleanup(args))
}

fn execute(invocation: &Invocation, parsed: Result<Test, ArgsError>) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parsed, |args| &args.request.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let in_automation = super::plan::in_automation(invocation);
    let options = TestViewOptions { in_automation, durations: args.durations };
    let view = view(&invocation.console, args.json, options);
    let listener = listener(&view);
    let interrupted = view.clone();
    let work = ops::test::run(&setup, &args.request, &listener);
    // Files that only plan or whose providers are mocked keep all processors busy.
    let threads = std::thread::available_parallelism().map_or(THREADS, NonZero::get).max(THREADS);
    let report = move |stage| interrupted.interrupted(stage);
    let done = super::run_on_threads(threads, invocation, &setup, report, work);
    let (suite, mut diagnostics) = match done {
        Ok(done) => done,
        Err(code) => {
            view.finish(Diagnostics::new());
            return code;
        }
    };
    let was_executed = !suite.files.is_empty() || !diagnostics.has_errors();
    if let Some(path) = args.junit.as_deref().filter(|_| was_executed && !setup.stop.is_killed()) {
        let report = junit::report(&suite, invocation.console.dialect());
        diagnostics.extend(save_junit(path, &report));
    }
    let mut coverage = String::new();
    if let Some(report) = suite.coverage.as_deref().filter(|_| was_executed && !setup.stop.is_killed()) {
        let (shown, problems) = save_coverage(&args.coverage, report);
        // The stream of JSON has the report already.
        coverage = if args.json { String::new() } else { shown };
        diagnostics.extend(problems);
    }
    let annotations =
        args.reports_to_github.then(|| github::annotations(&suite, &diagnostics, &repository_path(invocation)));
    if args.reports_to_github {
        diagnostics.extend(add_summary(invocation, &suite));
    }
    let was_cut_short = setup.stop.is_stopping() && (args.request.watch.is_none() || has_interrupted_runs(&suite));
    let failed = diagnostics.has_errors() || suite.status > TestStatus::Pass || was_cut_short;
    view.finish(diagnostics);
    invocation.console.print(&coverage);
    annotations.iter().for_each(|text| invocation.console.print(text));
    u8::from(failed)
}

/// Whether runs were not executed because of an interrupt.
fn has_interrupted_runs(suite: &SuiteReport) -> bool {
    let mut runs = suite.files.iter().flat_map(|file| &file.runs);
    runs.any(|run| run.skip_reason == Some(SkipReason::Interrupted) || run.status == TestStatus::Pending)
}

/// Writes the report in JUnit's format.
fn save_junit(path: &Path, report: &str) -> Option<Diagnostic> {
    let error = atomic::write_with(path, 0o660, |file| file.write_all(report.as_bytes())).err()?;
    let summary = format!("error saving JUnit XML to file {}", go_quoted(&path.display().to_string()));
    Some(Diagnostic::error(summary, format!("open {}: {}", path.display(), reason(&error))))
}

/// Writes the coverage to its files. Returns what is for standard output, and the errors of files that cannot be written.
fn save_coverage(outputs: &[CoverageOutput], report: &CoverageReport) -> (String, Diagnostics) {
    let now = jiff::Timestamp::now().as_millisecond();
    let (mut shown, mut diagnostics) = (String::new(), Diagnostics::new());
    for output in outputs {
        let text = coverage::render(report, output.format, now);
        let Some(path) = &output.file else {
            shown.push_str(&text);
            continue;
        };
        if let Err(error) = atomic::write(path, text.as_bytes()) {
            let detail = format!("The file {:?} cannot be written: {}.", path.display().to_string(), reason(&error));
            diagnostics.push(Diagnostic::error("Failed to write the coverage", detail));
        }
    }
    (shown, diagnostics)
}

/// The path of the working directory in the repository that GitHub has checked out; empty if it is not in it.
fn repository_path(invocation: &Invocation) -> PathBuf {
    let here = env::working_dir().unwrap_or_default();
    let repository = invocation.environment.non_empty(env::GITHUB_WORKSPACE);
    repository.and_then(|root| here.strip_prefix(root).ok()).map(Path::to_path_buf).unwrap_or_default()
}

/// Adds the summary of the suite to that of the job. Outside of a job there is no such file.
fn add_summary(invocation: &Invocation, suite: &SuiteReport) -> Diagnostics {
    let Some(path) = invocation.environment.non_empty(env::GITHUB_STEP_SUMMARY) else { return Diagnostics::new() };
    let text = github::summary(suite, invocation.console.dialect());
    let file = std::fs::File::options().append(true).create(true).open(path);
    let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) else { return Diagnostics::new() };
    let detail = format!("The file {path:?} that GITHUB_STEP_SUMMARY names cannot be written: {}.", reason(&error));
    Diagnostic::error("Failed to write the summary", detail).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::test::CoverageFormat;

    /// As the reference says it, 1.11.4.
    #[test]
    fn a_report_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zip/o.xml");
        let problem = save_junit(&path, "x").unwrap();
        assert_eq!(problem.summary, format!("error saving JUnit XML to file {:?}", path.display().to_string()));
        assert_eq!(problem.detail, format!("open {}: no such file or directory", path.display()));
        let path = folder.path().join("o.xml");
        assert!(save_junit(&path, "x").is_none());
        assert_eq!(std::fs::read_to_string(path).unwrap(), "x");
    }

    #[test]
    fn coverage_goes_to_files_and_to_standard_output() {
        let folder = tempfile::tempdir().unwrap();
        let (lcov, lost) = (folder.path().join("c.info"), folder.path().join("none/c.json"));
        let outputs = [
            CoverageOutput { format: CoverageFormat::Table, file: None },
            CoverageOutput { format: CoverageFormat::Lcov, file: Some(lcov.clone()) },
            CoverageOutput { format: CoverageFormat::Json, file: Some(lost.clone()) },
        ];
        let (shown, problems) = save_coverage(&outputs, &CoverageReport::default());
        assert!(shown.starts_with("\nCoverage "), "{shown}");
        assert_eq!(std::fs::read_to_string(lcov).unwrap(), "");
        let details: Vec<&str> = problems.iter().map(|problem| problem.detail.as_str()).collect();
        let name = lost.display().to_string();
        assert_eq!(details, [format!("The file {name:?} cannot be written: no such file or directory.")]);
    }
}
