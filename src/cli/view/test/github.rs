//! The report of a suite for GitHub Actions: annotations in the log, and a summary of the job in Markdown.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use ops::interface::testing::{FileReport, RunReport, SuiteReport, TestStatus};
use render::text::diagnostic::render_one;
use render::text::style::Style;

use super::texts::{conclusion, status_word};

/// How long the summary of one step may be, in bytes, less than GitHub allows.
const MOST_BYTES: usize = 900 * 1024;

/// A line for each problem of the suite, then for those of no file. `folder`: the path of the module in the repository.
pub fn annotations(suite: &SuiteReport, others: &Diagnostics, folder: &Path) -> String {
    let mut out = String::new();
    for file in &suite.files {
        for run in &file.runs {
            for diagnostic in &run.diagnostics {
                let title = format!("run \"{}\": {}", run.name, diagnostic.summary);
                annotate(&mut out, diagnostic, &title, Some(&file.name), folder);
            }
        }
        for diagnostic in &file.diagnostics {
            annotate(&mut out, diagnostic, &diagnostic.summary, Some(&file.name), folder);
        }
    }
    others.iter().for_each(|diagnostic| annotate(&mut out, diagnostic, &diagnostic.summary, None, folder));
    out
}

fn annotate(out: &mut String, diagnostic: &Diagnostic, title: &str, file: Option<&str>, folder: &Path) {
    let command = if diagnostic.is_error() { "error" } else { "warning" };
    let mut properties = Vec::new();
    let place = diagnostic.subject.as_ref().filter(|subject| !subject.is_nowhere() && !subject.filename().is_empty());
    let file = place.map(|subject| subject.filename()).or(file);
    if let Some(file) = file {
        let path = folder.join(file);
        properties.push(format!("file={}", property(&path.to_string_lossy().replace('\\', "/"))));
    }
    if let Some(subject) = place {
        properties.push(format!("line={}", subject.start().line));
    }
    properties.push(format!("title={}", property(title)));
    let message = if diagnostic.detail.is_empty() { &diagnostic.summary } else { &diagnostic.detail };
    let _ = writeln!(out, "::{command} {}::{}", properties.join(","), escaped(message));
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

/// The summary of the job: a table of the files, and what went wrong.
pub fn summary(suite: &SuiteReport, dialect: Dialect) -> String {
    let (verdict, rest) = conclusion(suite);
    let mut out = format!("### {}{rest}\n", verdict.unwrap_or_default());
    if suite.files.is_empty() {
        return out;
    }
    out.push_str("\n| Test file | Result | Passed | Failed | Skipped | Time |\n|---|---|---|---|---|---|\n");
    for file in &suite.files {
        let count = |statuses: &[TestStatus]| file.runs.iter().filter(|run| statuses.contains(&run.status)).count();
        let taken: Duration = file.runs.iter().filter_map(|run| Some(run.timing?.duration)).sum();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {:.1} s |",
            cell(&file.name),
            status_word(file.status),
            count(&[TestStatus::Pass]),
            count(&[TestStatus::Fail, TestStatus::Error]),
            count(&[TestStatus::Skip]),
            taken.as_secs_f64()
        );
    }
    let style = Style { dialect, ..Style::plain() };
    for part in suite.files.iter().flat_map(|file| problems(file, &style)) {
        if out.len() + part.len() > MOST_BYTES {
            out.push_str("\nThe log of the job has further failures.\n");
            break;
        }
        out.push_str(&part);
    }
    out
}

/// A part for each run that failed, and for the errors of the file.
fn problems(file: &FileReport, style: &Style) -> Vec<String> {
    let has_failed = |run: &&RunReport| run.status >= TestStatus::Fail;
    let of_runs = file.runs.iter().filter(has_failed);
    let mut parts: Vec<String> =
        of_runs.map(|run| problem(&format!("{}, run \"{}\"", file.name, run.name), &run.diagnostics, style)).collect();
    if file.diagnostics.has_errors() {
        parts.push(problem(&file.name, &file.diagnostics, style));
    }
    parts
}

fn problem(title: &str, diagnostics: &Diagnostics, style: &Style) -> String {
    let text: String = diagnostics.iter().map(|diagnostic| render_one(diagnostic, style)).collect();
    // A fence that is longer than any in the text.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n<details><summary>{}</summary>\n\n{fence}text\n{}\n{fence}\n\n</details>\n", html(title), text.trim())
}

fn cell(text: &str) -> String {
    html(text).replace('|', "\\|").replace('\n', " ")
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::test::sample_tests as samples;

    #[test]
    fn problems_are_annotated_at_their_place() {
        let mut suite = samples::mixed();
        suite.files[0].diagnostics.error("Cycle: a, b", "50% of\nit.");
        let others = Diagnostics::from(Diagnostic::error("Other", ""));
        let expected = "\
::error file=m/main.tftest.hcl,line=2,title=run \"two\"%3A Test assertion failed::It is <not> so & ]]> a text that goes beyond the eightieth column of any terminal.
::error file=m/main.tftest.hcl,title=run \"two\"%3A Test assertion failed::Second.
::warning file=m/main.tftest.hcl,title=run \"three\"%3A Value for undeclared variable::D.
::error file=m/main.tftest.hcl,title=run \"three\"%3A Reference to undeclared output value::An output value with the name \"nope\" has not been declared.
::error file=m/main.tftest.hcl,title=Cycle%3A a%2C b::50%25 of%0Ait.
::error title=Other::Other
";
        assert_eq!(annotations(&suite, &others, Path::new("m")), expected);
        assert!(annotations(&suite, &others, Path::new("")).starts_with("::error file=main.tftest.hcl,"));
    }

    #[test]
    fn the_summary_has_a_table_and_the_failures() {
        let text = summary(&samples::mixed(), Dialect::default());
        let head = "### Failure! 1 passed, 2 failed, 1 skipped.\n\n\
                    | Test file | Result | Passed | Failed | Skipped | Time |\n|---|---|---|---|---|---|\n\
                    | main.tftest.hcl | fail | 1 | 2 | 1 | 1.8 s |\n\n\
                    <details><summary>main.tftest.hcl, run \"two\"</summary>\n\n```text\nError: Test assertion failed\n";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(text.matches("</details>").count(), 2);
        assert!(summary(&SuiteReport::default(), Dialect::default()).starts_with("### Executed 0 tests."));
        let fenced = problem("t", &Diagnostic::error("A ```` b", "").into(), &Style::plain());
        assert!(fenced.contains("\n`````text\n"), "{fenced}");
    }

    #[test]
    fn summaries_do_not_grow_beyond_what_github_takes() {
        let mut suite = samples::mixed();
        let long = "x".repeat(500 * 1024);
        suite.files[0].runs.iter_mut().for_each(|run| run.diagnostics.error("S", &long));
        let text = summary(&suite, Dialect::default());
        assert!(text.len() < MOST_BYTES + 100 && text.ends_with("has further failures.\n"));
    }
}
