//! The suite as programs follow it: a stream of JSON lines, with those of all files as they come.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::diag::Diagnostics;
use base::stop::Stage;
use ops::interface::testing::{
    AbandonedReport, FileReport, LeftObject, RunReport, SuiteReport, TeardownReport, TestListener, TestProgress,
    TestStatus, VerboseResult, VerboseRun,
};
use render::json::events;
use render::json::message::Message;
use render::json::testing::{self, TestObject, TestStep};

use super::TestView;
use super::coverage::json as coverage;
use super::texts::{self, conclusion, counts, not_shown, progress_name, progress_word, status_name, status_word};
use crate::console::Console;
use crate::opentofu;
use crate::view::json::{write, write_diagnostics};
use crate::view::shown;

/// The stream of JSON lines that programs follow a suite by.
pub struct TestJson {
    console: Arc<Console>,
    /// As OpenTofu: what is written of a file when it is over.
    held: Mutex<HashMap<String, Vec<Message>>>,
}

impl TestJson {
    /// Begins the stream.
    pub fn new(console: Arc<Console>) -> TestJson {
        write(&console, &events::version(false, console.dialect()));
        TestJson { console, held: Mutex::default() }
    }

    fn reports_progress(&self) -> bool {
        opentofu::reports_progress_of_tests(self.console.dialect())
    }

    fn write_all(&self, messages: &[Message]) {
        messages.iter().for_each(|message| write(&self.console, message));
    }

    /// A message for each diagnostic that the user wants to see.
    fn found_in(&self, diagnostics: Diagnostics, file: &str, run: Option<&str>) -> Vec<Message> {
        let wanted = self.console.view.wanted(diagnostics);
        wanted.iter().map(|diagnostic| events::diagnostic(diagnostic).of_test(Some(file), run)).collect()
    }

    fn step(&self, progress: TestProgress, status: TestStatus, elapsed: Duration) -> TestStep<'static> {
        let is_over = progress == TestProgress::Complete;
        TestStep {
            word: progress_word(progress).unwrap_or_else(|| status_word(status)),
            progress: if self.reports_progress() { progress_name(progress) } else { "" },
            status: is_over.then(|| status_name(status)),
            elapsed: (!is_over).then_some(elapsed),
        }
    }
}

/// The document of what a run planned or left; else a warning.
fn verbose(file: &str, run: &str, verbose: &VerboseRun) -> Result<Message, Diagnostics> {
    let (what, document) = match &verbose.shown {
        VerboseResult::Plan(plan) => ("plan", shown::test_plan(plan, &verbose.config, &verbose.schemas)),
        VerboseResult::State(state) => ("state", shown::test_state(state, &verbose.schemas)),
    };
    let document = document.map_err(|why| Diagnostics::from(not_shown(what, &why.to_string())))?;
    Ok(if what == "plan" { testing::plan(file, run, document) } else { testing::state(file, run, document) })
}

fn objects(left: &[LeftObject]) -> Vec<TestObject> {
    left.iter().map(|object| (object.addr.to_string(), object.deposed.as_ref().map(ToString::to_string))).collect()
}

impl TestListener for TestJson {
    fn begin(&self, files: &[FileReport]) {
        let mut named: Vec<(&str, Vec<&str>)> = Vec::with_capacity(files.len());
        for file in files {
            named.push((&file.name, file.runs.iter().map(|run| &*run.name).collect()));
        }
        write(&self.console, &testing::overview(&named));
    }

