//! The operands of a false assertion of a test, and where they differ.

use base::diag::TestAssertion;

use super::line_changes::changed_lines;
use super::style::Style;
use super::visible::visible;

/// Writes what is shown of the operands below a snippet. The operands themselves are only shown if the user wants details.
pub(super) fn write(out: &mut String, assertion: &TestAssertion, style: &Style) {
    if assertion.show_verbose {
        for (name, operand) in [("LHS", &assertion.lhs), ("RHS", &assertion.rhs)] {
            out.push_str(&style.fill("    [dark_gray]│[reset] [bold]{}[reset]:\n", &[&name]));
            for line in operand.split('\n') {
                out.push_str(&style.fill("    [dark_gray]│[reset]   {}\n", &[&visible(line)]));
            }
        }
    }
    if !assertion.warning.is_empty() {
        let line = "    [dark_gray]│[reset] [bold]Warning[reset]: {}\n";
        out.push_str(&style.fill(line, &[&assertion.warning]));
    }
    if assertion.lhs != assertion.rhs {
        write_diff(out, &assertion.lhs, &assertion.rhs, style);
    }
    out.push('\n');
}

/// All lines of both texts: those that they have in common once, those of only one with a sign.
fn write_diff(out: &mut String, actual: &str, expected: &str, style: &Style) {
    for heading in ["[bold]Diff[reset]:", "[red][bold]--- actual[reset]", "[green][bold]+++ expected[reset]"] {
        out.push_str(&style.fill(&format!("    [dark_gray]│[reset] {heading}\n"), &[]));
    }
    for (sign, line) in aligned(actual, expected) {
        let tint = match sign {
            '-' => "[red]",
            '+' => "[green]",
            _ => "",
        };
        let template = format!("    [dark_gray]│[reset] {tint}{sign}[reset] {{}}\n");
        out.push_str(&style.fill(&template, &[&visible(line)]));
    }
}

/// The lines of both texts with `-`, `+` or a space. Equal lines stand beside each other wherever the texts were shifted.
fn aligned<'a>(actual: &'a str, expected: &'a str) -> Vec<(char, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (actual.split('\n').collect(), expected.split('\n').collect());
    let bytes = |lines: &[&'a str]| lines.iter().map(|line| line.as_bytes()).collect::<Vec<&[u8]>>();
    let (removed, added) = changed_lines(&bytes(&old), &bytes(&new));
    let mut lines = Vec::with_capacity(old.len().max(new.len()));
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        while removed.get(i) == Some(&true) {
            lines.push(('-', old[i]));
            i += 1;
        }
        while added.get(j) == Some(&true) {
            lines.push(('+', new[j]));
            j += 1;
        }
        if let Some(line) = old.get(i) {
            lines.push((' ', *line));
        }
        i += 1;
        j += 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(assertion: &TestAssertion) -> String {
        let mut out = String::new();
        write(&mut out, assertion, &Style::plain());
        out
    }

    fn assertion(lhs: &str, rhs: &str) -> TestAssertion {
        TestAssertion { lhs: lhs.into(), rhs: rhs.into(), warning: String::new(), show_verbose: false }
    }

    /// Observed, 1.16.
    #[test]
    fn lines_that_differ_have_signs() {
        let found = shown(&assertion(
            "{\n  \"a\": 2,\n  \"b\": [\n    1,\n    3\n  ]\n}",
            "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}",
        ));
        let expected = "    │ Diff:
    │ --- actual
    │ +++ expected
    │   {
    │ -   \"a\": 2,
    │ +   \"a\": 1,
    │     \"b\": [
    │       1,
    │ -     3
    │ +     2
    │     ]
    │   }

";
        assert_eq!(found, expected);
    }

    #[test]
    fn inserted_lines_do_not_mark_those_behind_them() {
        let cases = [
            ("[\n  1,\n  2\n]", "[\n  0,\n  1,\n  2\n]", " +   "),
            ("[\n  1,\n  2\n]", "[\n  2\n]", " -  "),
            ("1", "2", "-+"),
            ("[]", "[\n  1\n]", "-+++"),
        ];
        for (actual, expected, signs) in cases {
            let lines = aligned(actual, expected);
            assert_eq!(lines.iter().map(|(sign, _)| *sign).collect::<String>(), signs, "{actual} {expected}");
            let text = |without| {
                let kept = lines.iter().filter(|(sign, _)| *sign != without).map(|(_, line)| *line);
                kept.collect::<Vec<_>>().join("\n")
            };
            assert_eq!((text('+').as_str(), text('-').as_str()), (actual, expected));
        }
    }

    #[test]
    fn operands_are_shown_on_request() {
        let warning = "LHS and RHS values are of different types".to_owned();
        let different = TestAssertion { warning, show_verbose: true, ..assertion("[\n  1\n]", "[\n  1\n]") };
        let expected = "    │ LHS:
    │   [
    │     1
    │   ]
    │ RHS:
    │   [
    │     1
    │   ]
    │ Warning: LHS and RHS values are of different types

";
        assert_eq!(shown(&different), expected);
    }
}
