//! The progress of a command, apart from its output: the status area below it, lines that keep a log alive, and the times of steps.
//!
//! - `choice`: whether there is an area.
//! - `state`: what runs, how far the command is, and what has ended.
//! - `draw`: the lines of the area, from that and the size of the terminal.
//! - `screen`: the bytes that a terminal gets for output and area.
//!
//! Only [`Progress`] is shared between threads. Never prints: the console does, and `live` makes it draw.

pub mod choice;
pub mod draw;
pub mod screen;
mod state;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::activity::{EndedTask, Task};
use base::diag::Diagnostic;
use base::env::{self, Environment};
use base::name::COMMAND;
use base::term::Terminal;
use engine::event::Event;
use install::event::{InstallEvent, ModuleEvent};
use model::plan::Plan;
use ops::durations::{self, Durations};
use ops::interface::testing::TestProgress;
use render::timings::{self, Timing};

use self::choice::{Circumstances, ProgressForm};
use self::draw::Picture;
use self::state::State;
use super::args::view::{ProgressMode, TimingsOutput};

/// A command on a terminal that was busy for longer shows its slowest steps.
const LONG: Duration = Duration::from_secs(60);

/// The progress of one command. An event that it does not follow costs little.
pub struct Progress {
    pub shown: ProgressForm,
    pub timings: Option<TimingsOutput>,
    pub has_task_bar: bool,
    /// The command with the name of the program.
    pub command: String,
    /// The file with the times of earlier runs.
    estimates: Option<PathBuf>,
    began: Instant,
    state: Mutex<State>,
    failed: AtomicBool,
}

/// What the arguments say about the progress.
#[derive(Debug, Default)]
pub struct Wishes {
    /// None: as the environment says.
    pub mode: Option<ProgressMode>,
    pub timings: Option<TimingsOutput>,
    /// Standard output is for programs.
    pub is_json: bool,
    pub no_color: bool,
}

impl Progress {
    /// Nothing is followed.
    pub fn off() -> Progress {
        Progress {
            shown: ProgressForm::Nothing,
            timings: None,
            has_task_bar: false,
            command: String::new(),
            estimates: None,
            began: Instant::now(),
            state: Mutex::default(),
            failed: AtomicBool::new(false),
        }
    }

    /// The progress of a command of that name. An error is about the environment.
    pub fn of(
        command: &str,
        wishes: Wishes,
        terminal: Terminal,
        environment: &Environment,
    ) -> Result<Progress, Diagnostic> {
        let mode = match wishes.mode {
            Some(mode) => mode,
            None if wishes.is_json => ProgressMode::None,
            None => choice::default_mode(environment).map_err(unknown_mode)?,
        };
        let Wishes { timings, is_json, no_color, .. } = wishes;
        let shown = choice::choose(Circumstances { terminal, mode, is_json, no_color }, environment);
        let is_area = shown == ProgressForm::Area;
        let estimates = durations::path(environment).filter(|_| is_area);
        let usual = estimates.as_deref().map(|path| Durations::read(path).usual()).unwrap_or_default();
        let state = State::new(is_area || timings.is_some(), usual);
        Ok(Progress {
            shown,
            timings,
            has_task_bar: is_area && choice::has_task_bar(environment),
            command: format!("{COMMAND} {command}"),
            estimates,
            state: Mutex::new(state),
            ..Progress::off()
        })
    }

    pub fn has_area(&self) -> bool {
        self.shown == ProgressForm::Area
    }

    /// Whether anything is done with the events that it gets.
    fn follows(&self) -> bool {
        self.shown != ProgressForm::Nothing || self.timings.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, tell: impl FnOnce(&mut State, Instant)) {
        if self.follows() {
            tell(&mut self.state(), Instant::now());
        }
    }

    pub fn hear(&self, event: &Event) {
        self.tell(|state, now| state.hear(event, now));
    }

    /// What an apply will do; nothing runs for now.
    pub fn planned(&self, plan: &Plan) {
        self.tell(|state, now| state.planned(plan, now));
    }

    /// Begins a part of the command. None: there is nothing to say until the next one.
    pub fn begin_part(&self, title: Option<&str>) {
        self.tell(|state, now| state.set_title(title, now));
    }

    pub fn install(&self, event: &InstallEvent) {
        self.tell(|state, now| state.install(event, now));
    }

    pub fn module(&self, event: &ModuleEvent) {
        self.tell(|state, now| state.module(event, now));
    }

    pub fn begin_suite(&self, files: usize) {
        self.tell(|state, now| state.begin_suite(files, now));
    }

    pub fn test_file(&self, file: &str, progress: TestProgress) {
        self.tell(|state, now| state.test_file(file, progress, now));
    }

    pub fn test_run(&self, file: &str, run: &str, progress: TestProgress) {
        self.tell(|state, now| state.test_run(file, run, progress, now));
    }

    /// What there is to draw; none if nothing is known to run.
    pub fn picture(&self, tasks: &[Task], now: Instant, is_stopping: bool) -> Option<Picture> {
        self.state().picture(tasks, now, is_stopping)
    }

    /// Since the command began.
    pub fn elapsed(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.began)
    }

    /// The times of all steps. `tasks`: those that have no events.
    pub fn all_timings(&self, tasks: Vec<EndedTask>) -> Vec<Timing> {
        let mut all: Vec<Timing> = Vec::new();
        for step in &self.state().steps {
            all.push(Timing {
                name: step.name.clone(),
                operation: step.operation.to_owned(),
                start: self.elapsed(step.began),
                elapsed: step.elapsed,
                failed: step.failed,
            });
        }
        for EndedTask { task, ended } in tasks {
            all.push(Timing {
                start: self.elapsed(task.began),
                elapsed: ended.saturating_duration_since(task.began),
                name: task.text,
                operation: "start".to_owned(),
                failed: false,
            });
        }
        all.sort_by_key(|timing| timing.start);
        all
    }

    /// Whether the slowest steps are shown at the end.
    pub fn shows_table(&self, timings: &[Timing]) -> bool {
        match &self.timings {
            Some(output) => *output == TimingsOutput::Table,
            None => self.has_area() && timings::busy_time(timings) > LONG,
        }
    }

    /// Keeps the times for the estimates of later runs.
    pub fn keep_times(&self) {
        let Some(path) = &self.estimates else { return };
        let times = self.state().times();
        if !times.is_empty() {
            durations::record(path, &times);
        }
    }

    /// Notes that what was asked for cannot be written.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

fn unknown_mode(value: &str) -> Diagnostic {
    let detail = format!(
        "The environment variable {} has the value {value:?}, which is no mode of -progress. Use \"auto\", \"tty\", \"plain\" or \
         \"none\", or remove the variable.",
        env::TERRANE_PROGRESS
    );
    Diagnostic::error("Invalid value of an environment variable", detail)
}