    fn file(&self, file: &FileReport, progress: TestProgress) {
        let is_over = progress == TestProgress::Complete;
        if !is_over && !self.reports_progress() {
            return;
        }
        let progress = if progress == TestProgress::Running { TestProgress::Starting } else { progress };
        write(&self.console, &testing::file(&file.name, self.step(progress, file.status, Duration::ZERO)));
        if is_over {
            self.write_all(&self.found_in(file.diagnostics.clone(), &file.name, None));
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&file.name);
            self.write_all(&held.unwrap_or_default());
        }
    }

    fn run(&self, file: &str, run: &RunReport, progress: TestProgress, elapsed: Duration) {
        let message = testing::run(file, &run.name, self.step(progress, run.status, elapsed));
        if progress != TestProgress::Complete {
            if self.reports_progress() {
                write(&self.console, &message);
            }
            return;
        }
        let mut messages = vec![message];
        let mut diagnostics = run.diagnostics.clone();
        match run.verbose.as_ref().map(|shown| verbose(file, &run.name, shown)) {
            Some(Ok(document)) => messages.push(document),
            Some(Err(warning)) => diagnostics.extend(warning),
            None => {}
        }
        messages.extend(self.found_in(diagnostics, file, Some(&run.name)));
        if self.reports_progress() {
            self.write_all(&messages);
        } else {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.entry(file.to_owned()).or_default().extend(messages);
        }
    }

    fn torn_down(&self, report: &TeardownReport) {
        let (file, run) = (report.file.as_str(), report.run.as_deref());
        if !report.left.is_empty() {
            let kept = report.kept.as_ref().map(|path| path.display().to_string());
            write(&self.console, &testing::left_over(file, run, report.is_wanted, &objects(&report.left), kept));
        }
        self.write_all(&self.found_in(report.diagnostics.clone(), file, run));
    }

    fn abandoned(&self, report: &AbandonedReport) {
        let states: BTreeMap<String, Vec<TestObject>> =
            report.states.iter().map(|state| (texts::state_name(state).to_owned(), objects(&state.objects))).collect();
        let kept = report.kept.iter().map(|path| path.display().to_string()).collect();
        let message = testing::abandoned(&report.file, report.run.as_deref(), &states, &report.creating, kept);
        self.write_all(&Vec::from_iter(message));
    }

    fn concluded(&self, suite: &SuiteReport) {
        let (verdict, rest) = conclusion(suite);
        let text = format!("{}{rest}", verdict.unwrap_or_default());
        write(&self.console, &testing::summary(&text, status_name(suite.status), counts(suite)));
        if let Some(report) = &suite.coverage {
            write(&self.console, &testing::coverage(&coverage::line(report), coverage::document(report)));
        }
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        write_diagnostics(&self.console, diagnostics);
    }

    fn waiting(&self) {
        write(&self.console, &events::log(texts::WAITING));
    }
}

impl TestView for TestJson {
    fn interrupted(&self, stage: Stage) {
        if let Some(text) = texts::interrupt(stage) {
            write(&self.console, &events::log(text));
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        write_diagnostics(&self.console, diagnostics);
    }
}

#[cfg(test)]
mod tests {
    use base::env::Environment;
    use base::term::Terminal;
    use model::config::Config;
    use model::state::State;
    use ops::interface::planning::Schemas;

    use super::*;
    use crate::args::view::ViewOptions;
    use crate::view::test::sample_tests::{self as samples, file, run};

    /// The lines that a view writes, without what differs between runs of this test.
    fn written(environment: Environment, show: impl FnOnce(&TestJson)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stream");
        let terminal = Terminal { input: false, output: false, error: false, width: None, error_width: None };
        let console = Console::new(&environment, terminal, ViewOptions::default());
        let console = console.with_copy(path.to_str().unwrap()).unwrap_or_else(|problem| panic!("{}", problem.detail));
        show(&TestJson::new(console.copy.clone().unwrap()));
        let text = std::fs::read_to_string(&path).unwrap();
        let line = |line: &str| {
            let (before, after) = line.split_once(",\"@timestamp\":\"").unwrap();
            format!("{before}{}", &after[after.find('"').unwrap() + 1..])
        };
        text.lines().map(line).collect()
    }

    fn show(view: &TestJson, suite: &SuiteReport) {
        view.begin(&suite.files);
        for file in &suite.files {
            view.file(file, TestProgress::Starting);
            for run in &file.runs {
                view.run(&file.name, run, TestProgress::Starting, Duration::ZERO);
                view.run(&file.name, run, TestProgress::Running, Duration::from_secs(2));
                view.run(&file.name, run, TestProgress::Complete, Duration::ZERO);
            }
            view.file(file, TestProgress::TearDown);
            view.run(&file.name, &file.runs[0], TestProgress::TearDown, Duration::ZERO);
            view.torn_down(&samples::left_over(true));
            view.file(file, TestProgress::Complete);
        }
        view.concluded(suite);
    }

