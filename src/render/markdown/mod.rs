//! A plan or a state as a comment of a merge request: one section for each change, the most dangerous first.
//!
//! Owns what is left out where a host limits the length: the details of the least dangerous changes first, then lines from the middle of
//! the list, never its end. What is shown of a plan is decided in [`crate::review`].

mod escape;

use std::collections::BTreeMap;
use std::fmt::Write;

use base::name::COMMAND;
use escape::{code, fenced, html_code, in_html, in_line};
use model::plan::Action;

use crate::review::effect::Effect;
use crate::review::plain::one_line;
use crate::review::{MOST_CHECKS, Review, ReviewEntry, counted, more_conditions};
use crate::text::diff::rows::{DiffRow, RowShape};

/// How long a text may be, and what its reader understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommentLimit {
    /// None: as long as it takes.
    pub bytes: Option<usize>,
    /// Raw HTML is shown as text.
    pub without_html: bool,
}

impl CommentLimit {
    /// The least number of bytes that a text fits in.
    pub const LEAST: usize = 2_000;

    /// A host by its name, or a number of bytes. None: neither, or too few bytes.
    pub fn parse(text: &str) -> Option<CommentLimit> {
        let (bytes, without_html) = match text {
            "github" => (65_536, false),
            "gitlab" => (1_000_000, false),
            "azure" => (150_000, false),
            "bitbucket" => (32_768, true),
            number => (number.parse().ok().filter(|bytes| *bytes >= CommentLimit::LEAST)?, false),
        };
        Some(CommentLimit { bytes: Some(bytes), without_html })
    }
}

/// Room for what is said of what is left out, and for the counts at the end.
const TAIL: usize = 700;
/// With less room, the details of a change are left out rather than cut.
const LEAST_DETAILS: usize = 600;

/// The whole text. It is never longer than the limit.
pub fn markdown(review: &Review<'_>, limit: CommentLimit) -> String {
    let head = head(review, limit.bytes);
    let room = limit.bytes.map_or(usize::MAX, |bytes| bytes.saturating_sub(head.len() + TAIL));
    let lines: Vec<String> = review.entries.iter().map(|entry| format!("- {}\n", title(review, entry))).collect();
    // The other half is for details.
    let listed = Listed::within(&lines, room / 2);
    let mut left = room.saturating_sub(listed.bytes);
    let mut out = head;
    let (mut without_details, mut is_after_lines) = (0, false);
    for (at, (entry, line)) in review.entries.iter().zip(&lines).enumerate() {
        if listed.is_left_out(at) {
            if at == listed.first {
                let _ = write!(out, "\n*{} not listed here.*\n\n", are(listed.left_out, review));
            }
            continue;
        }
        match section(review, entry, line, left, limit.without_html) {
            SectionFit::Whole(section) => {
                left = left.saturating_sub((section.len() + 1).saturating_sub(line.len()));
                // A list ends before HTML begins.
                if std::mem::take(&mut is_after_lines) {
                    out.push('\n');
                }
                out.push_str(&section);
            }
            fit => {
                without_details += usize::from(fit == SectionFit::TooLong);
                is_after_lines = true;
                out.push_str(line);
            }
        }
    }
    if without_details + listed.left_out > 0 {
        let _ = write!(out, "\n*{} shown without details", are(without_details, review));
        if listed.left_out > 0 {
            let _ = write!(out, ", and {} not listed", are(listed.left_out, review));
        }
        let _ = write!(
            out,
            ", because this text may have {} bytes. `{COMMAND} show -html` has all of them.*\n\n**{}**\n",
            limit.bytes.unwrap_or_default(),
            review.headline
        );
    }
    out
}

/// `2 changes are`
fn are(count: usize, review: &Review<'_>) -> String {
    let what = if review.is_plan { "change" } else { "object" };
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}

/// The section of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SectionFit {
    Whole(String),
    /// It has no details.
    Nothing,
    /// There is no room for it.
    TooLong,
}

/// Which lines there is room for.
struct Listed {
    /// Those from here on are left out, so many.
    first: usize,
    left_out: usize,
    bytes: usize,
}

