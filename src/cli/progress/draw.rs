//! The lines of the status area, and the line that keeps a silent command alive.
//!
//! Pure: what there is to draw and the size of the terminal are all that it knows. It has no clock, no colours and no state.

use std::time::Duration;

use render::text::visible::visible;
use render::words::whole_seconds;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What there is to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// What the command does: "Applying".
    pub title: String,
    /// Since the title is that.
    pub elapsed: Duration,
    /// How many of how many, and what they are: "objects". None if nothing is counted.
    pub counts: Option<Counts>,
    pub failed: usize,
    /// How long it is expected to go on.
    pub left: Option<Duration>,
    /// The command was interrupted, and waits for what runs.
    pub is_stopping: bool,
    /// What runs, the longest first.
    pub rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub done: usize,
    /// None if it is not known before.
    pub total: Option<usize>,
    pub noun: &'static str,
}

/// Something that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// An address, or what else names it.
    pub name: String,
    /// "creating"; empty if the name says it.
    pub doing: String,
    /// "at 4.7 MiB/s"
    pub rate: Option<String>,
    pub elapsed: Duration,
    /// How long it usually takes.
    pub usual: Option<Duration>,
    /// What it waits for: "hashicorp/aws".
    pub waits_for: Option<String>,
}

impl Row {
    /// `12.1 of 38.0 MiB at 4.7 MiB/s,`
    pub fn doing_at_rate(&self) -> String {
        let rate = self.rate.as_ref().map_or_else(String::new, |rate| format!(" {rate},"));
        format!("{}{rate}", one_line(&self.doing))
    }
}

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// Lines of the area at most, also in a large terminal.
const MOST_LINES: usize = 12;

/// Times below this are not shown: they would only flicker.
const SHORTEST: Duration = Duration::from_secs(1);

/// Widths of names, from which on more of a row is left out.
const LEAST_NAME: usize = 12;

/// The lines of the area, none wider than the terminal less one column. The first is the heading.
pub fn lines(picture: &Picture, size: Size) -> Vec<String> {
    let width = size.columns.saturating_sub(1);
    let height = (size.rows / 3).clamp(1, MOST_LINES);
    let mut lines = vec![heading(picture, width)];
    let room = height - 1;
    let shown = if picture.rows.len() > room { room.saturating_sub(1) } else { picture.rows.len() };
    for (index, row) in picture.rows.iter().take(shown).enumerate() {
        lines.push(row_line(row, index == 0, width));
    }
    let others = picture.rows.len() - shown;
    if others > 0 && room > 0 {
        lines.push(fit_start(&format!("  and {others} more"), width));
    }
    lines
}

/// The heading: as many of its parts as there is room for, the most important first.
fn heading(picture: &Picture, width: usize) -> String {
    let title = if picture.is_stopping { "Stopping" } else { &picture.title };
    let mut line = fit_start(&one_line(title), width);
    let mut parts = Vec::new();
    if let Some(Counts { done, total, noun }) = picture.counts {
        parts.push(match total {
            Some(total) => format!(": {done} of {total} {noun}"),
            None if done > 0 => format!(": {done} {noun}"),
            None => String::new(),
        });
    }
    if picture.failed > 0 {
        parts.push(format!(", {} failed", picture.failed));
    }
    if picture.is_stopping {
        parts.push(" (Ctrl-C again exits at once)".to_owned());
    }
    if picture.elapsed >= SHORTEST {
        parts.push(format!(" [{}]", whole_seconds(picture.elapsed.as_secs())));
    }
    if let Some(left) = picture.left.filter(|_| !picture.is_stopping) {
        parts.push(format!(" about {} left", rounded(left)));
    }
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if line.width() + part.width() > width {
            break;
        }
        line += &part;
    }
    line
}

