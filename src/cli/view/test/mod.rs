//! What `test` shows: lines for people, a stream of JSON lines, and reports in files.
//!
//! Owns the order of output where files run side by side. Never decides what is executed.

pub mod coverage;
pub mod github;
mod human;
mod json;
pub mod junit;
#[cfg(test)]
mod sample_tests;
mod texts;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use base::diag::Diagnostics;
use base::stop::Stage;
use human::TestHuman;
use json::TestJson;
use ops::interface::testing::{
    AbandonedReport, FileReport, RunReport, SuiteReport, TeardownReport, TestListener, TestProgress,
};

use super::both::Both;
use crate::console::Console;

/// The view of `test`; hears the suite as a [`TestListener`] and shows its end.
pub trait TestView: TestListener {
    /// The first or second interrupt.
    fn interrupted(&self, stage: Stage);

    /// What is left to say.
    fn finish(&self, diagnostics: Diagnostics);
}

/// What decides how the suite is shown to people.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestViewOptions {
    /// Leave out advice on the next command.
    pub in_automation: bool,
    /// How many of the slowest runs are listed at the end.
    pub durations: usize,
}

pub fn view(console: &Arc<Console>, json: bool, options: TestViewOptions) -> Arc<dyn TestView> {
    let view: Arc<dyn TestView> = match json {
        true => Arc::new(TestJson::new(console.clone())),
        false => Arc::new(TestHuman::new(console.clone(), options)),
    };
    match &console.copy {
        Some(copy) => Arc::new(Both(view, Arc::new(TestJson::new(copy.clone())))),
        None => view,
    }
}

/// Passes a view on as the listener that it is.
pub fn listener(view: &Arc<dyn TestView>) -> Arc<dyn TestListener> {
    view.clone()
}

impl TestListener for Both<Arc<dyn TestView>> {
    fn begin(&self, files: &[FileReport]) {
        self.0.begin(files);
        self.1.begin(files);
    }

    fn file(&self, file: &FileReport, progress: TestProgress) {
        self.0.file(file, progress);
        self.1.file(file, progress);
    }

    fn run(&self, file: &str, run: &RunReport, progress: TestProgress, elapsed: Duration) {
        self.0.run(file, run, progress, elapsed);
        self.1.run(file, run, progress, elapsed);
    }

    fn torn_down(&self, report: &TeardownReport) {
        self.0.torn_down(report);
        self.1.torn_down(report);
    }

    fn abandoned(&self, report: &AbandonedReport) {
        self.0.abandoned(report);
        self.1.abandoned(report);
    }

    fn concluded(&self, suite: &SuiteReport) {
        self.0.concluded(suite);
        self.1.concluded(suite);
    }

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.0.diagnostics(diagnostics.clone());
        self.1.diagnostics(diagnostics);
    }

    fn waiting(&self) {
        self.0.waiting();
        self.1.waiting();
    }
}

impl TestView for Both<Arc<dyn TestView>> {
    fn interrupted(&self, stage: Stage) {
        self.0.interrupted(stage);
        self.1.interrupted(stage);
    }

    fn finish(&self, diagnostics: Diagnostics) {
        self.0.finish(diagnostics.clone());
        self.1.finish(diagnostics);
    }
}
