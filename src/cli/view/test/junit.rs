//! The report of a suite in JUnit's format: a suite per file, a case per run. Its text is that of Go's encoder, as in the reference.

use std::borrow::Cow;
use std::fmt::Write;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::moment::Moment;
use base::name::PROGRAM;
use model::version::at_least;
use ops::interface::testing::{FileReport, RunReport, SkipReason, SuiteReport, TestStatus};
use render::text::diagnostic::render_one;
use render::text::style::Style;

use super::texts::is_failed_assertion;

/// Columns that diagnostics are laid out for.
const WIDTH: usize = 80;

const ERROR: &str = "Encountered an error";

/// The document, which does not end with a line break.
pub fn report(suite: &SuiteReport, dialect: Dialect) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>");
    let style = Style { width: WIDTH, dialect, ..Style::plain() };
    for file in &suite.files {
        write_file(&mut out, file, &style);
    }
    out.push_str(if suite.files.is_empty() { "</testsuites>" } else { "\n</testsuites>" });
    out
}

fn write_file(out: &mut String, file: &FileReport, style: &Style) {
    let count = |status| file.runs.iter().filter(|run| run.status == status).count();
    let has_errors = file.diagnostics.has_errors();
    // A file that cannot be read has no runs, and would not be seen otherwise.
    let is_unread = file.runs.is_empty() && has_errors;
    let (tests, errors) = match is_unread {
        true => (1, 1),
        false => (file.runs.len(), count(TestStatus::Error)),
    };
    let numbers = [
        ("tests", tests),
        ("skipped", count(TestStatus::Skip)),
        ("failures", count(TestStatus::Fail)),
        ("errors", errors),
    ];
    let _ = write!(out, "\n  <testsuite name=\"{}\"", attribute(&file.name));
    for (name, number) in numbers {
        let _ = write!(out, " {name}=\"{number}\"");
    }
    out.push('>');
    for (index, run) in file.runs.iter().enumerate() {
        write_run(out, file, index, run, style);
    }
    if is_unread {
        open_case(out, &file.name, &file.name);
        out.push('>');
        let message = Message { text: ERROR.into(), body: rendered(&file.diagnostics, style, Diagnostic::is_error) };
        write_element(out, 6, "error", &message);
        out.push_str("\n    </testcase>");
    } else if at_least(15) && file.status == TestStatus::Error && has_errors {
        let message = Message { text: String::new(), body: rendered(&file.diagnostics, style, |_| true) };
        write_element(out, 4, "system-err", &message);
    }
    out.push_str("\n  </testsuite>");
}

/// What an element says: an attribute, and the text in it. Both may be empty.
#[derive(Default)]
struct Message {
    text: String,
    body: String,
}

fn write_run(out: &mut String, file: &FileReport, index: usize, run: &RunReport, style: &Style) {
    open_case(out, &run.name, &file.name);
    if let Some(timing) = &run.timing {
        let taken = timing.duration.as_secs_f64();
        if taken > 0.0 {
            let _ = write!(out, " time=\"{}\"", seconds(taken));
        }
        let _ = write!(out, " timestamp=\"{}\"", timestamp(timing.start));
    }
    out.push('>');
    let elements = [result(file, index, run, style), other_diagnostics(run, style)];
    let mut has_elements = false;
    for (name, message) in elements.iter().flatten() {
        has_elements = true;
        write_element(out, 6, name, message);
    }
    out.push_str(if has_elements { "\n    </testcase>" } else { "</testcase>" });
}

fn open_case(out: &mut String, name: &str, file: &str) {
    let _ = write!(out, "\n    <testcase name=\"{}\" classname=\"{}\"", attribute(name), attribute(file));
}

/// How the run came out, unless it passed.
fn result(file: &FileReport, index: usize, run: &RunReport, style: &Style) -> Option<(&'static str, Message)> {
    Some(match run.status {
        TestStatus::Pending | TestStatus::Pass => return None,
        TestStatus::Skip => ("skipped", skipped(file, index, run)),
        TestStatus::Fail => {
            let failed: Vec<&Diagnostic> = run.diagnostics.iter().filter(|one| is_failed_assertion(one)).collect();
            let text = match failed.as_slice() {
                [] => String::new(),
                [one] => format!("1 of {} assertions failed: {}", run.assertions, one.detail),
                [first, ..] => {
                    format!("{} of {} assertions failed, including: {}", failed.len(), run.assertions, first.detail)
                }
            };
            ("failure", Message { text, body: rendered(&run.diagnostics, style, is_failed_assertion) })
        }
        TestStatus::Error => {
            let body = rendered(&run.diagnostics, style, Diagnostic::is_error);
            ("error", Message { text: ERROR.into(), body })
        }
    })
}

