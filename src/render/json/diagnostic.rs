//! The JSON form of a diagnostic: in `validate -json` and in the streams of `-json`.

use base::diag::{Diagnostic, ExpressionValue, FunctionCall, Severity, TestAssertion};
use base::source::{Position, SourceFile, Span};
use lang::functions;
use serde::Serialize;
use serde_json::Value as Json;
use terrane_value::{Type, Value};

use crate::text::snippet::{shown_subject, snippet};

/// The document of one diagnostic; serialises with the field's names and order.
#[derive(Serialize, Debug)]
pub struct DiagnosticJson {
    severity: &'static str,
    summary: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RangeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<SnippetJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecation_origin_description: Option<String>,
}

#[derive(Serialize, Debug)]
struct RangeJson {
    filename: String,
    start: PositionJson,
    end: PositionJson,
}

#[derive(Serialize, Debug)]
struct PositionJson {
    line: usize,
    column: usize,
    byte: usize,
}

#[derive(Serialize, Debug)]
struct SnippetJson {
    context: Option<String>,
    code: String,
    start_line: usize,
    highlight_start_offset: usize,
    highlight_end_offset: usize,
    values: Vec<ValueJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCallJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_assertion_expr: Option<TestAssertionJson>,
}

#[derive(Serialize, Debug)]
struct ValueJson {
    traversal: String,
    statement: String,
}

#[derive(Serialize, Debug)]
struct FunctionCallJson {
    called_as: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Json>,
}

#[derive(Serialize, Debug)]
struct TestAssertionJson {
    lhs: String,
    rhs: String,
    warning: String,
    show_verbose: bool,
}

impl From<&TestAssertion> for TestAssertionJson {
    fn from(assertion: &TestAssertion) -> TestAssertionJson {
        let TestAssertion { lhs, rhs, warning, show_verbose } = assertion.clone();
        TestAssertionJson { lhs, rhs, warning, show_verbose }
    }
}

impl From<Position> for PositionJson {
    fn from(position: Position) -> PositionJson {
        PositionJson { line: position.line, column: position.column, byte: position.byte }
    }
}

pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// One diagnostic as its JSON document.
pub fn diagnostic_json(diagnostic: &Diagnostic) -> DiagnosticJson {
    let nowhere = diagnostic.subject.as_ref().is_some_and(|subject| subject.is_nowhere());
    let range = diagnostic.subject.as_ref().map(|subject| {
        if nowhere {
            let at = |at| PositionJson { line: 0, column: at, byte: at };
            return RangeJson { filename: String::new(), start: at(0), end: at(1) };
        }
        let shown = shown_subject(subject);
        RangeJson { filename: shown.filename().into(), start: shown.start().into(), end: end_of(&shown) }
    });
    DiagnosticJson {
        severity: severity_name(diagnostic.severity),
        summary: diagnostic.summary.clone(),
        detail: diagnostic.detail.clone(),
        address: diagnostic.address.clone(),
        range,
        snippet: if nowhere { None } else { snippet_json(diagnostic) },
        deprecation_origin_description: diagnostic.deprecation_origin.clone(),
    }
}

/// The end of a range; one past the end of the file counts as a column of its last line.
fn end_of(range: &base::source::Range) -> PositionJson {
    let mut end = PositionJson::from(range.end());
    let past = range.span.end as usize;
    if past > end.byte {
        end.column += past - end.byte;
        end.byte = past;
    }
    end
}

/// The signature of a built-in function.
fn signature_json(name: &str) -> Option<Json> {
    let function = functions::lookup(name)?;
    let signature = function.signature();
    let all = signature.params.iter().chain(&signature.variadic);
    // What is known of the result when nothing is known of the arguments.
    let open = all.clone().any(|param| param.ty.is_dynamic() && !param.allow_dynamic);
    let unknown: Vec<Value> = all.map(|param| Value::unknown(param.ty.clone())).collect();
    let result = if open { Type::Dynamic } else { function.return_type(&unknown).unwrap_or(Type::Dynamic) };
    Some(signature.document(&result))
}

