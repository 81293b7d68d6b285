//! Diagnostics for people: framed where there are colours, plain where there are none; similar warnings joined.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use base::diag::{Cause, Diagnostic, Diagnostics, Grouping, Kind, Severity};
use base::name::PROGRAM;

use super::assertion;
use super::snippet::{Snippet, snippet, typed_snippet};
use super::style::Style;
use super::visible::visible;
use super::wrap::wrap_paragraphs;

/// All of them as they are shown at the end of a command: sorted, similar warnings joined, each with its line ending.
pub struct RenderedDiagnostic {
    pub severity: Severity,
    pub text: String,
}

/// The order of showing: warnings first, of these those of the linter, then those without a place, then by file and place.
pub fn sorted(diagnostics: Diagnostics) -> Vec<Diagnostic> {
    let mut list = diagnostics.into_vec();
    list.sort_by(|a, b| {
        let place = |d: &Diagnostic| {
            d.subject.as_ref().map(|s| {
                let name = s.filename().to_string();
                (name.matches('/').count(), name, s.span.start, s.span.end)
            })
        };
        let warning = |d: &Diagnostic| d.severity != Severity::Warning;
        let lint = |d: &Diagnostic| d.kind != Kind::Lint;
        (warning(a), lint(a)).cmp(&(warning(b), lint(b))).then_with(|| place(a).cmp(&place(b)))
    });
    list
}

/// Renders all of them, one at a time: each may show a line of any length, and all of them the same one. `compact`
/// shortens warnings where there are no errors.
pub fn render_all(
    diagnostics: Diagnostics,
    style: &Style,
    compact: bool,
    grouping: Grouping,
) -> impl Iterator<Item = RenderedDiagnostic> {
    let only_warnings = !diagnostics.is_empty() && !diagnostics.has_errors();
    let mut list = join_similar(sorted(diagnostics), grouping);
    let mut short = None;
    if compact && only_warnings {
        short = Some(RenderedDiagnostic { severity: Severity::Warning, text: compact_warnings(&list, style) });
        list.clear();
    }
    let each = |joined: Joined| RenderedDiagnostic { severity: joined.first.severity, text: render(&joined, style) };
    short.into_iter().chain(list.into_iter().map(each))
}

/// Each in a frame, but without colours: for messages before the setting for colours is known.
pub fn render_framed(diagnostics: Diagnostics) -> Vec<String> {
    let list = join_similar(sorted(diagnostics), Grouping::default());
    let bare = |text: String| text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    list.iter().map(|joined| bare(render_as(joined, &Style::plain(), true))).collect()
}

/// A diagnostic that stands for others like it.
struct Joined {
    first: Diagnostic,
    others: usize,
}

/// Those with a place and the same summary become one, the first. Those with an equal cause are not even counted.
fn join_similar(mut list: Vec<Diagnostic>, grouping: Grouping) -> Vec<Joined> {
    let mut causes: HashSet<(Kind, Cause)> = HashSet::new();
    list.retain(|d| d.cause.as_ref().is_none_or(|cause| causes.insert((d.kind, (**cause).clone()))));
    let mut joined: Vec<Joined> = Vec::new();
    let mut index: HashMap<(Severity, String, String), usize> = HashMap::new();
    for diagnostic in list {
        let is_grouped = match diagnostic.severity {
            Severity::Warning => grouping.warnings,
            Severity::Error => grouping.errors,
        };
        // Their summaries say too little to stand for others.
        let is_alone = matches!(diagnostic.kind, Kind::Lint | Kind::Policy);
        if is_grouped && !diagnostic.of_check && !is_alone && diagnostic.subject.is_some() {
            let name = diagnostic.cause.as_ref().map_or_else(String::new, |cause| cause.name.clone());
            let key = (diagnostic.severity, diagnostic.summary.clone(), name);
            if let Some(at) = index.get(&key) {
                joined[*at].others += 1;
                continue;
            }
            index.insert(key, joined.len());
        }
        joined.push(Joined { first: diagnostic, others: 0 });
    }
    joined
}