impl Listed {
    /// All lines if they fit; otherwise three quarters of the room for the first ones, one quarter for the last ones.
    fn within(lines: &[String], room: usize) -> Listed {
        let all: usize = lines.iter().map(String::len).sum();
        if all <= room {
            return Listed { first: lines.len(), left_out: 0, bytes: all };
        }
        let (first, start) = fitting(lines.iter(), room / 4 * 3);
        let (last, end) = fitting(lines[first..].iter().rev(), room / 4);
        Listed { first, left_out: lines.len() - first - last, bytes: start + end }
    }

    fn is_left_out(&self, at: usize) -> bool {
        (self.first..self.first + self.left_out).contains(&at)
    }
}

/// How many lines fit, and their bytes.
fn fitting<'l>(lines: impl Iterator<Item = &'l String>, room: usize) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    for line in lines {
        if bytes + line.len() > room {
            break;
        }
        (count, bytes) = (count + 1, bytes + line.len());
    }
    (count, bytes)
}

/// What comes before the changes. `bytes`: of the whole text, a quarter of which is for checks at most.
fn head(review: &Review<'_>, bytes: Option<usize>) -> String {
    let mut out = format!("## {}\n\n**{}**\n\n", review.title, review.headline);
    for note in &review.notes {
        let _ = writeln!(out, "> {note}\n");
    }
    let counts = counts(review);
    let room = bytes.map_or(usize::MAX, |bytes| (bytes / 4).min(bytes.saturating_sub(out.len() + counts.len() + TAIL)));
    out + &failed_checks(review, room) + &counts
}

/// The checks that failed, as many as there is room for: with their messages, without them, or only their number.
fn failed_checks(review: &Review<'_>, room: usize) -> String {
    let more = |count: usize| if count > 0 { format!("> {}\n\n", more_conditions(count)) } else { String::new() };
    let all = review.failed_checks.len();
    let (mut out, mut named) = (String::new(), 0);
    for check in review.failed_checks.iter().take(MOST_CHECKS) {
        let left = room.saturating_sub(out.len() + more(all).len());
        let whole = format!("> {}\n\n", check.text(in_line));
        let short = || format!("> A condition of {} failed.\n\n", in_line(&check.address));
        let text = if whole.len() <= left { whole } else { short() };
        if text.len() > left {
            break;
        }
        out.push_str(&text);
        named += 1;
    }
    out + &more(all - named)
}

/// How many changes have which effect.
fn counts(review: &Review<'_>) -> String {
    let mut out = String::new();
    let mut counts: BTreeMap<Effect, usize> = BTreeMap::new();
    let (outputs, others): (Vec<_>, Vec<_>) = review.entries.iter().partition(|entry| entry.is_output());
    others.iter().for_each(|entry| *counts.entry(entry.effect).or_default() += 1);
    if review.is_plan && !review.entries.is_empty() {
        out.push_str("| | Action | Count |\n|---|---|---:|\n");
        for (effect, count) in counts {
            let _ = writeln!(out, "| `{}` | {} | {count} |", effect.sign(), effect.word());
        }
        if !outputs.is_empty() {
            let _ = writeln!(out, "| | changes of outputs | {} |", outputs.len());
        }
        out.push('\n');
    }
    out
}

/// What is done to which object and why, in a line of Markdown.
fn title(review: &Review<'_>, entry: &ReviewEntry<'_>) -> String {
    let mut out = String::new();
    if review.is_plan {
        let _ = write!(out, "`{}` **{}** ", entry.effect.sign(), entry.effect.word());
    }
    out.push_str(&code(&entry.address));
    out + &reasons(entry, in_line, code)
}

/// The same in a line of HTML.
fn html_title(review: &Review<'_>, entry: &ReviewEntry<'_>) -> String {
    let mut out = String::new();
    if review.is_plan {
        let _ = write!(out, "{} <b>{}</b> ", html_code(entry.effect.sign()), entry.effect.word());
    }
    out.push_str(&html_code(&entry.address));
    out + &reasons(entry, in_html, html_code)
}

fn reasons(entry: &ReviewEntry<'_>, text: fn(&str) -> String, place: fn(&str) -> String) -> String {
    let mut out = String::new();
    for (at, reason) in entry.reasons.iter().enumerate() {
        out.push_str(if at == 0 { " because " } else { ", " });
        out.push_str(&text(&reason.text));
        if let Some(found) = &reason.place {
            let _ = write!(out, " ({})", place(&found.to_string()));
        }
    }
    out
}