    const STREAM: &str = r#"{"@level":"info","@message":"Found 1 file and 1 run block","@module":"terraform.ui","test_abstract":{"main.tftest.hcl":["one"]},"type":"test_abstract"}
{"@level":"info","@message":"main.tftest.hcl... in progress","@module":"terraform.ui","@testfile":"main.tftest.hcl","test_file":{"path":"main.tftest.hcl","progress":"starting"},"type":"test_file"}
{"@level":"info","@message":"  \"one\"... in progress","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","test_run":{"path":"main.tftest.hcl","run":"one","progress":"starting","elapsed":0},"type":"test_run"}
{"@level":"info","@message":"  \"one\"... in progress","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","test_run":{"path":"main.tftest.hcl","run":"one","progress":"running","elapsed":2000},"type":"test_run"}
{"@level":"info","@message":"  \"one\"... fail","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","test_run":{"path":"main.tftest.hcl","run":"one","progress":"complete","status":"fail"},"type":"test_run"}
{"@level":"error","@message":"Error: Test assertion failed","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","diagnostic":{"severity":"error","summary":"Test assertion failed","detail":"It is \u003cnot\u003e so \u0026 ]]\u003e a text that goes beyond the eightieth column of any terminal.","range":{"filename":"main.tftest.hcl","start":{"line":2,"column":15,"byte":26},"end":{"line":2,"column":28,"byte":39}},"snippet":{"context":"run \"two\"","code":"  condition = output.n == 2","start_line":2,"highlight_start_offset":14,"highlight_end_offset":27,"values":[{"traversal":"output.n","statement":"is 1"}]}},"type":"diagnostic"}
{"@level":"info","@message":"main.tftest.hcl... tearing down","@module":"terraform.ui","@testfile":"main.tftest.hcl","test_file":{"path":"main.tftest.hcl","progress":"teardown"},"type":"test_file"}
{"@level":"info","@message":"  \"one\"... tearing down","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","test_run":{"path":"main.tftest.hcl","run":"one","progress":"teardown","elapsed":0},"type":"test_run"}
{"@level":"info","@message":"Terrane left some resources in state after executing main.tftest.hcl/one because the skip_cleanup attribute was set.","@module":"terraform.ui","@testfile":"main.tftest.hcl","@testrun":"one","test_cleanup":{"skipped_resources":[{"instance":"terraform_data.t[0]"}]},"type":"test_cleanup"}
{"@level":"info","@message":"main.tftest.hcl... fail","@module":"terraform.ui","@testfile":"main.tftest.hcl","test_file":{"path":"main.tftest.hcl","progress":"complete","status":"fail"},"type":"test_file"}
{"@level":"info","@message":"Failure! 0 passed, 1 failed.","@module":"terraform.ui","test_summary":{"status":"fail","passed":0,"failed":1,"errored":0,"skipped":0},"type":"test_summary"}
{"@level":"warn","@message":"Warning: W","@module":"terraform.ui","diagnostic":{"severity":"warning","summary":"W","detail":""},"type":"diagnostic"}"#;

    /// As the reference writes it, 1.11.4 and 1.16.
    #[test]
    fn the_whole_stream() {
        let mut failed = run("one", TestStatus::Fail);
        failed.diagnostics = samples::assertion().into();
        let suite = SuiteReport {
            status: TestStatus::Fail,
            files: vec![file("main.tftest.hcl", TestStatus::Fail, vec![failed])],
            is_cleanup: false,
            coverage: None,
        };
        let lines = written(Environment::default(), |view| {
            show(view, &suite);
            view.finish(Diagnostics::from(base::diag::Diagnostic::warning("W", "")));
        });
        assert!(lines[0].contains(r#""type":"version""#), "{}", lines[0]);
        assert_eq!(lines[1..].join("\n"), STREAM);
    }

    #[test]
    fn opentofu_has_no_progress() {
        let suite = SuiteReport {
            status: TestStatus::Pass,
            files: vec![file("a", TestStatus::Pass, vec![run("x", TestStatus::Pass)])],
            is_cleanup: false,
            coverage: None,
        };
        let environment = Environment::default().speaking(base::dialect::Dialect::OpenTofu);
        let lines = written(environment, |view| {
            view.begin(&suite.files);
            view.file(&suite.files[0], TestProgress::Starting);
            view.run("a", &suite.files[0].runs[0], TestProgress::Starting, Duration::ZERO);
            view.run("a", &suite.files[0].runs[0], TestProgress::Complete, Duration::ZERO);
            view.file(&suite.files[0], TestProgress::TearDown);
            view.file(&suite.files[0], TestProgress::Complete);
        });
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[2].contains(r#""test_file":{"path":"a","status":"pass"}"#), "{}", lines[2]);
        assert!(lines[3].contains(r#""test_run":{"path":"a","run":"x","status":"pass"}"#), "{}", lines[3]);
    }

    #[test]
    fn verbose_runs_have_a_document() {
        let shown = VerboseResult::State(Arc::new(State::default()));
        let verbose = VerboseRun { shown, config: Arc::new(Config { root: Arc::default() }), schemas: Schemas::new() };
        let run = RunReport { verbose: Some(Arc::new(verbose)), ..run("x", TestStatus::Pass) };
        let lines = written(Environment::default(), |view| {
            view.run("a", &run, TestProgress::Complete, Duration::ZERO);
        });
        let expected = concat!(
            r#"{"@level":"info","@message":"-verbose flag enabled, printing state","@module":"terraform.ui","@testfile":"a","#,
            r#""@testrun":"x","test_state":{"state_format_version":"1.0","root_module":{},"provider_format_version":"1.0"},"#,
            r#""type":"test_state"}"#
        );
        assert_eq!(lines[2], expected);
    }
}