/// The diagnostics that are not part of the result.
fn other_diagnostics(run: &RunReport, style: &Style) -> Option<(&'static str, Message)> {
    let is_other = |diagnostic: &Diagnostic| match run.status {
        TestStatus::Error => !diagnostic.is_error(),
        _ => !is_failed_assertion(diagnostic),
    };
    let body = rendered(&run.diagnostics, style, is_other);
    (!body.is_empty()).then(|| ("system-err", Message { text: String::new(), body }))
}

fn skipped(file: &FileReport, index: usize, run: &RunReport) -> Message {
    match run.skip_reason {
        Some(SkipReason::Interrupted) => {
            return Message {
                text: "Testcase skipped due to an interrupt".into(),
                body: format!(
                    "{PROGRAM} received an interrupt and stopped gracefully. This caused all remaining testcases to be skipped"
                ),
            };
        }
        Some(SkipReason::NotSelected) => {
            return Message { text: "Testcase not selected".into(), ..Message::default() };
        }
        Some(SkipReason::EarlierError) | None => {}
    }
    let earlier = file.runs[..index].iter().rev().find(|run| run.status == TestStatus::Error);
    if let Some(earlier) = earlier.filter(|_| file.status == TestStatus::Error) {
        return Message {
            text: "Testcase skipped due to a previous testcase error".into(),
            body: format!(
                "Previous testcase {} ended in error, which caused the remaining tests in the file to be skipped",
                terrane_value::text::go_quoted(&earlier.name)
            ),
        };
    }
    if at_least(15) && file.status == TestStatus::Error && file.diagnostics.has_errors() {
        return Message { text: "Testcase skipped due to file-level errors".into(), ..Message::default() };
    }
    Message::default()
}

fn rendered(diagnostics: &Diagnostics, style: &Style, is_wanted: impl Fn(&Diagnostic) -> bool) -> String {
    diagnostics.iter().filter(|diagnostic| is_wanted(diagnostic)).map(|one| render_one(one, style)).collect()
}

fn write_element(out: &mut String, indent: usize, name: &str, message: &Message) {
    let _ = write!(out, "\n{:indent$}<{name}", "");
    if !message.text.is_empty() {
        let _ = write!(out, " message=\"{}\"", attribute(&message.text));
    }
    out.push('>');
    if !message.body.is_empty() {
        // The end of a section may not stand in it.
        let body = message.body.replace("]]>", "]]]]><![CDATA[>");
        let _ = write!(out, "<![CDATA[{}]]>", allowed(&body));
    }
    let _ = write!(out, "</{name}>");
}

/// The text with a replacement for characters that XML does not have.
fn allowed(text: &str) -> Cow<'_, str> {
    let is_forbidden =
        |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    match text.contains(is_forbidden) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace(is_forbidden, "\u{fffd}")),
    }
}

/// The text as the value of an attribute.
fn attribute(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in allowed(text).chars() {
        match c {
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' => out.push_str("&#x9;"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            c => out.push(c),
        }
    }
    out
}

/// The number as Go's `FormatFloat(x, 'g', -1, 64)`.
fn seconds(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => format!("{number}"),
    }
}

