//! How long the steps of a command took: as a table, as a page, and as a trace for viewers of such.
//!
//! Owns the layouts. Never measures, and never knows what a step is about beyond its name.

mod page;
mod trace;

use std::fmt::Write;
use std::time::Duration;

pub use page::page;
pub use trace::trace;

use crate::text::style::Style;
use crate::text::visible::visible;
use crate::words::whole_seconds;

/// So many of the slowest steps are in the table.
pub const LISTED: usize = 10;

/// A step of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The address, or what else names it. May have control characters.
    pub name: String,
    /// What was done: "create", "refresh", "start".
    pub operation: String,
    /// Since the command began.
    pub start: Duration,
    pub elapsed: Duration,
    pub failed: bool,
}

impl Timing {
    fn end(&self) -> Duration {
        self.start.saturating_add(self.elapsed)
    }
}

/// A length of time: `0.3s`, `12.5s`, `4m12s`.
pub fn seconds(time: Duration) -> String {
    match time.as_millis() {
        0..59_950 => format!("{:.1}s", time.as_secs_f64()),
        _ => whole_seconds(time.as_secs_f64().round() as u64),
    }
}

/// The slowest steps, a line for each below a heading; empty if there are no steps.
pub fn table(timings: &[Timing], style: &Style) -> String {
    if timings.is_empty() {
        return String::new();
    }
    let mut slowest: Vec<&Timing> = timings.iter().collect();
    slowest.sort_by(|a, b| b.elapsed.cmp(&a.elapsed).then_with(|| a.name.cmp(&b.name)));
    slowest.truncate(LISTED);
    let heading = match timings.len() {
        1 => "The only step:".to_owned(),
        count if count <= LISTED => format!("All {count} steps, the slowest first:"),
        count => format!("The slowest {LISTED} of {count} steps:"),
    };
    let mut out = format!("\n{}\n", style.bold(heading));
    let width = slowest.iter().map(|timing| timing.operation.len()).max().unwrap_or(0);
    for timing in slowest {
        let failed = if timing.failed { style.red(" (failed)") } else { String::new() };
        let (time, operation, name) = (seconds(timing.elapsed), &timing.operation, one_line(&timing.name));
        // Writing to a string does not fail.
        let _ = writeln!(out, "  {time:>8}  {operation:width$}  {name}{failed}");
    }
    out
}

/// The time during which at least one step ran.
pub fn busy_time(timings: &[Timing]) -> Duration {
    let mut spans: Vec<(Duration, Duration)> = timings.iter().map(|timing| (timing.start, timing.end())).collect();
    spans.sort();
    let (mut busy, mut until) = (Duration::ZERO, Duration::ZERO);
    for (start, end) in spans {
        busy += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    busy
}

/// The row of each step in a picture where steps of a row do not overlap: the first that is free.
fn rows(timings: &[Timing]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..timings.len()).collect();
    order.sort_by_key(|index| (timings[*index].start, *index));
    let mut rows = vec![0; timings.len()];
    let mut free_at: Vec<Duration> = Vec::new();
    for index in order {
        let timing = &timings[index];
        let row = free_at.iter().position(|free| *free <= timing.start).unwrap_or(free_at.len());
        match free_at.get_mut(row) {
            Some(free) => *free = timing.end(),
            None => free_at.push(timing.end()),
        }
        rows[index] = row;
    }
    rows
}

fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn timing(name: &str, start: u64, elapsed: u64) -> Timing {
        Timing {
            name: name.to_owned(),
            operation: "create".to_owned(),
            start: Duration::from_millis(start),
            elapsed: Duration::from_millis(elapsed),
            failed: false,
        }
    }

    #[test]
    fn times_are_short() {
        let cases = [(0, "0.0s"), (340, "0.3s"), (59_940, "59.9s"), (59_990, "1m0s"), (252_400, "4m12s")];
        for (millis, expected) in cases {
            assert_eq!(seconds(Duration::from_millis(millis)), expected);
        }
    }

    #[test]
    fn the_table_has_the_slowest_first() {
        assert_eq!(table(&[], &Style::plain()), "");
        let failed = Timing { failed: true, operation: "delete".to_owned(), ..timing("b", 0, 61_000) };
        let few = [timing("a\x1b", 0, 100), failed, timing("c", 0, 2_000)];
        let expected = "\nAll 3 steps, the slowest first:\n      1m1s  delete  b (failed)\n      2.0s  create  c\n      0.1s  create  a\\x1b\n";
        assert_eq!(table(&few, &Style::plain()), expected);
        let many: Vec<Timing> = (0..30).map(|number| timing(&format!("n{number}"), 0, number)).collect();
        let text = table(&many, &Style::plain());
        assert!(text.starts_with("\nThe slowest 10 of 30 steps:\n"), "{text}");
        assert_eq!((text.lines().count(), text.contains("n20"), text.contains("n19")), (12, true, false));
    }

    #[test]
    fn busy_time_counts_each_moment_once() {
        let cases: &[(&[(u64, u64)], u64)] =
            &[(&[], 0), (&[(5, 10)], 10), (&[(0, 10), (5, 10)], 15), (&[(0, 10), (2, 3), (20, 5)], 15)];
        for (spans, expected) in cases {
            let timings: Vec<Timing> = spans.iter().map(|(start, elapsed)| timing("x", *start, *elapsed)).collect();
            assert_eq!(busy_time(&timings), Duration::from_millis(*expected), "{spans:?}");
        }
    }

    #[test]
    fn steps_of_a_row_do_not_overlap() {
        let timings = [timing("a", 0, 10), timing("b", 5, 10), timing("c", 10, 1), timing("d", 12, 1)];
        assert_eq!(rows(&timings), [0, 1, 0, 0]);
    }
}
