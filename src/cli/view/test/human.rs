//! The suite as people follow it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics, Severity};
use base::name::{COMMAND, PROGRAM};
use base::stop::Stage;
use ops::interface::planning::Planned;
use ops::interface::testing::{
    AbandonedReport, FileReport, RunReport, SuiteReport, TeardownReport, TestListener, TestProgress, TestStatus,
    VerboseResult, VerboseRun,
};
use terrane_value::text::go_quoted;

use super::texts::{self, conclusion, not_shown, objects, progress_word, slowest, status_word};
use super::turns::{Piece, Turns};
use super::{TestView, TestViewOptions};
use crate::args::plan_view::PlanView;
use crate::console::Console;
use crate::opentofu;
use crate::view::shown;

/// What follows the objects whose state `test cleanup` leaves as it is.
const IN_BACKEND: &str = "\nTheir state is in the backend of the run. The next test continues with it.\n";

/// The lines that people follow a suite by.
pub struct TestHuman {
    console: Arc<Console>,
    options: TestViewOptions,
    /// Held while a piece is written, so that pieces do not change places.
    turns: Mutex<Turns>,
    /// The state files that `skip_cleanup` keeps, by test file, until the file has ended.
    kept: Mutex<BTreeMap<String, Vec<PathBuf>>>,
    output: PieceOutput,
}

/// Where pieces go.
type PieceOutput = Box<dyn Fn(Piece) + Send + Sync>;

impl TestHuman {
    pub fn new(console: Arc<Console>, options: TestViewOptions) -> TestHuman {
        let streams = console.clone();
        let print = move |piece| match piece {
            Piece::Out(text) => streams.print(&text),
            Piece::Err(text) => streams.print_error(&text),
        };
        TestHuman::with_output(console, options, Box::new(print))
    }

    fn with_output(console: Arc<Console>, options: TestViewOptions, output: PieceOutput) -> TestHuman {
        TestHuman { console, options, turns: Mutex::default(), kept: Mutex::default(), output }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Vec<PathBuf>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print(&self, pieces: impl IntoIterator<Item = Piece>) {
        pieces.into_iter().for_each(|piece| (self.output)(piece));
    }

    /// Shows the output of a file when its turn has come.
    fn show(&self, file: &str, pieces: Vec<Piece>) {
        let mut turns = self.turns();
        let shown = turns.add(file, pieces);
        self.print(shown);
    }

    fn rendered(&self, diagnostics: Diagnostics) -> impl Iterator<Item = Piece> {
        self.console.rendered(diagnostics).map(|shown| match shown.severity {
            Severity::Warning => Piece::Out(shown.text),
            Severity::Error => Piece::Err(shown.text),
        })
    }

    /// A line of a file or of a run.
    fn line(&self, subject: &str, word: &str, tint: &str) -> String {
        self.console.style.fill(&format!("{{}}... {tint}{word}[reset]\n"), &[&subject])
    }

    fn result_line(&self, subject: &str, status: TestStatus) -> Piece {
        let tint = match status {
            TestStatus::Error | TestStatus::Fail => "[red]",
            TestStatus::Pass => "[green]",
            TestStatus::Skip | TestStatus::Pending => "[light_gray]",
        };
        // As in the reference, the reset that ends the word stands before the end of the line.
        let word = self.console.style.fill(&format!("{tint}{}[reset]", status_word(status)), &[]);
        Piece::Out(format!("{subject}... {word}\n"))
    }

    /// What a run planned or left, and a warning if it cannot be shown.
    fn verbose(&self, run: &VerboseRun) -> Result<String, Diagnostic> {
        let style = &self.console.style;
        match &run.shown {
            VerboseResult::State(state) => match shown::state(state, &run.schemas, style) {
                Ok(text) => Ok(format!("\n{text}\n")),
                Err(why) => Err(not_shown("state", &why.to_string())),
            },
            VerboseResult::Plan(plan) => {
                let (plan, config, schemas) = (plan.clone(), run.config.clone(), run.schemas.clone());
                let planned = Planned { plan, config, schemas };
                Ok(format!("{}\n", shown::plan(&planned, style, self.options.in_automation, &PlanView::default())))
            }
        }
    }

    /// The files of the states that `skip_cleanup` keeps of a test file, and how to destroy their objects.
    fn kept_states(&self, file: &str) -> Option<Piece> {
        let paths = self.kept().remove(file)?;
        let list: String = paths.iter().map(|path| format!("  - {}\n", path.display())).collect();
        let states = if paths.len() == 1 { "state is" } else { "states are" };
        let text = format!(
            "\nThe kept {states} in:\n{list}To destroy the resources that are left, run:\n    {COMMAND} test cleanup\n"
        );
        Some(Piece::Out(self.console.style.wrapped(&text)))
    }

    fn left_over(&self, report: &TeardownReport, place: &str) -> Vec<Piece> {
        let list = objects(&report.left);
        if report.is_wanted {
            let text = format!(
                "\n{PROGRAM} left the following resources in state after executing {place} because the skip_cleanup attribute was \
                 set:\n"
            );
            let mut text = self.console.style.wrapped(&text) + &list;
            if opentofu::names_files_of_kept_states(self.console.dialect()) {
                match &report.kept {
                    _ if report.stays_in_backend => text += &self.console.style.wrapped(IN_BACKEND),
                    Some(path) => self.kept().entry(report.file.clone()).or_default().push(path.clone()),
                    None => {}
                }
            }
            return vec![Piece::Out(text)];
        }
        let text = format!(
            "\n{PROGRAM} left the following resources in state after executing {place}, and they need to be cleaned up manually:\n"
        );
        let kept = match &report.kept {
            _ if report.stays_in_backend => IN_BACKEND.to_owned(),
            Some(path) => {
                let path = path.display();
                format!("\nTheir state is kept in {path}. To destroy them, run:\n    {COMMAND} test cleanup\n")
            }
            None => String::new(),
        };
        let (text, kept) = (self.console.wrapped_for_error(&text), self.console.wrapped_for_error(&kept));
        vec![Piece::Err(text + &list + &kept)]
    }
}

impl TestListener for TestHuman {
    fn begin(&self, files: &[FileReport]) {
        let is_whole = !opentofu::reports_progress_of_tests(self.console.dialect());
        let mut turns = self.turns();
        let shown = turns.rest();
        self.print(shown);
        *turns = Turns::of(files.iter().map(|file| file.name.clone()), is_whole);
        self.console.progress.begin_suite(files.len());
    }