fn snippet_json(diagnostic: &Diagnostic) -> Option<SnippetJson> {
    let found = snippet(diagnostic)?;
    let mut values: Vec<ValueJson> = diagnostic
        .values
        .iter()
        .map(|v| ValueJson { traversal: v.traversal.clone(), statement: v.statement.clone() })
        .collect();
    values.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    let function_call = diagnostic.function_call.as_ref().map(|call| FunctionCallJson {
        called_as: call.name.clone(),
        signature: match call.signature.is_empty() {
            true => None,
            false => call.document.as_deref().cloned().or_else(|| signature_json(&call.name)),
        },
    });
    Some(SnippetJson {
        context: found.context,
        code: found.code.to_string(),
        start_line: found.start_line,
        highlight_start_offset: found.highlight.0,
        highlight_end_offset: found.highlight.1,
        values,
        function_call,
        test_assertion_expr: diagnostic.test_assertion.as_deref().map(TestAssertionJson::from),
    })
}

/// The diagnostic that a document describes. What the document leaves out is empty.
pub fn from_json(document: &Json) -> Diagnostic {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let (summary, detail) = (text(&document["summary"]), text(&document["detail"]));
    let mut diagnostic = match document["severity"].as_str() {
        Some("warning") => Diagnostic::warning(summary, detail),
        _ => Diagnostic::error(summary, detail),
    };
    diagnostic.address = document["address"].as_str().map(str::to_owned);
    let snippet = &document["snippet"];
    if !document["range"].is_null() {
        let filename = text(&document["range"]["filename"]);
        let line = document["range"]["start"]["line"].as_u64().unwrap_or_default();
        diagnostic = located(diagnostic, &filename, line as usize, snippet);
    }
    let values = snippet["values"].as_array().into_iter().flatten();
    let value =
        |found: &Json| ExpressionValue { traversal: text(&found["traversal"]), statement: text(&found["statement"]) };
    diagnostic.values = values.map(value).collect();
    let call = &snippet["function_call"];
    diagnostic.function_call = call["called_as"].as_str().map(|name| {
        let parameters = call["signature"]["params"].as_array().into_iter().flatten();
        let variadic = Some(&call["signature"]["variadic_param"]).filter(|variadic| !variadic.is_null());
        let mut names: Vec<String> = parameters.map(|parameter| text(&parameter["name"])).collect();
        names.extend(variadic.map(|variadic| format!("{}...", text(&variadic["name"]))));
        let signature = match call["signature"].is_null() {
            true => String::new(),
            false => format!("{name}({})", names.join(", ")),
        };
        let document = Some(&call["signature"]).filter(|signature| !signature.is_null()).cloned().map(Box::new);
        Box::new(FunctionCall { name: name.to_owned(), signature, document })
    });
    let assertion = &snippet["test_assertion_expr"];
    diagnostic.test_assertion = assertion.is_object().then(|| {
        let show_verbose = assertion["show_verbose"].as_bool().unwrap_or_default();
        let (lhs, rhs) = (text(&assertion["lhs"]), text(&assertion["rhs"]));
        Box::new(TestAssertion { lhs, rhs, warning: text(&assertion["warning"]), show_verbose })
    });
    diagnostic
}

/// The most lines that a file is rebuilt with: the document may name any line.
const MOST_LINES: usize = 1 << 20;

