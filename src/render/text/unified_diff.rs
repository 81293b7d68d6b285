//! Differences between two texts, in the form that `diff -u` made common.

use std::io::Write;
use std::ops::Range;

use super::line_changes::{CONTEXT, changed_lines};

/// What changed from `old` to `new`, a file of that name; empty if nothing did.
pub fn unified_diff(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    let changes = changes(&changed_lines(&old, &new));
    let mut out = Vec::new();
    if !changes.is_empty() {
        let _ = write!(out, "--- old/{name}\n+++ new/{name}\n");
    }
    // Changes that share what is shown around them share a hunk.
    for hunk in changes.chunk_by(|a, b| b.old.start - a.old.end <= 2 * CONTEXT) {
        write_hunk(&mut out, hunk, &old, &new);
    }
    out
}

/// Lines of the old text that give way to lines of the new one.
struct LineChange {
    old: Range<usize>,
    new: Range<usize>,
}

fn changes((old, new): &(Vec<bool>, Vec<bool>)) -> Vec<LineChange> {
    let mut changes = Vec::new();
    let (mut i, mut j) = (0, 0);
    let run = |marks: &[bool], from: usize| from + marks[from..].iter().take_while(|changed| **changed).count();
    while i < old.len() || j < new.len() {
        let (old_end, new_end) = (run(old, i), run(new, j));
        if old_end > i || new_end > j {
            changes.push(LineChange { old: i..old_end, new: j..new_end });
        }
        (i, j) = (old_end + 1, new_end + 1);
        if old_end >= old.len() && new_end >= new.len() {
            break;
        }
    }
    changes
}

fn write_hunk(out: &mut Vec<u8>, hunk: &[LineChange], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let old_range = range(first.old.start - before, last.old.end + after);
    let new_range = range(first.new.start - before, last.new.end + after);
    let _ = writeln!(out, "@@ -{old_range} +{new_range} @@");
    let mut next = first.old.start - before;
    for change in hunk {
        old[next..change.old.start].iter().for_each(|line| write_line(out, b' ', line));
        old[change.old.clone()].iter().for_each(|line| write_line(out, b'-', line));
        new[change.new.clone()].iter().for_each(|line| write_line(out, b'+', line));
        next = change.old.end;
    }
    old[next..last.old.end + after].iter().for_each(|line| write_line(out, b' ', line));
}

fn write_line(out: &mut Vec<u8>, sign: u8, line: &[u8]) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Lines counted from 1; an empty range stands behind the line before it.
fn range(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(String::from_utf8(unified_diff("a", old.as_bytes(), new.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn changes_within_six_lines_share_a_hunk() {
        check("same\n", "same\n", "");
        check("a", "b\n", "--- old/a\n+++ new/a\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
        check("", "b\n", "--- old/a\n+++ new/a\n@@ -0,0 +1 @@\n+b\n");
        let lines = |marks: &[(usize, &str)]| {
            let text =
                |i| marks.iter().find(|(at, _)| *at == i).map_or(format!("l{i}\n"), |(_, text)| text.to_string());
            (0..20).map(text).collect::<String>()
        };
        let near = unified_diff("a", lines(&[]).as_bytes(), lines(&[(4, "x\n"), (11, "y\n")]).as_bytes());
        assert_eq!(String::from_utf8(near).unwrap().matches("@@ -").count(), 1);
        let far = unified_diff("a", lines(&[]).as_bytes(), lines(&[(4, "x\n"), (12, "y\n")]).as_bytes());
        assert_eq!(String::from_utf8(far).unwrap().matches("@@ -").count(), 2);
    }
}