    fn file(&self, file: &FileReport, progress: TestProgress) {
        self.console.progress.test_file(&file.name, progress);
        let reports_progress = opentofu::reports_progress_of_tests(self.console.dialect());
        if let Some(word) = progress_word(progress) {
            if reports_progress {
                self.show(&file.name, vec![Piece::Out(self.line(&file.name, word, "[light_gray]"))]);
            }
            return;
        }
        let mut pieces: Vec<Piece> = self.kept_states(&file.name).into_iter().collect();
        pieces.push(self.result_line(&file.name, file.status));
        pieces.extend(self.rendered(file.diagnostics.clone()));
        let mut turns = self.turns();
        let mut shown = match reports_progress {
            true => turns.add(&file.name, pieces),
            false => turns.add_first(&file.name, pieces),
        };
        shown.extend(turns.end(&file.name));
        self.print(shown);
    }

    fn run(&self, file: &str, run: &RunReport, progress: TestProgress, _elapsed: Duration) {
        self.console.progress.test_run(file, &run.name, progress);
        if progress != TestProgress::Complete {
            return;
        }
        let mut pieces = vec![self.result_line(&format!("  run {}", go_quoted(&run.name)), run.status)];
        let mut diagnostics = run.diagnostics.clone();
        match run.verbose.as_ref().map(|verbose| self.verbose(verbose)) {
            Some(Ok(text)) => pieces.push(Piece::Out(text)),
            Some(Err(warning)) => diagnostics.push(warning),
            None => {}
        }
        let rendered: Vec<Piece> = self.rendered(diagnostics).collect();
        let has_warnings = rendered.iter().any(|piece| matches!(piece, Piece::Out(_)));
        pieces.extend(rendered);
        if has_warnings {
            // Apart from the lines that follow.
            pieces.push(Piece::Out("\n".to_owned()));
        }
        self.show(file, pieces);
    }

    fn torn_down(&self, report: &TeardownReport) {
        let place = report.run.as_ref().map_or_else(|| report.file.clone(), |run| format!("{}/{run}", report.file));
        let mut pieces = Vec::new();
        if report.diagnostics.has_errors() {
            let text =
                format!("{PROGRAM} encountered an error destroying resources created while executing {place}.\n");
            pieces.push(Piece::Err(self.console.wrapped_for_error(&text)));
        }
        pieces.extend(self.rendered(report.diagnostics.clone()));
        if !report.left.is_empty() {
            pieces.extend(self.left_over(report, &place));
        }
        self.show(&report.file, pieces);
    }

