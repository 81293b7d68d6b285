//! Progress of downloads in one temporary line; only at a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use install::event::InstallEvent;

use crate::console::Console;

/// Minimum time between changes of the line.
const PERIOD: Duration = Duration::from_millis(100);
const MIB: f64 = 1024.0 * 1024.0;

pub struct Downloads {
    console: Arc<Console>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Bytes so far and in all, by provider.
    running: BTreeMap<String, (u64, Option<u64>)>,
    shown: Option<Instant>,
}

impl Downloads {
    pub fn new(console: Arc<Console>) -> Downloads {
        Downloads { console, state: Mutex::default() }
    }

    pub fn hear(&self, event: &InstallEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            InstallEvent::Progress { provider, have, all } if *all != Some(*have) => {
                state.running.insert(provider.for_display(), (*have, *all));
                if state.shown.is_some_and(|shown| shown.elapsed() < PERIOD) {
                    return;
                }
            }
            InstallEvent::Progress { provider, .. }
            | InstallEvent::Downloaded { provider, .. }
            | InstallEvent::Failed { provider, .. } => {
                if state.running.remove(&provider.for_display()).is_none() {
                    return;
                }
            }
            _ => return,
        }
        state.shown = Some(Instant::now());
        self.console.status(&line(&state.running, self.console.terminal.columns()));
    }
}

/// Empty if nothing is downloaded; never wider than the terminal, where it could not be taken back.
fn line(running: &BTreeMap<String, (u64, Option<u64>)>, columns: usize) -> String {
    let mut text = String::new();
    for (provider, (have, all)) in running {
        let _ = write!(text, "{}{provider} ", if text.is_empty() { "  Downloading " } else { ", " });
        let have = *have as f64 / MIB;
        let _ = match all {
            Some(all) => write!(text, "{have:.1} of {:.1} MiB", *all as f64 / MIB),
            None => write!(text, "{have:.1} MiB"),
        };
    }
    if text.chars().count() >= columns {
        text = text.chars().take(columns.saturating_sub(4)).chain("...".chars()).collect();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits() {
        let mut running = BTreeMap::new();
        assert_eq!(line(&running, 80), "");
        running.insert("a/b".to_owned(), (3 << 19, Some(3 << 20)));
        running.insert("c/d".to_owned(), (1 << 20, None));
        assert_eq!(line(&running, 80), "  Downloading a/b 1.5 of 3.0 MiB, c/d 1.0 MiB");
        assert_eq!(line(&running, 20), "  Downloading a/...");
    }
}
