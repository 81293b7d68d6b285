//! Draws the status area while an operation runs, or writes lines that keep a silent command alive; afterwards the times of its steps.
//!
//! Owns the thread that looks at the clock. Never decides what is drawn: [`crate::progress`] does.

use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base::activity::Activities;
use base::diag::Diagnostic;
use base::files::reason;
use base::stop::Stop;
use base::suspension::{self, Suspension};
use base::{atomic, term};
use render::timings;

use super::args::view::TimingsOutput;
use super::console::Console;
use super::progress::choice::ProgressForm;
use super::progress::draw::{self, Picture, Size};
use super::progress::screen::{PERIOD, TaskBar};

/// What takes less time has no area.
const DELAY: Duration = Duration::from_millis(500);

/// A command that has written nothing for so long writes a line.
const SILENCE: Duration = Duration::from_secs(30);

/// The size of a terminal that does not tell it.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// Draws until it is finished or dropped.
pub struct Live {
    console: Arc<Console>,
    activities: Activities,
    wake: Arc<Wake>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Wake {
    signal: Mutex<Signal>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Signal {
    ended: bool,
    resized: bool,
}

impl Wake {
    fn signal(&self) -> MutexGuard<'_, Signal> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, set: impl FnOnce(&mut Signal)) {
        set(&mut self.signal());
        self.changed.notify_all();
    }

    /// Waits until there is something to do, or for some time. Gives what has happened.
    fn wait(&self, time: Duration) -> Signal {
        let is_quiet = |signal: &mut Signal| !signal.ended && !signal.resized;
        let waited = self.changed.wait_timeout_while(self.signal(), time, is_quiet);
        let (mut signal, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let news = *signal;
        signal.resized = false;
        news
    }
}

impl Live {
    /// Begins to draw, if the command has anything to draw. Needs a running tokio runtime.
    pub fn start(console: &Arc<Console>, activities: &Activities, stop: &Stop) -> Live {
        let wake = Arc::<Wake>::default();
        let mut live =
            Live { console: console.clone(), activities: activities.clone(), wake: wake.clone(), thread: None };
        if console.progress.shown == ProgressForm::Nothing {
            return live;
        }
        let drawer = Drawer {
            console: console.clone(),
            activities: activities.clone(),
            stop: stop.clone(),
            busy_since: None,
            task_bar: None,
            suspension: if console.progress.has_area() { Suspension::hear() } else { None },
            was_suspended: false,
        };
        let of_thread = wake.clone();
        let thread = std::thread::Builder::new().name("status".to_owned()).spawn(move || drawer.run(&of_thread));
        match thread {
            Ok(thread) => live.thread = Some(thread),
            Err(why) => tracing::warn!("there is no status area: {why}"),
        }
        if console.progress.has_area() {
            console.lend_to_programs();
            tokio::spawn(async move {
                loop {
                    term::resized().await;
                    wake.set(|signal| signal.resized = true);
                }
            });
        }
        live
    }

    /// Ends the drawing, keeps the times for estimates, and shows or writes those that were asked for.
    pub fn finish(mut self) {
        self.end();
        let progress = &self.console.progress;
        progress.keep_times();
        let timings = progress.all_timings(self.activities.ended());
        if progress.shows_table(&timings) {
            self.console.print(&timings::table(&timings, &self.console.style));
        }
        let written = match &progress.timings {
            Some(TimingsOutput::Html(path)) => write(path, &timings::page(&progress.command, &timings)),
            Some(TimingsOutput::Trace(path)) => write(path, &timings::trace(&progress.command, &timings)),
            Some(TimingsOutput::Table) | None => Ok(()),
        };
        if let Err(problem) = written {
            progress.fail();
            self.console.diagnostics(problem.into());
        }
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.wake.set(|signal| signal.ended = true);
        // A panic of the thread is no reason to fail: what it drew is taken away here.
        let _ = thread.join();
        self.console.end_area();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether the file of the timings, if one was asked for, can be written: after an apply it would be too late to find out.
pub fn check_timings(output: Option<&TimingsOutput>) -> Result<(), Diagnostic> {
    match output {
        Some(TimingsOutput::Html(path) | TimingsOutput::Trace(path)) => {
            atomic::check_writable(path).map_err(|error| unwritable(path, &error))
        }
        Some(TimingsOutput::Table) | None => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    atomic::write(path, text.as_bytes()).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Diagnostic {
    let detail = format!("The file {:?} cannot be written: {}.", path.display().to_string(), reason(error));
    Diagnostic::error("Failed to write the timings", detail)
}

/// What the thread works with.
struct Drawer {
    console: Arc<Console>,
    activities: Activities,
    stop: Stop,
    /// Since when there has been something to draw.
    busy_since: Option<Instant>,
    /// What the task bar shows.
    task_bar: Option<TaskBar>,
    /// None: suspensions need no care.
    suspension: Option<Suspension>,
    /// The program was suspended, and may still be in the background.
    was_suspended: bool,
}

impl Drawer {
    fn run(mut self, wake: &Wake) {
        loop {
            let signal = wake.wait(PERIOD);
            if self.suspension.as_ref().is_some_and(Suspension::take) {
                self.suspend();
            }
            if signal.ended {
                self.set_task_bar(None);
                return;
            }
            let now = Instant::now();
            match self.console.progress.shown {
                ProgressForm::Area => self.draw(now, signal.resized),
                ProgressForm::KeepAlive => self.keep_alive(now),
                ProgressForm::Nothing => return,
            }
        }
    }

    /// Suspends the program, with nothing of the area left for the shell.
    fn suspend(&mut self) {
        self.set_task_bar(None);
        self.console.clear_area();
        if let Some(suspension) = &self.suspension {
            suspension.stop();
        }
        self.was_suspended = true;
    }

    fn picture(&self, now: Instant) -> Option<Picture> {
        self.console.progress.picture(&self.activities.running(), now, self.stop.is_stopping())
    }

    fn draw(&mut self, now: Instant, resized: bool) {
        self.was_suspended = self.was_suspended && suspension::is_in_background();
        if self.was_suspended {
            // The shell, or another program, has the terminal.
            return self.console.clear_area();
        }
        if resized {
            // What is laid out now may be too large in a moment: the area comes back when the window keeps its size.
            return self.console.clear_area();
        }
        let picture = self.picture(now);
        let Some(picture) = picture else {
            self.busy_since = None;
            self.set_task_bar(None);
            return self.console.set_area(Vec::new());
        };
        let since = *self.busy_since.get_or_insert(now);
        if now.saturating_duration_since(since) < DELAY {
            return self.console.set_area(Vec::new());
        }
        let size = term::output_size().map_or(USUAL, |(columns, rows)| Size { columns, rows });
        let mut lines = draw::lines(&picture, size);
        if let Some(first) = lines.first_mut() {
            // The lines of the log are bold too.
            *first = self.console.style.fill("[bold][cyan]{}[reset]", &[&*first]);
        }
        self.console.set_area(lines);
        self.set_task_bar(Some(task_bar(&picture)));
    }

    fn set_task_bar(&mut self, task_bar: Option<TaskBar>) {
        if self.console.progress.has_task_bar && self.task_bar != task_bar {
            self.task_bar = task_bar;
            self.console.set_task_bar(task_bar);
        }
    }

    fn keep_alive(&self, now: Instant) {
        if self.console.is_asking() || self.console.silence(now) < SILENCE {
            return;
        }
        let progress = &self.console.progress;
        let picture = self.picture(now);
        let picture = picture.unwrap_or_else(|| Picture { title: progress.command.clone(), ..Picture::default() });
        self.console.print_error(&draw::keep_alive(&picture, progress.elapsed(now)));
    }
}

fn task_bar(picture: &Picture) -> TaskBar {
    let counts = picture.counts.and_then(|counts| Some((counts.done, counts.total.filter(|total| *total > 0)?)));
    match counts {
        None => TaskBar::Unknown,
        Some((done, total)) if picture.failed > 0 => TaskBar::Failed(done * 100 / total),
        Some((done, total)) => TaskBar::Percent(done * 100 / total),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::draw::Counts;

    #[test]
    fn the_task_bar_follows_the_counts() {
        let counts = |done, total| Some(Counts { done, total, noun: "changes" });
        let cases = [
            (None, 0, TaskBar::Unknown),
            (counts(1, None), 0, TaskBar::Unknown),
            (counts(1, Some(0)), 0, TaskBar::Unknown),
            (counts(1, Some(4)), 0, TaskBar::Percent(25)),
            (counts(1, Some(4)), 2, TaskBar::Failed(25)),
        ];
        for (counts, failed, expected) in cases {
            assert_eq!(task_bar(&Picture { counts, failed, ..Picture::default() }), expected, "{counts:?}");
        }
    }

    #[test]
    fn a_signal_ends_the_wait_and_is_given_once() {
        let wake = Wake::default();
        wake.set(|signal| signal.resized = true);
        assert!(wake.wait(Duration::from_secs(600)).resized);
        assert!(!wake.wait(Duration::ZERO).resized);
        wake.set(|signal| signal.ended = true);
        assert!(wake.wait(Duration::from_secs(600)).ended);
    }
}