fn compact_warnings(list: &[Joined], style: &Style) -> String {
    let mut out = style.fill("\n[bold][yellow]Warnings:[reset]\n\n", &[]);
    for joined in list {
        let _ = writeln!(out, "- {}", joined.first.summary);
        let more = match joined.others {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        match joined.first.subject.as_ref().filter(|subject| !subject.is_nowhere()) {
            Some(subject) => {
                let _ = writeln!(out, "  on {} line {}{more}", subject.filename(), subject.start().line);
            }
            None if !more.is_empty() => {
                let _ = writeln!(out, " {more}");
            }
            None => {}
        }
    }
    out.push_str(&format!("\nTo see the full warning notes, run {PROGRAM} without -compact-warnings.\n"));
    out
}

/// One diagnostic alone.
pub fn render_one(diagnostic: &Diagnostic, style: &Style) -> String {
    render(&Joined { first: diagnostic.clone(), others: 0 }, style)
}

fn render(joined: &Joined, style: &Style) -> String {
    render_as(joined, style, style.colour)
}

fn render_as(joined: &Joined, style: &Style, framed: bool) -> String {
    let diagnostic = &joined.first;
    let (word, tint) = match diagnostic.severity {
        Severity::Error => ("Error: ", "[red]"),
        Severity::Warning => ("Warning: ", "[yellow]"),
    };
    let frame = if framed { 2 } else { 0 };
    let width = style.width.saturating_sub(frame + 1).max(1);
    let heading = style.fill(&format!("[bold]{tint}{word}[reset]"), &[]);
    // The reset that ends the summary stands at the beginning of the line after next.
    let summary = if diagnostic.prose_summary { "[reset]{}" } else { "{}" };
    let summary = style.fill(summary, &[&visible(&diagnostic.summary)]);
    let mut body = heading + &style.fill("[bold]{}[reset]\n\n", &[&summary]);
    place(&mut body, diagnostic, style);
    let mut detail = visible(&diagnostic.detail).into_owned();
    if joined.others > 0 {
        let kind = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let note = match joined.others {
            1 => format!("(and one more similar {kind} elsewhere)"),
            n => format!("(and {n} more similar {kind}s elsewhere)"),
        };
        detail = if detail.is_empty() { note } else { format!("{detail}\n\n{note}") };
    }
    if let Some(tip) = diagnostic.tip.as_ref().filter(|_| style.tips) {
        if tip.replaces_detail {
            detail.clear();
        }
        let apart = if detail.is_empty() { "" } else { "\n\n" };
        detail = format!("{detail}{apart}{}", visible(&tip.text));
    }
    if !detail.is_empty() {
        body.push_str(&wrap_paragraphs(&detail, width));
        body.push('\n');
    }
    if !framed {
        return format!("\n{body}");
    }
    let bar = |c| style.fill(&format!("{tint}{c}[reset]"), &[]);
    let (mut out, lead) = (format!("{}\n", bar("╷")), style.fill(&format!("{tint}│[reset] "), &[]));
    for line in body.strip_suffix('\n').unwrap_or(&body).split('\n') {
        let _ = writeln!(out, "{lead}{line}");
    }
    let _ = writeln!(out, "{}", bar("╵"));
    out
}

/// "with ADDRESS," and "on FILE line N, in BLOCK:" with the snippet and the values under it.
fn place(out: &mut String, diagnostic: &Diagnostic, style: &Style) {
    if let Some(address) = &diagnostic.address {
        let _ = writeln!(out, "  with {},", visible(address));
    }
    let Some(subject) = diagnostic.subject.as_ref().filter(|subject| !subject.is_nowhere()) else { return };
    let (file, line) = (subject.filename(), subject.start().line);
    let typed = || typed_snippet(diagnostic).filter(|_| style.tips);
    match snippet(diagnostic).or_else(typed) {
        Some(found) if file.is_empty() => {
            let _ = writeln!(out, "  on the command line:");
            lines(out, &found, style);
        }
        None => {
            let _ = writeln!(out, "  on {file} line {line}:\n  (source code not available)");
        }
        Some(found) => {
            let context = found.context.as_ref().map_or(String::new(), |c| format!(", in {}", visible(c)));
            let _ = writeln!(out, "  on {file} line {line}{context}:");
            lines(out, &found, style);
            values(out, diagnostic, style);
        }
    }
    out.push('\n');
    if let Some(origin) = &diagnostic.deprecation_origin {
        let _ = writeln!(out, "  The deprecation originates from {}\n", visible(origin));
    }
}

fn lines(out: &mut String, found: &Snippet<'_>, style: &Style) {
    // Where lines are left out, the highlight may begin or end within a character.
    let whole = |at: usize| (0..=at).rev().find(|at| found.code.is_char_boundary(*at)).unwrap_or_default();
    let (from, to) = (whole(found.highlight.0), whole(found.highlight.1));
    let (before, rest) = found.code.split_at(from);
    let (inside, after) = rest.split_at(to.saturating_sub(from));
    let code = style.fill("{}[underline]{}[reset]{}", &[&visible(before), &visible(inside), &visible(after)]);
    for (i, line) in code.split('\n').enumerate() {
        let _ = writeln!(out, "{:4}: {}", found.start_line + i, line.trim_end_matches('\r'));
    }
}

fn values(out: &mut String, diagnostic: &Diagnostic, style: &Style) {
    let call = diagnostic.function_call.as_ref().filter(|call| !call.signature.is_empty());
    let assertion = diagnostic.test_assertion.as_deref();
    if diagnostic.values.is_empty() && call.is_none() && assertion.is_none() {
        return;
    }
    out.push_str(&style.fill("    [dark_gray]├────────────────[reset]\n", &[]));
    if let Some(call) = call {
        let arguments = call.signature.find('(').map_or("(...)", |at| &call.signature[at..]);
        let lead = style.fill("    [dark_gray]│[reset] while calling [bold]{}[reset](", &[&call.name]);
        let _ = writeln!(out, "{lead}{}", arguments.trim_start_matches('('));
    }
    if let Some(assertion) = assertion {
        assertion::write(out, assertion, style);
        if !assertion.show_verbose {
            return;
        }
    }
    let mut values: Vec<_> = diagnostic.values.iter().collect();
    values.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    for value in values {
        let mut lines = value.statement.split('\n');
        let first = lines.next().unwrap_or_default();
        let line = "    [dark_gray]│[reset] [bold]{}[reset] {}\n";
        out.push_str(&style.fill(line, &[&value.traversal, &first]));
        for line in lines {
            out.push_str(&style.fill("    [dark_gray]│[reset]   {}\n", &[&line]));
        }
    }
}

#[cfg(test)]
mod tests {
    use base::diag::{ExpressionValue, FunctionCall, TestAssertion};
    use base::source::{SourceFile, Span};

    use super::*;

    fn at(text: &str, needle: &str, diagnostic: Diagnostic) -> Diagnostic {
        let file = SourceFile::new("main.tf", text);
        let start = text.find(needle).unwrap();
        diagnostic.at(Span::new(start, start + needle.len()).in_file(&file))
    }

    /// As the reference shows it.
    #[test]
    fn plain_form() {
        let mut diagnostic = at(
            "\nlocals {\n  bad = upper(local.m)\n}\n",
            "local.m",
            Diagnostic::error("Invalid function argument", "Invalid value for \"str\" parameter: string required."),
        );
        let value = ExpressionValue { traversal: "local.m".into(), statement: "is object with 2 attributes".into() };
        diagnostic.values.push(value);
        let call = FunctionCall { name: "upper".into(), signature: "upper(str)".into(), document: None };
        diagnostic.function_call = Some(Box::new(call));
        let expected = "
Error: Invalid function argument

  on main.tf line 3, in locals:
   3:   bad = upper(local.m)
    ├────────────────
    │ while calling upper(str)
    │ local.m is object with 2 attributes

Invalid value for \"str\" parameter: string required.
";
        assert_eq!(render_one(&diagnostic, &Style::plain()), expected);
    }

    #[test]
    fn framed_form() {
        let diagnostic = at("output \"o\" {}\n", "output \"o\"", Diagnostic::warning("S", "D.")).about("a.b");
        let shown = render_one(&diagnostic, &Style { colour: true, bare: false, ..Style::plain() });
        let bare: String = regex_free_strip(&shown);
        assert_eq!(
            bare,
            "╷\n│ Warning: S\n│ \n│   with a.b,\n│   on main.tf line 1:\n│    1: output \"o\" {}\n│ \n│ D.\n╵\n"
        );
        assert!(shown.contains("\x1b[4moutput \"o\"\x1b[0m {}"));
    }

    fn regex_free_strip(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\x1b') {
            out.push_str(&rest[..at]);
            rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
        }
        out + rest
    }

    /// Observed, 1.16.
    #[test]
    fn values_of_assertions_have_several_lines() {
        let text = "run \"one\" {\n  condition = output.o == 1\n}\n";
        let mut diagnostic = at(text, "output.o == 1", Diagnostic::error("Test assertion failed", "It is not so."));
        let statement = "is [\n  1\n]".to_owned();
        diagnostic.values.push(ExpressionValue { traversal: "output.o".into(), statement });
        let head = "\nError: Test assertion failed\n\n  on main.tf line 2, in run \"one\":\n   2:   condition = output.o == 1\n    \
                    ├────────────────\n";
        let values = "    │ output.o is [\n    │     1\n    │   ]\n";
        let tail = "\nIt is not so.\n";
        assert_eq!(render_one(&diagnostic, &Style::plain()), format!("{head}{values}{tail}"));
        let operands = |show_verbose| TestAssertion {
            lhs: "[\n  1\n]".into(),
            rhs: "1".into(),
            warning: "W".into(),
            show_verbose,
        };
        let diff =
            "    │ Diff:\n    │ --- actual\n    │ +++ expected\n    │ - [\n    │ -   1\n    │ - ]\n    │ + 1\n\n";
        let short = diagnostic.clone().with_test_assertion(operands(false));
        assert_eq!(render_one(&short, &Style::plain()), format!("{head}    │ Warning: W\n{diff}{tail}"));
        let long = diagnostic.with_test_assertion(operands(true));
        let sides = "    │ LHS:\n    │   [\n    │     1\n    │   ]\n    │ RHS:\n    │   1\n";
        assert_eq!(render_one(&long, &Style::plain()), format!("{head}{sides}    │ Warning: W\n{diff}{values}{tail}"));
    }

    #[test]
    fn similar_warnings_are_joined() {
        let text = "a = 1\nb = 2\n";
        let warning = |needle| at(text, needle, Diagnostic::warning("Old", "Fix it."));
        let list: Diagnostics =
            vec![warning("b"), Diagnostic::warning("Other", ""), warning("a"), Diagnostic::error("E", "")].into();
        let shown: String =
            render_all(list.clone(), &Style::plain(), false, Grouping::default()).map(|s| s.text).collect();
        assert_eq!(
            shown,
            "\nWarning: Other\n\n\nWarning: Old\n\n  on main.tf line 1:\n   1: a = 1\n\nFix it.\n\n\
             (and one more similar warning elsewhere)\n\nError: E\n\n"
        );
        let warnings: Diagnostics = list.into_iter().filter(|d| !d.is_error()).collect();
        let shown: String = render_all(warnings, &Style::plain(), true, Grouping::default()).map(|s| s.text).collect();
        assert_eq!(
            shown,
            "\nWarnings:\n\n- Other\n- Old\n  on main.tf line 1 (and 1 more)\n\n\
             To see the full warning notes, run Terrane without -compact-warnings.\n"
        );
    }

    #[test]
    fn warnings_of_the_linter_are_first_and_never_joined() {
        let text = "a = 1\nb = 2\n";
        let lint = |needle| at(text, needle, Diagnostic::warning("Lint", "Fix it.")).of_kind(Kind::Lint);
        let list: Diagnostics = vec![Diagnostic::warning("Other", ""), lint("b"), lint("a")].into();
        let shown: String = render_all(list, &Style::plain(), true, Grouping::default()).map(|s| s.text).collect();
        let first = "\nWarnings:\n\n- Lint\n  on main.tf line 1\n- Lint\n  on main.tf line 2\n- Other\n";
        assert!(shown.starts_with(first), "{shown}");
    }

    #[test]
    fn warnings_of_one_cause_are_shown_once() {
        let text = "a = 1\nb = 2\nc = 3\nd = 4\n";
        let warning = |needle, name: &str, message: &str| {
            at(text, needle, Diagnostic::warning("Old", "Fix it.").caused_by(name, message))
        };
        let list: Diagnostics =
            vec![warning("a", "x", "m"), warning("b", "x", "m"), warning("c", "x", "n"), warning("d", "y", "m")].into();
        let shown = |grouping| -> String {
            render_all(list.clone(), &Style::plain(), false, grouping).map(|s| s.text).collect()
        };
        let of = |line: usize, code: &str| {
            format!("\nWarning: Old\n\n  on main.tf line {line}:\n   {line}: {code}\n\nFix it.\n")
        };
        let consolidated = format!("{}\n(and one more similar warning elsewhere)\n{}", of(1, "a = 1"), of(4, "d = 4"));
        assert_eq!(shown(Grouping::default()), consolidated);
        let each = of(1, "a = 1") + &of(3, "c = 3") + &of(4, "d = 4");
        assert_eq!(shown(Grouping { warnings: false, errors: false }), each);
    }
}
