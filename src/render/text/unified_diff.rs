//! Differences between two texts, in the form that `diff -u` made common.

use std::io::Write;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

/// Lines of context around each change.
const CONTEXT: usize = 3;

/// What changed from `old` to `new`, a file of that name; empty if nothing did.
pub fn unified_diff(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut out = Vec::new();
    for (i, hunk) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        if i == 0 {
            let _ = write!(out, "--- old/{name}\n+++ new/{name}\n");
        }
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let old_range = range(first.old_range().start, last.old_range().end);
        let new_range = range(first.new_range().start, last.new_range().end);
        let _ = writeln!(out, "@@ -{old_range} +{new_range} @@");
        for op in hunk {
            write_op(&mut out, op, &old, &new);
        }
    }
    out
}

fn write_op(out: &mut Vec<u8>, op: &DiffOp, old: &[&[u8]], new: &[&[u8]]) {
    let (tag, old_range, new_range) = op.as_tag_tuple();
    if tag == DiffTag::Equal {
        return old[old_range].iter().for_each(|line| write_line(out, b' ', line));
    }
    old[old_range].iter().for_each(|line| write_line(out, b'-', line));
    new[new_range].iter().for_each(|line| write_line(out, b'+', line));
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