/// With the place of a snippet, in a file that has the lines of the snippet where it says, and around them the block that it names.
fn located(diagnostic: Diagnostic, filename: &str, line: usize, snippet: &Json) -> Diagnostic {
    let start_line = snippet["start_line"].as_u64().map_or(line, |line| line as usize).clamp(1, MOST_LINES);
    let Some(code) = snippet["code"].as_str() else { return diagnostic };
    let context = snippet["context"].as_str().filter(|context| start_line > 1 && !code.contains(context));
    let lines_before = start_line - 1 - usize::from(context.is_some());
    let before = "\n".repeat(lines_before) + &context.map(|context| format!("{context} {{\n")).unwrap_or_default();
    let file = SourceFile::new(filename, format!("{before}{code}\n"));
    let offset = |name: &str| (snippet[name].as_u64().unwrap_or_default() as usize).min(code.len());
    let (start, end) = (offset("highlight_start_offset"), offset("highlight_end_offset"));
    let at =
        |offset: usize| before.len() + (0..=offset).rev().find(|at| code.is_char_boundary(*at)).unwrap_or_default();
    let whole = Span::new(before.len(), before.len() + code.len()).in_file(&file);
    diagnostic.at(Span::new(at(start), at(end.max(start))).in_file(&file)).within(whole)
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use serde_json::json;

    use super::*;

    #[test]
    fn has_the_known_fields() {
        let file = SourceFile::new("main.tf", "locals {\n  bad = local.m.c\n}\n");
        let diagnostic = Diagnostic::error("Unsupported attribute", "D").at(Span::new(24, 26).in_file(&file));
        let json = serde_json::to_string(&diagnostic_json(&diagnostic)).unwrap();
        let expected = concat!(
            r#"{"severity":"error","summary":"Unsupported attribute","detail":"D","#,
            r#""range":{"filename":"main.tf","start":{"line":2,"column":16,"byte":24},"end":{"line":2,"column":18,"byte":26}},"#,
            r#""snippet":{"context":"locals","code":"  bad = local.m.c","start_line":2,"highlight_start_offset":15,"#,
            r#""highlight_end_offset":17,"values":[]}}"#,
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn has_the_signatures_of_provider_functions() {
        let file = SourceFile::new("main.tf", "locals {\n  a = provider::p::f(1)\n}\n");
        let mut diagnostic = Diagnostic::error("Error in function call", "D").at(Span::new(15, 31).in_file(&file));
        let signature = json!({"name": "f", "params": [], "return_type": "string"});
        let (name, text) = ("provider::p::f".to_owned(), "f()".to_owned());
        diagnostic.function_call =
            Some(Box::new(FunctionCall { name, signature: text, document: Some(Box::new(signature.clone())) }));
        let document = serde_json::to_value(diagnostic_json(&diagnostic)).unwrap();
        assert_eq!(document["snippet"]["function_call"]["signature"], signature);
    }

    #[test]
    fn documents_become_the_diagnostics_they_describe() {
        let text = "locals {\n  a = 1\n  bad = upper(local.m)\n}\n";
        let file = SourceFile::new("main.tf", text);
        let start = text.find("local.m").unwrap();
        let mut diagnostic =
            Diagnostic::error("Invalid function argument", "D").at(Span::new(start, start + 7).in_file(&file));
        diagnostic.values.push(ExpressionValue { traversal: "local.m".into(), statement: "is 5".into() });
        let call = FunctionCall { name: "upper".into(), signature: "upper(str)".into(), document: None };
        diagnostic.function_call = Some(Box::new(call));
        let diagnostic = diagnostic.with_test_assertion(TestAssertion {
            lhs: "1".into(),
            rhs: "2".into(),
            warning: "W".into(),
            show_verbose: true,
        });
        let document = serde_json::to_value(diagnostic_json(&diagnostic)).unwrap();
        let keys = ["lhs", "rhs", "warning", "show_verbose"];
        let operands = document["snippet"]["test_assertion_expr"].as_object().unwrap();
        assert!(operands.keys().eq(keys));
        let found = from_json(&document);
        let shown = |diagnostic: &Diagnostic| {
            crate::text::diagnostic::render_one(diagnostic, &crate::text::style::Style::plain())
        };
        assert_eq!(shown(&found), shown(&diagnostic));
        let bare = json!({"severity": "warning", "summary": "S", "detail": "", "address": "a.b"});
        assert_eq!(from_json(&bare), Diagnostic::warning("S", "").about("a.b"));
        let far =
            json!({"summary": "S", "range": {"filename": "x", "start": {"line": u64::MAX}}, "snippet": {"code": "é"}});
        assert!(shown(&from_json(&far)).contains("on x line"));
    }
}
