//! What runs and for how long, in a temporary line; only at a terminal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ops::interface::testing::TestProgress;

use crate::console::Console;

/// Time between changes of the line.
const PERIOD: Duration = Duration::from_millis(200);

pub struct StatusLine {
    console: Arc<Console>,
    running: Arc<Mutex<RunningTests>>,
    /// The task that looks at the clock; started with the first file.
    task: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

#[derive(Default)]
struct RunningTests {
    files: usize,
    done: usize,
    /// By file and run; the text names both.
    runs: BTreeMap<(String, String), Instant>,
    /// Files that are being torn down.
    teardowns: BTreeMap<String, Instant>,
}

impl StatusLine {
    pub fn new(console: Arc<Console>) -> StatusLine {
        StatusLine { console, running: Arc::default(), task: Mutex::default() }
    }

    /// A suite of so many files begins.
    pub fn begin(&self, files: usize) {
        *lock(&self.running) = RunningTests { files, ..RunningTests::default() };
        let mut task = lock(&self.task);
        if !self.console.terminal.output || task.is_some() || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        let (console, running) = (self.console.clone(), self.running.clone());
        *task = Some(tokio::spawn(async move {
            loop {
                tokio::time::sleep(PERIOD).await;
                let running = lock(&running);
                console.status(&line(&running, Instant::now(), console.terminal.columns()));
            }
        }));
    }

    pub fn file(&self, name: &str, progress: TestProgress) {
        let mut running = lock(&self.running);
        match progress {
            TestProgress::Starting | TestProgress::Running => {}
            TestProgress::TearDown => {
                running.teardowns.insert(name.to_owned(), Instant::now());
            }
            TestProgress::Complete => {
                running.teardowns.remove(name);
                running.runs.retain(|(file, _), _| file != name);
                running.done += 1;
            }
        }
    }

    pub fn run(&self, file: &str, name: &str, progress: TestProgress) {
        let key = (file.to_owned(), name.to_owned());
        match progress {
            TestProgress::Starting => {
                lock(&self.running).runs.insert(key, Instant::now());
            }
            TestProgress::Complete => {
                let mut running = lock(&self.running);
                let since = running.runs.remove(&key);
                // What has been shown is over now.
                if since.is_some_and(|since| since.elapsed() >= PERIOD) && lock(&self.task).is_some() {
                    self.console.status(&line(&running, Instant::now(), self.console.terminal.columns()));
                }
            }
            // The line says it of the file.
            TestProgress::Running | TestProgress::TearDown => {}
        }
    }

    /// Takes the line away.
    pub fn end(&self) {
        // What is locked here cannot be shown between the two steps.
        let mut running = lock(&self.running);
        if let Some(task) = lock(&self.task).take() {
            task.abort();
            *running = RunningTests::default();
            self.console.status("");
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Empty if nothing runs; never wider than the terminal, where it could not be taken back. What runs longest is first.
fn line(running: &RunningTests, now: Instant, columns: usize) -> String {
    let runs = running.runs.iter().map(|((file, run), since)| (*since, format!("{file}/{run}")));
    let teardowns = running.teardowns.iter().map(|(file, since)| (*since, format!("{file} tearing down")));
    let mut all: Vec<(Instant, String)> = runs.chain(teardowns).collect();
    if all.is_empty() {
        return String::new();
    }
    all.sort();
    let shown =
        |(since, text): &(Instant, String)| format!("{text} {}s", now.saturating_duration_since(*since).as_secs());
    let list = all.iter().map(shown).collect::<Vec<_>>().join(", ");
    let noun = if running.files == 1 { "file" } else { "files" };
    let text = format!("  {} of {} {noun} done, running: {list}", running.done, running.files);
    if text.chars().count() < columns {
        return text;
    }
    text.chars().take(columns.saturating_sub(4)).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_what_runs_longest_first() {
        let start = Instant::now();
        let mut running = RunningTests { files: 3, done: 1, ..RunningTests::default() };
        assert_eq!(line(&running, start, 80), "");
        running.runs.insert(("b".into(), "x".into()), start);
        running.runs.insert(("a".into(), "y".into()), start + Duration::from_secs(2));
        running.teardowns.insert("c".into(), start + Duration::from_secs(3));
        let now = start + Duration::from_secs(13);
        assert_eq!(line(&running, now, 80), "  1 of 3 files done, running: b/x 13s, a/y 11s, c tearing down 10s");
        assert_eq!(line(&running, now, 30), "  1 of 3 files done, runni...");
    }
}
