//! The summary of an apply that failed or was interrupted.

use model::plan::Mode;
use ops::interface::planning::{Tally, Unfinished};
use render::text::style::Style;

/// How many addresses a list shows.
const SHOWN: usize = 10;

/// One line with numbers, then the lists that are not empty.
pub fn text(mode: Mode, tally: Tally, left: &Unfinished, style: &Style) -> String {
    let command = if mode == Mode::Destroy { "Destroy" } else { "Apply" };
    let how = if left.interrupted { "interrupted" } else { "failed" };
    let Tally { added, changed, imported, removed, .. } = tally;
    let optional = [
        (left.tainted.len(), "tainted"),
        (left.failed, "failed"),
        (left.uncertain, "unknown"),
        (left.not_started.len(), "not started"),
    ];
    let mut numbers = if imported > 0 { format!("{imported} imported, ") } else { String::new() };
    numbers += &format!("{added} added, {changed} changed, {removed} destroyed");
    for (count, what) in optional.into_iter().filter(|(count, _)| *count > 0) {
        numbers += &format!(", {count} {what}");
    }
    let mut text = style.fill("[reset][bold]\n{} {}. Resources: {}.[reset]\n", &[&command, &how, &numbers]);
    let lists = [
        ("Tainted (the next apply replaces them)", &left.tainted),
        ("Destroyed, and not created again", &left.gone),
        ("Not started", &left.not_started),
    ];
    for (title, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
        text += &format!("\n{title}:\n");
        for name in names.iter().take(SHOWN) {
            text += &format!("  - {name}\n");
        }
        if names.len() > SHOWN {
            text += &format!("  and {} more\n", names.len() - SHOWN);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|i| format!("{prefix}.r{i}")).collect()
    }

    #[test]
    fn says_what_was_done_and_what_was_not() {
        let tally = Tally { added: 2, removed: 1, ..Tally::default() };
        let failed = Unfinished { failed: 1, ..Unfinished::default() };
        assert_eq!(
            text(Mode::Normal, tally, &failed, &Style::plain()),
            "\nApply failed. Resources: 2 added, 0 changed, 1 destroyed, 1 failed.\n"
        );
        let interrupted = Unfinished {
            interrupted: true,
            uncertain: 1,
            tainted: names("a", 1),
            gone: names("b", 1),
            not_started: names("c", 12),
            ..Unfinished::default()
        };
        let tally = Tally { imported: 3, changed: 1, ..Tally::default() };
        let listed: String = (0..10).map(|i| format!("  - c.r{i}\n")).collect();
        assert_eq!(
            text(Mode::Destroy, tally, &interrupted, &Style::plain()),
            format!(
                "\nDestroy interrupted. Resources: 3 imported, 0 added, 1 changed, 0 destroyed, 1 tainted, 1 unknown, 12 not started.\n\n\
                 Tainted (the next apply replaces them):\n  - a.r0\n\nDestroyed, and not created again:\n  - b.r0\n\n\
                 Not started:\n{listed}  and 2 more\n"
            )
        );
    }
}