/// A change with its details. `left`: bytes in addition to its line.
fn section(review: &Review<'_>, entry: &ReviewEntry<'_>, line: &str, left: usize, without_html: bool) -> SectionFit {
    if left < LEAST_DETAILS {
        return SectionFit::TooLong;
    }
    let lines = diff_lines(&review.rows(entry), review.is_plan);
    if lines.is_empty() && entry.remarks.is_empty() {
        return SectionFit::Nothing;
    }
    let (start, end) = match without_html {
        true => (format!("{}\n\n", title(review, entry)), "\n".to_owned()),
        false => {
            (format!("<details><summary>{}</summary>\n\n", html_title(review, entry)), "\n</details>\n\n".to_owned())
        }
    };
    let mut remarks = String::new();
    if let Some(place) = &entry.place {
        let _ = writeln!(remarks, "- block at {}", code(&place.to_string()));
    }
    entry.remarks.iter().for_each(|remark| _ = writeln!(remarks, "- {}", in_line(remark)));
    if !remarks.is_empty() {
        remarks.push('\n');
    }
    let language = if review.is_plan { "diff" } else { "" };
    let around = start.len() + remarks.len() + end.len() + 1;
    let room = left.saturating_add(line.len()).checked_sub(around);
    match room.and_then(|room| fenced_within(language, lines, room)) {
        Some(body) => SectionFit::Whole(start + &remarks + &body + &end),
        None => SectionFit::TooLong,
    }
}

/// The lines in a fence; without those in the middle if they are too long. None: not even the first and the last one fit.
fn fenced_within(language: &str, lines: Vec<String>, room: usize) -> Option<String> {
    if lines.is_empty() {
        return Some(String::new());
    }
    let whole = fenced(language, &lines);
    if whole.len() <= room {
        return Some(whole);
    }
    // The note and the fence, which may be longer because of a line that is left out.
    let fence = whole.len() - lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let room = room.checked_sub(fence + 60)?;
    let (mut start, mut end, mut used) = (0, lines.len(), 0);
    while start < end {
        let (next, is_start) = if start <= lines.len() - end { (start, true) } else { (end - 1, false) };
        if used + lines[next].len() + 1 > room {
            break;
        }
        used += lines[next].len() + 1;
        if is_start { start += 1 } else { end -= 1 }
    }
    if start == 0 {
        return None;
    }
    let note = format!("  ... {} left out here ...", counted(end - start, "line"));
    let shown: Vec<String> = lines[..start].iter().chain([&note]).chain(&lines[end..]).cloned().collect();
    Some(fenced(language, &shown))
}

/// The rows as lines with the sign in the first column, which code hosts colour. A changed value has two lines.
fn diff_lines(rows: &[DiffRow], is_plan: bool) -> Vec<String> {
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let indent = "  ".repeat(row.depth);
        let note = if row.forces_replacement { " # forces replacement" } else { "" };
        let mut line = |sign: char, text: &str| {
            let sign = if is_plan { sign } else { ' ' };
            lines.push(format!("{sign} {indent}{}{note}", one_line(text)).trim_end().to_owned());
        };
        let sign = match row.action {
            Action::Create => '+',
            Action::Delete => '-',
            _ => ' ',
        };
        let valued = |value: &Option<String>| match (&*row.name, value) {
            ("", value) => value.clone().unwrap_or_default(),
            (name, value) => format!("{name} = {}", value.as_deref().unwrap_or("null")),
        };
        match row.shape {
            RowShape::Note => line(' ', &row.name),
            RowShape::Group if row.after.is_some() => line(sign, &format!("{} -> (known after apply):", row.name)),
            RowShape::Group => line(sign, &format!("{}:", row.name)),
            RowShape::Value | RowShape::Line if row.action == Action::Update => {
                line('-', &valued(&row.before));
                line('+', &valued(&row.after));
            }
            RowShape::Value | RowShape::Line if row.action == Action::Delete => line(sign, &valued(&row.before)),
            RowShape::Value | RowShape::Line => line(sign, &valued(&row.after)),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