/// `  aws_instance.web[3]  creating 12s of about 31s, waits for hashicorp/aws`; less of it where there is no room.
fn row_line(row: &Row, is_slowest: bool, width: usize) -> String {
    let name = one_line(&row.name);
    let time = match row.elapsed >= SHORTEST {
        true => whole_seconds(row.elapsed.as_secs()),
        false => String::new(),
    };
    let usual = row.usual.filter(|usual| *usual >= SHORTEST && row.elapsed >= SHORTEST);
    let usual = usual.map_or_else(String::new, |usual| format!(" of about {}", rounded(usual)));
    let waits = row.waits_for.as_ref().filter(|_| is_slowest && row.elapsed >= SHORTEST);
    let waits = waits.map_or_else(String::new, |waits| format!(", waits for {}", one_line(waits)));
    let (doing, rated) = (one_line(&row.doing), row.doing_at_rate());
    let apart = if doing.is_empty() || time.is_empty() { "" } else { " " };
    let room = width.saturating_sub(2);
    let candidates = [
        format!("{rated}{apart}{time}{usual}{waits}"),
        format!("{rated}{apart}{time}{usual}"),
        format!("{rated}{apart}{time}"),
        format!("{doing}{apart}{time}"),
        time.clone(),
        String::new(),
    ];
    let least = name.width().min(LEAST_NAME);
    let fits = |end: &&String| end.is_empty() || end.width() + 2 + least <= room;
    let leaves_name = |end: &&String| end.width() + 2 + name.width() <= room;
    // A whole name says more than what it waits for and how long that takes.
    let end = candidates[..4].iter().find(leaves_name).or_else(|| candidates.iter().find(fits));
    let end = end.cloned().unwrap_or_default();
    if end.is_empty() {
        return format!("  {}", fit_end(&name, room));
    }
    format!("  {}  {end}", fit_end(&name, room - 2 - end.width()))
}

/// The line that says that a command still runs, for logs.
pub fn keep_alive(picture: &Picture, elapsed: Duration) -> String {
    let mut line = format!("Still running: {}", lower_first(&one_line(&picture.title)));
    if let Some(Counts { done, total, noun }) = picture.counts {
        line += &match total {
            Some(total) => format!(", {done} of {total} {noun}"),
            None => format!(", {done} {noun}"),
        };
    }
    if let Some(row) = picture.rows.first() {
        let doing = if row.doing.is_empty() { String::new() } else { format!(" {}", row.doing_at_rate()) };
        line += &format!(", {}{doing} for {}", one_line(&row.name), whole_seconds(row.elapsed.as_secs()));
    }
    if let Some(others) = picture.rows.len().checked_sub(1).filter(|others| *others > 0) {
        line += &format!(" and {others} more");
    }
    format!("{line} [{} elapsed]\n", whole_seconds(elapsed.as_secs()))
}

/// An expected time, as exactly as it can be: whole seconds, tens of them, minutes.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{}s", seconds.max(1)),
        60..600 => whole_seconds(seconds.div_ceil(10) * 10),
        _ => {
            let minutes = seconds.div_ceil(60);
            if minutes < 60 { format!("{minutes}m") } else { format!("{}h{}m", minutes / 60, minutes % 60) }
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\r', '\t'], " ")
}

/// The start of a text that is too wide.
fn fit_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars() {
        let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        room = left;
        out.push(c);
    }
    if width > 0 { out + "…" } else { out }
}