/// In RFC 3339, without fractions of seconds.
fn timestamp(moment: Moment) -> String {
    jiff::Timestamp::from_second(moment.seconds).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::test::sample_tests::{self as samples, run};

    /// As the reference writes it, 1.11.4.
    #[test]
    fn the_whole_report() {
        let expected = concat!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n",
            "  <testsuite name=\"main.tftest.hcl\" tests=\"4\" skipped=\"1\" failures=\"1\" errors=\"1\">\n",
            "    <testcase name=\"one\" classname=\"main.tftest.hcl\" time=\"1.5\" timestamp=\"2026-11-29T02:29:41Z\"></testcase>\n",
            "    <testcase name=\"two\" classname=\"main.tftest.hcl\" time=\"0.25\" timestamp=\"2026-11-29T02:29:42Z\">\n",
            "      <failure message=\"2 of 2 assertions failed, including: It is &lt;not&gt; so &amp; ]]&gt; a text that goes beyond the eightieth column of any terminal.\"><![CDATA[\n",
            "Error: Test assertion failed\n",
            "\n",
            "  on main.tftest.hcl line 2, in run \"two\":\n",
            "   2:   condition = output.n == 2\n",
            "    ├────────────────\n",
            "    │ output.n is 1\n",
            "\n",
            "It is <not> so & ]]]]><![CDATA[> a text that goes beyond the eightieth column of any\n",
            "terminal.\n",
            "\n",
            "Error: Test assertion failed\n",
            "\n",
            "Second.\n",
            "]]></failure>\n",
            "    </testcase>\n",
            "    <testcase name=\"three\" classname=\"main.tftest.hcl\" time=\"0.01\" timestamp=\"2026-11-29T02:29:43Z\">\n",
            "      <error message=\"Encountered an error\"><![CDATA[\n",
            "Error: Reference to undeclared output value\n",
            "\n",
            "An output value with the name \"nope\" has not been declared.\n",
            "]]></error>\n",
            "      <system-err><![CDATA[\n",
            "Warning: Value for undeclared variable\n",
            "\n",
            "D.\n",
            "]]></system-err>\n",
            "    </testcase>\n",
            "    <testcase name=\"four\" classname=\"main.tftest.hcl\">\n",
            "      <skipped message=\"Testcase skipped due to a previous testcase error\"><![CDATA[Previous testcase \"three\" ended in error, which caused the remaining tests in the file to be skipped]]></skipped>\n",
            "    </testcase>\n",
            "  </testsuite>\n",
            "</testsuites>",
        );
        assert_eq!(report(&samples::mixed(), Dialect::default()), expected);
        let empty = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites></testsuites>";
        assert_eq!(report(&SuiteReport::default(), Dialect::default()), empty);
    }

    #[test]
    fn skipped_runs_say_why() {
        let text_of = |reason, status| {
            let skipped = RunReport { skip_reason: reason, ..run("b", TestStatus::Skip) };
            let file = samples::file("f", status, vec![run("a", TestStatus::Error), skipped]);
            super::skipped(&file, 1, &file.runs[1]).text
        };
        let error = TestStatus::Error;
        assert_eq!(text_of(Some(SkipReason::Interrupted), error), "Testcase skipped due to an interrupt");
        assert_eq!(text_of(None, error), "Testcase skipped due to a previous testcase error");
        assert_eq!(text_of(None, TestStatus::Fail), "");
        assert_eq!(text_of(Some(SkipReason::NotSelected), error), "Testcase not selected");
    }

    #[test]
    fn files_without_runs_are_one_case() {
        let mut file = samples::file("a.tftest.hcl", TestStatus::Error, vec![]);
        file.diagnostics.error("Unsupported block type", "D.");
        let suite = SuiteReport { status: TestStatus::Error, files: vec![file], is_cleanup: false, coverage: None };
        let text = report(&suite, Dialect::default());
        let expected = "  <testsuite name=\"a.tftest.hcl\" tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"1\">\n    \
                        <testcase name=\"a.tftest.hcl\" classname=\"a.tftest.hcl\">\n      \
                        <error message=\"Encountered an error\"><![CDATA[\nError: Unsupported block type\n\nD.\n]]></error>\n    \
                        </testcase>\n  </testsuite>\n</testsuites>";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn texts_are_safe_in_attributes() {
        assert_eq!(attribute("a\"b'c\td\ne\u{1}f"), "a&#34;b&#39;c&#x9;d&#xA;e\u{fffd}f");
    }

    #[test]
    fn numbers_are_those_of_go() {
        let cases = [
            (0.014835078, "0.014835078"),
            (1.0, "1"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (123456.75, "123456.75"),
            (1234567.5, "1.2345675e+06"),
        ];
        for (number, expected) in cases {
            assert_eq!(seconds(number), expected);
        }
    }
}
