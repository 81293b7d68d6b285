//! What `policy test` and `policy validate` show: lines for people, or JSON as `test` and `validate` write it.

use std::sync::Arc;

use base::diag::Diagnostics;
use ops::policies::test::{PolicyTestStatus, TestedFile, TestedObject};
use render::json::events;
use render::json::testing::{self, TestCounts, TestStep};

use super::json::{write, write_diagnostics};
use super::validate;
use crate::console::Console;

/// The view of `policy test`.
pub trait PolicyTestView {
    /// The results of a test file.
    fn file(&self, file: &TestedFile);

    /// The end. With errors, there were no tests.
    fn finish(&self, files: &[TestedFile], diagnostics: Diagnostics);
}

pub fn test_view(console: &Arc<Console>, json: bool) -> Box<dyn PolicyTestView> {
    match json {
        true => Box::new(PolicyTestJson::new(console.clone())),
        false => Box::new(PolicyTestHuman(console.clone())),
    }
}

/// A line for each object, and below it what is wrong.
struct PolicyTestHuman(Arc<Console>);

impl PolicyTestView for PolicyTestHuman {
    fn file(&self, file: &TestedFile) {
        let (console, style) = (&self.0, &self.0.style);
        let state = if file.failed() { "[red]fail" } else { "[green]pass" };
        console.print(&style.fill(&format!("[reset]{{}}... {state}[reset]\n"), &[&file.name]));
        console.diagnostics(file.diagnostics.clone());
        for object in &file.objects {
            let state = match object.status {
                PolicyTestStatus::Passed => "[green]pass",
                PolicyTestStatus::Failed => "[red]fail",
                PolicyTestStatus::Skipped => "[light_gray]skip",
            };
            console.print(&style.fill(&format!("[reset]  {{}}... {state}[reset]\n"), &[&object.address]));
            console.diagnostics(object.diagnostics.clone());
        }
    }

    fn finish(&self, files: &[TestedFile], diagnostics: Diagnostics) {
        let is_over = !diagnostics.has_errors();
        self.0.diagnostics(diagnostics);
        if is_over {
            let tint = if has_failed(files) { "[red]" } else { "[green]" };
            let text = format!(" {}", totals(files));
            self.0.print(&self.0.style.fill(&format!("\n{tint}{}[reset]{{}}\n", verdict(files)), &[&text]));
        }
    }
}

/// A stream of JSON lines: objects are the runs of their file.
struct PolicyTestJson(Arc<Console>);

impl PolicyTestJson {
    /// Begins the stream.
    fn new(console: Arc<Console>) -> PolicyTestJson {
        write(&console, &events::version(false, console.dialect()));
        PolicyTestJson(console)
    }

    fn diagnostics(&self, diagnostics: &Diagnostics, file: &TestedFile, object: Option<&TestedObject>) {
        for diagnostic in self.0.view.wanted(diagnostics.clone()).iter() {
            let run = object.map(|object| object.address.as_str());
            write(&self.0, &events::diagnostic(diagnostic).of_test(Some(&file.name), run));
        }
    }
}

/// A step that is over.
fn complete(status: &'static str) -> TestStep<'static> {
    let word = if status == "error" { "fail" } else { status };
    TestStep { word, progress: "complete", status: Some(status), elapsed: None }
}

impl PolicyTestView for PolicyTestJson {
    fn file(&self, file: &TestedFile) {
        for object in &file.objects {
            let status = match object.status {
                PolicyTestStatus::Passed => "pass",
                PolicyTestStatus::Failed => "fail",
                PolicyTestStatus::Skipped => "skip",
            };
            write(&self.0, &testing::run(&file.name, &object.address, complete(status)));
            self.diagnostics(&object.diagnostics, file, Some(object));
        }
        let status = match (file.diagnostics.has_errors(), file.failed()) {
            (true, _) => "error",
            (false, true) => "fail",
            (false, false) => "pass",
        };
        write(&self.0, &testing::file(&file.name, complete(status)));
        self.diagnostics(&file.diagnostics, file, None);
    }

    fn finish(&self, files: &[TestedFile], diagnostics: Diagnostics) {
        let is_over = !diagnostics.has_errors();
        write_diagnostics(&self.0, diagnostics);
        if is_over {
            let text = format!("{} {}", verdict(files), totals(files));
            let status = if has_failed(files) { "fail" } else { "pass" };
            write(&self.0, &testing::summary(&text, status, counts(files)));
        }
    }
}

fn has_failed(files: &[TestedFile]) -> bool {
    files.iter().any(TestedFile::failed)
}

/// The first word of the last line.
fn verdict(files: &[TestedFile]) -> &'static str {
    if has_failed(files) { "Failure!" } else { "Success!" }
}

/// The rest of the last line: how many objects had which result.
fn totals(files: &[TestedFile]) -> String {
    let TestCounts { passed, failed, skipped, .. } = counts(files);
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    format!("{passed} passed, {failed} failed{skipped}.")
}

fn counts(files: &[TestedFile]) -> TestCounts {
    let count = |status| files.iter().flat_map(|file| &file.objects).filter(|object| object.status == status).count();
    TestCounts {
        passed: count(PolicyTestStatus::Passed),
        failed: count(PolicyTestStatus::Failed),
        errored: 0,
        skipped: count(PolicyTestStatus::Skipped),
    }
}

/// Shows the result of `policy validate`: as text, or in the document of `validate -json`.
pub fn validated(console: &Console, json: bool, diagnostics: Diagnostics) {
    if json {
        return validate::json_result(console, &console.view.wanted(diagnostics));
    }
    let failed = diagnostics.has_errors();
    console.diagnostics(diagnostics);
    if !failed {
        console.print(&console.style.fill("[green][bold]Success![reset] The policies are valid.\n", &[]));
    }
}
