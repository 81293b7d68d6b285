//! Which processes a project has started and are still there, found by the mark in their environment.

use std::time::Instant;

use super::PATIENCE;

/// The variable that carries a project's mark.
pub const MARK: &str = "TERRANE_TEST_PROJECT";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub pid: i32,
    /// The arguments as `ps` shows them.
    pub command: String,
}

/// Everything that runs and has the mark.
pub fn of(mark: &str) -> Vec<Seen> {
    let wanted = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let marked = numbers.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|b| *b == 0).any(|variable| variable == wanted.as_bytes())
    });
    // Zombie processes have no command.
    let named = marked.filter_map(|pid| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = arguments.split(|b| *b == 0).map(String::from_utf8_lossy).collect();
        Some(Seen { pid, command: words.join(" ").trim_end().to_owned() }).filter(|seen| !seen.command.is_empty())
    });
    named.collect()
}

/// Waits until none is left; panics with those that stay.
pub fn all_gone(mark: &str) {
    let end = Instant::now() + PATIENCE / 4;
    loop {
        let left = of(mark);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "still running: {left:?}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// `kill -9`
pub fn kill(pid: i32) {
    // SAFETY: the call touches no memory.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0, "cannot kill {pid}");
}