/// The end of a text that is too wide: the end of an address says more than its start.
fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = Vec::new();
    let mut room = width.saturating_sub(1);
    for c in text.chars().rev() {
        let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        room = left;
        kept.push(c);
    }
    let end: String = kept.into_iter().rev().collect();
    if width > 0 { format!("…{end}") } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn row(name: &str, doing: &str, elapsed: u64) -> Row {
        Row { name: name.to_owned(), doing: doing.to_owned(), elapsed: secs(elapsed), ..Row::default() }
    }

    fn applying() -> Picture {
        let slow = Row {
            usual: Some(secs(241)),
            waits_for: Some("hashicorp/aws".to_owned()),
            ..row("aws_db_instance.main", "creating", 65)
        };
        let usual = Some(secs(31));
        Picture {
            title: "Applying".to_owned(),
            elapsed: secs(72),
            counts: Some(Counts { done: 12, total: Some(60), noun: "changes" }),
            left: Some(secs(236)),
            rows: vec![
                slow,
                Row { usual, ..row("module.net.aws_instance.web[3]", "creating", 12) },
                row("data.aws_ami.a", "reading", 0),
            ],
            ..Picture::default()
        }
    }

    fn check(picture: &Picture, columns: usize, rows: usize, expected: &[&str]) {
        let found = lines(picture, Size { columns, rows });
        assert_eq!(found, expected, "{columns} x {rows}");
        assert!(found.iter().all(|line| line.width() < columns), "{found:?}");
    }

    #[test]
    fn an_apply_at_several_widths() {
        check(
            &applying(),
            80,
            24,
            &[
                "Applying: 12 of 60 changes [1m12s] about 4m0s left",
                "  aws_db_instance.main  creating 1m5s of about 4m10s, waits for hashicorp/aws",
                "  module.net.aws_instance.web[3]  creating 12s of about 31s",
                "  data.aws_ami.a  reading",
            ],
        );
        check(
            &applying(),
            70,
            24,
            &[
                "Applying: 12 of 60 changes [1m12s] about 4m0s left",
                "  aws_db_instance.main  creating 1m5s of about 4m10s",
                "  module.net.aws_instance.web[3]  creating 12s of about 31s",
                "  data.aws_ami.a  reading",
            ],
        );
        check(
            &applying(),
            40,
            24,
            &[
                "Applying: 12 of 60 changes [1m12s]",
                "  aws_db_instance.main  creating 1m5s",
                "  …et.aws_instance.web[3]  creating 12s",
                "  data.aws_ami.a  reading",
            ],
        );
    }

    #[test]
    fn a_download_without_room_for_its_rate() {
        let rate = Some("at 4.7 MiB/s".to_owned());
        let picture = Picture {
            title: "Installing providers".to_owned(),
            rows: vec![Row { rate, ..row("hashicorp/aws", "15.3 of 38.1 MiB", 3) }],
            ..Picture::default()
        };
        let cases = [
            (60, "  hashicorp/aws  15.3 of 38.1 MiB at 4.7 MiB/s, 3s"),
            (40, "  hashicorp/aws  15.3 of 38.1 MiB 3s"),
            (30, "  hashicorp/aws  3s"),
        ];
        for (columns, expected) in cases {
            assert_eq!(lines(&picture, Size { columns, rows: 24 })[1], expected);
        }
    }

    #[test]
    fn the_height_is_a_third_of_the_terminal() {
        let rows: Vec<Row> = (0..30).map(|number| row(&format!("a.b[{number}]"), "creating", 30 - number)).collect();
        let picture = Picture { title: "Applying".to_owned(), rows, ..Picture::default() };
        let of = |height: usize| lines(&picture, Size { columns: 80, rows: height });
        let cases = [(3, 1), (6, 2), (9, 3), (24, 8), (100, 12)];
        for (height, expected) in cases {
            assert_eq!(of(height).len(), expected, "{height}");
        }
        assert_eq!(of(3), ["Applying"]);
        assert_eq!(of(9), ["Applying", "  a.b[0]  creating 30s", "  and 29 more"]);
        assert_eq!(of(6), ["Applying", "  and 30 more"]);
    }

    #[test]
    fn headings() {
        let of = |picture: Picture| lines(&picture, Size { columns: 80, rows: 24 }).remove(0);
        let counts = |done, total| Some(Counts { done, total, noun: "objects" });
        let plain = Picture { title: "Planning".to_owned(), ..Picture::default() };
        let cases = [
            (plain.clone(), "Planning"),
            (Picture { counts: counts(0, None), ..plain.clone() }, "Planning"),
            (Picture { counts: counts(3, None), elapsed: secs(2), ..plain.clone() }, "Planning: 3 objects [2s]"),
            (Picture { counts: counts(3, Some(5)), failed: 1, ..plain.clone() }, "Planning: 3 of 5 objects, 1 failed"),
            (
                Picture { is_stopping: true, left: Some(secs(9)), ..plain.clone() },
                "Stopping (Ctrl-C again exits at once)",
            ),
            (
                Picture { is_stopping: true, counts: counts(3, Some(5)), failed: 1, elapsed: secs(2), ..plain.clone() },
                "Stopping: 3 of 5 objects, 1 failed (Ctrl-C again exits at once) [2s]",
            ),
            (Picture { title: "a\x1b[2J\nb".to_owned(), ..plain }, "a\\x1b[2J b"),
        ];
        for (picture, expected) in cases {
            assert_eq!(of(picture), expected);
        }
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let picture =
            Picture {
                title: "適用".to_owned(), rows: vec![row("名前名前名前名前", "", 0)], ..Picture::default()
            };
        check(&picture, 10, 24, &["適用", "  …前名前"]);
        check(&picture, 4, 24, &["適…", "  …"]);
        assert_eq!(fit_end("abc", 0), "");
        assert_eq!(fit_start("abc", 1), "…");
    }

    #[test]
    fn expected_times_are_rounded() {
        let cases = [(0, "1s"), (31, "31s"), (61, "1m10s"), (236, "4m0s"), (700, "12m"), (4000, "1h7m")];
        for (seconds, expected) in cases {
            assert_eq!(rounded(secs(seconds)), expected);
        }
    }

    #[test]
    fn a_line_keeps_a_log_alive() {
        assert_eq!(
            keep_alive(&applying(), secs(90)),
            "Still running: applying, 12 of 60 changes, aws_db_instance.main creating for 1m5s and 2 more [1m30s elapsed]\n"
        );
        let bare = Picture { title: "Reading the state".to_owned(), ..Picture::default() };
        assert_eq!(keep_alive(&bare, secs(30)), "Still running: reading the state [30s elapsed]\n");
    }
}