    fn abandoned(&self, report: &AbandonedReport) {
        let mut text = format!(
            "\n{PROGRAM} was interrupted while executing {}, and may not have performed the expected cleanup operations.\n",
            report.file
        );
        for state in &report.states {
            let (owner, list) = (texts::state_owner(state), objects(&state.objects));
            text += &format!("\n{PROGRAM} has already created the following resources {owner}:\n{list}");
        }
        if let (false, Some(run)) = (report.creating.is_empty(), &report.run) {
            let module = report.module.as_ref().map_or_else(|| "the module under test".to_owned(), |it| go_quoted(it));
            let list: String = report.creating.iter().map(|address| format!("  - {address}\n")).collect();
            text += &format!(
                "\n{PROGRAM} was in the process of creating the following resources for {} from {module}, and they may not have been \
                 destroyed:\n{list}",
                go_quoted(run)
            );
        }
        if !report.kept.is_empty() {
            let list: String = report.kept.iter().map(|path| format!("  - {}\n", path.display())).collect();
            text += &format!(
                "\nTheir states are kept. To destroy these resources, run \"{COMMAND} test cleanup\":\n{list}"
            );
        }
        // At once, whichever file is shown: there may be no time for its turn.
        let _turns = self.turns();
        self.print([Piece::Err(self.console.wrapped_for_error(&text))]);
    }

    fn concluded(&self, suite: &SuiteReport) {
        self.console.progress.begin_part(None);
        let mut turns = self.turns();
        let mut pieces = turns.rest();
        let (verdict, rest) = conclusion(suite);
        let style = &self.console.style;
        let verdict = match verdict {
            Some(word) if suite.status <= TestStatus::Pass => style.green(word),
            Some(word) => style.red(word),
            None => String::new(),
        };
        pieces.push(Piece::Out(format!("\n{verdict}{rest}\n{}", slowest(suite, self.options.durations))));
        self.print(pieces);
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        // Pieces of files that end meanwhile do not come between.
        let _turns = self.turns();
        self.print(self.rendered(diagnostics));
    }

    fn waiting(&self) {
        self.print([Piece::Out(self.console.style.wrapped(&format!("\n{}\n\n", texts::WAITING)))]);
    }
}

impl TestView for TestHuman {
    fn interrupted(&self, stage: Stage) {
        if let Some(text) = texts::interrupt(stage) {
            self.print([Piece::Err(self.console.wrapped_for_error(&text) + "\n")]);
        }
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.console.progress.begin_part(None);
        let mut turns = self.turns();
        let shown = turns.rest();
        self.print(shown);
        self.print(self.rendered(diagnostics));
    }
}

#[cfg(test)]
mod tests {
    use base::env::Environment;
    use base::term::Terminal;
    use ops::interface::testing::{AbandonedState, LeftObject};

    use super::*;
    use crate::args::view::ViewOptions;
    use crate::view::test::sample_tests::{self as samples, file, run};

    /// What is on standard output and on standard error.
    type Streams = Arc<Mutex<(String, String)>>;

    fn view(environment: Environment, no_color: bool, durations: usize) -> (TestHuman, Streams) {
        let terminal = Terminal { input: false, output: false, error: false, width: None, error_width: None };
        let options = ViewOptions { no_color, ..ViewOptions::default() };
        let console = Arc::new(Console::new(&environment, terminal, options));
        let streams = Streams::default();
        let kept = streams.clone();
        let output = move |piece| {
            let mut streams = kept.lock().unwrap();
            match piece {
                Piece::Out(text) => streams.0 += &text,
                Piece::Err(text) => streams.1 += &text,
            }
        };
        let options = TestViewOptions { durations, ..TestViewOptions::default() };
        (TestHuman::with_output(console, options, Box::new(output)), streams)
    }

    fn plain() -> (TestHuman, Streams) {
        view(Environment::default(), true, 0)
    }

    fn show(view: &TestHuman, suite: &SuiteReport) {
        view.begin(&suite.files);
        for file in &suite.files {
            view.file(file, TestProgress::Starting);
            for run in &file.runs {
                view.run(&file.name, run, TestProgress::Starting, Duration::ZERO);
                view.run(&file.name, run, TestProgress::Complete, Duration::ZERO);
            }
            view.file(file, TestProgress::TearDown);
            view.file(file, TestProgress::Complete);
        }
        view.concluded(suite);
    }

    const ERRORS: &str = "
Error: Test assertion failed

Second.

Error: Test assertion failed

  on main.tftest.hcl line 2, in run \"two\":
   2:   condition = output.n == 2
    ├────────────────
    │ output.n is 1

It is <not> so & ]]> a text that goes beyond the eightieth column of any
terminal.

Error: Reference to undeclared output value

An output value with the name \"nope\" has not been declared.
";

    /// As the reference shows it, 1.11.4.
    #[test]
    fn the_whole_output() {
        let (view, streams) = plain();
        show(&view, &samples::mixed());
        view.finish(Diagnostic::error("E", "D.").into());
        let (out, err) = streams.lock().unwrap().clone();
        let expected = "main.tftest.hcl... in progress
  run \"one\"... pass
  run \"two\"... fail
  run \"three\"... fail

Warning: Value for undeclared variable

D.

  run \"four\"... skip
main.tftest.hcl... tearing down
main.tftest.hcl... fail

Failure! 1 passed, 2 failed, 1 skipped.
";
        assert_eq!(out, expected);
        assert_eq!(err, format!("{ERRORS}\nError: E\n\nD.\n"));
    }

    #[test]
    fn opentofu_shows_files_before_their_runs() {
        let environment = Environment::default().speaking(base::dialect::Dialect::OpenTofu);
        let (view, streams) = self::view(environment, true, 0);
        let runs = vec![run("x", TestStatus::Pass), run("y", TestStatus::Fail)];
        let suite = SuiteReport { files: vec![file("a", TestStatus::Fail, runs)], ..samples::mixed() };
        show(&view, &suite);
        let expected = "a... fail\n  run \"x\"... pass\n  run \"y\"... fail\n\nFailure! 1 passed, 1 failed.\n";
        assert_eq!(streams.lock().unwrap().0, expected);
    }

    /// The codes are those that the reference writes.
    #[test]
    fn results_have_colours() {
        let (view, streams) = self::view(Environment::of([("FORCE_COLOR", "1")]), false, 1);
        let suite = SuiteReport {
            status: TestStatus::Pass,
            files: vec![file("a", TestStatus::Pass, vec![run("x", TestStatus::Pass), run("y", TestStatus::Skip)])],
            is_cleanup: false,
            coverage: None,
        };
        show(&view, &suite);
        let expected = "a... \x1b[37min progress\x1b[0m\n\x1b[0m  run \"x\"... \x1b[32mpass\x1b[0m\x1b[0m\n  run \"y\"... \
                        \x1b[37mskip\x1b[0m\x1b[0m\na... \x1b[37mtearing down\x1b[0m\n\x1b[0ma... \x1b[32mpass\x1b[0m\x1b[0m\n\n\
                        \x1b[32mSuccess!\x1b[0m\x1b[0m 1 passed, 0 failed, 1 skipped.\n";
        assert_eq!(streams.lock().unwrap().0, expected);
    }

    #[test]
    fn files_side_by_side_are_shown_one_after_the_other() {
        let (view, streams) = plain();
        let suite = SuiteReport {
            status: TestStatus::Pass,
            files: ["a", "b"].map(|name| file(name, TestStatus::Pass, vec![run("x", TestStatus::Pass)])).into(),
            is_cleanup: false,
            coverage: None,
        };
        view.begin(&suite.files);
        let [a, b] = [&suite.files[0], &suite.files[1]];
        view.file(b, TestProgress::Starting);
        view.file(a, TestProgress::Starting);
        view.run("b", &b.runs[0], TestProgress::Complete, Duration::ZERO);
        view.file(b, TestProgress::Complete);
        assert_eq!(streams.lock().unwrap().0, "a... in progress\n");
        view.run("a", &a.runs[0], TestProgress::Complete, Duration::ZERO);
        view.file(a, TestProgress::Complete);
        view.concluded(&suite);
        let one = |name: &str| format!("{name}... in progress\n  run \"x\"... pass\n{name}... pass\n");
        let expected = format!("{}{}\nSuccess! 2 passed, 0 failed.\n", one("a"), one("b"));
        assert_eq!(streams.lock().unwrap().0, expected);
    }

    #[test]
    fn what_is_left_is_said() {
        let (view, streams) = plain();
        view.torn_down(&samples::left_over(false));
        view.torn_down(&samples::left_over(true));
        let (out, err) = streams.lock().unwrap().clone();
        let expected = "Terrane encountered an error destroying resources created while executing
main.tftest.hcl/one.

Error: Destroy failed

D.

Terrane left the following resources in state after executing
main.tftest.hcl/one, and they need to be cleaned up manually:
  - terraform_data.t[0]

Their state is kept in .terraform/test/abcdefgh.tfstate. To destroy them,
run:
    terrane test cleanup
";
        assert_eq!(err, expected);
        let expected = "\nTerrane left the following resources in state after executing\nmain.tftest.hcl/one because the \
                        skip_cleanup attribute was set:\n  - terraform_data.t[0]\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn files_of_kept_states_are_listed_once_at_the_end_of_the_test_file() {
        const RESULTS: &str = "main.tftest.hcl... pass\nmain.tftest.hcl... pass\n";
        let kept = |path: &str, stays_in_backend| TeardownReport {
            kept: Some(path.into()),
            stays_in_backend,
            ..samples::left_over(true)
        };
        let out = |environment: Environment, reports: &[TeardownReport]| {
            let (view, streams) = view(environment, true, 0);
            view.begin(&samples::mixed().files);
            reports.iter().for_each(|report| view.torn_down(report));
            let before = streams.lock().unwrap().0.len();
            let file = file("main.tftest.hcl", TestStatus::Pass, Vec::new());
            view.file(&file, TestProgress::Complete);
            view.file(&file, TestProgress::Complete);
            let (out, err) = streams.lock().unwrap().clone();
            assert_eq!(err, "");
            out[before..].to_owned()
        };
        let one = [kept(".terraform/test/a.tfstate", false), kept("kept/x.tfstate", true)];
        let terrane = Environment::default();
        let expected = "\nThe kept state is in:\n  - .terraform/test/a.tfstate\nTo destroy the resources that are left, \
                        run:\n    terrane test cleanup\n";
        assert_eq!(out(terrane.clone(), &one), format!("{expected}{RESULTS}"));
        let two = [one[0].clone(), kept(".terraform/test/b.tfstate", false)];
        let expected = "\nThe kept states are in:\n  - .terraform/test/a.tfstate\n  - .terraform/test/b.tfstate\nTo destroy the \
                        resources that are left, run:\n    terrane test cleanup\n";
        assert_eq!(out(terrane.clone(), &two), format!("{expected}{RESULTS}"));
        assert_eq!(out(terrane.clone(), &one[1..]), RESULTS);
        let terraform = terrane.speaking(base::dialect::Dialect::Terraform);
        assert_eq!(out(terraform, &two), RESULTS);
    }

    #[test]
    fn states_that_stay_in_backends_are_not_to_be_cleaned_up() {
        let shown = |environment: Environment, is_wanted| {
            let (view, streams) = view(environment, true, 0);
            view.begin(&samples::mixed().files);
            view.torn_down(&TeardownReport { stays_in_backend: true, ..samples::left_over(is_wanted) });
            let (out, err) = streams.lock().unwrap().clone();
            out + &err
        };
        let terrane = Environment::default();
        for is_wanted in [true, false] {
            let text = shown(terrane.clone(), is_wanted);
            assert!(text.ends_with(&format!("  - terraform_data.t[0]\n{IN_BACKEND}")), "{text}");
            assert!(!text.contains("test cleanup"), "{text}");
        }
        let text = shown(terrane.speaking(base::dialect::Dialect::Terraform), true);
        assert!(!text.contains("backend"), "{text}");
    }

    #[test]
    fn interrupts_say_what_exists() {
        let (view, streams) = plain();
        view.interrupted(Stage::Stopping);
        view.interrupted(Stage::Killed);
        let left: Vec<LeftObject> = samples::left_over(true).left;
        view.abandoned(&AbandonedReport {
            file: "a.tftest.hcl".into(),
            run: Some("one".into()),
            module: None,
            states: vec![
                AbandonedState { key: String::new(), run: Some("one".into()), module: None, objects: left.clone() },
                AbandonedState {
                    key: "./setup".into(),
                    run: Some("network".into()),
                    module: Some("./setup".into()),
                    objects: left,
                },
            ],
            creating: vec!["terraform_data.u".into()],
            kept: vec![".terraform/test/x.tfstate".into()],
        });
        let (out, err) = streams.lock().unwrap().clone();
        let expected = "
Interrupt received.
Please wait for Terrane to exit or data loss may occur.
Gracefully shutting down...


Two interrupts received. Exiting immediately. Note that data loss may have
occurred.


Terrane was interrupted while executing a.tftest.hcl, and may not have
performed the expected cleanup operations.

Terrane has already created the following resources from the module under
test:
  - terraform_data.t[0]

Terrane has already created the following resources for \"./setup\":
  - terraform_data.t[0]

Terrane was in the process of creating the following resources for \"one\" from
the module under test, and they may not have been destroyed:
  - terraform_data.u

Their states are kept. To destroy these resources, run \"terrane test
cleanup\":
  - .terraform/test/x.tfstate
";
        assert_eq!((out.as_str(), err.as_str()), ("", expected));
    }
}
