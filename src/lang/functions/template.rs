//! `templatefile` and `templatestring`.
//!
//! Owns the scope of a template: the given variables and no others, all functions but these two.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::source::SourceFile;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::builtin::{Allow, Builtin, Outcome, any, fail, fail_argument, quoted, string};
use super::consistency::confirm;
use super::filesystem::read_text;
use super::redaction::placeholder;
use super::signature::{CallContext, Function, FunctionError, Machine, Reads};
use crate::eval::scope::Resolved;
use crate::eval::{Scope, evaluate};
use crate::syntax::ast::{Expression, Traversal};
use crate::syntax::parse_template;

pub(super) fn table() -> Vec<Builtin> {
    vec![
        Builtin::new(
            "templatefile",
            vec![string("path").unknown().marked(), any("vars").unknown().marked()],
            Type::Dynamic,
            template_file,
        )
        .typed(|_| Ok(Type::Dynamic))
        .may_be_null()
        .doc("A file's content with its template sequences evaluated."),
        Builtin::new(
            "templatestring",
            vec![
                string("template").unknown().marked().about("A reference to the string that holds the template."),
                any("vars").unknown().about("An object or map of what the template can name."),
            ],
            Type::String,
            template_string,
        )
        .doc("A string's template sequences evaluated."),
    ]
}

struct TemplateScope<'s> {
    variables: &'s Value,
    outer: &'s dyn Scope,
    recursion: Recursion,
}

/// The two functions, which a template cannot call.
struct Recursion {
    file: Builtin,
    string: Builtin,
}

impl Recursion {
    fn new() -> Recursion {
        let refuse: super::builtin::FunctionBody =
            |_, _| fail("cannot recursively call templatefile from inside another template function");
        let refuse_string: super::builtin::FunctionBody =
            |_, _| fail("cannot recursively call templatestring from inside another template function");
        Recursion {
            file: Builtin::new("templatefile", vec![string("path"), any("vars")], Type::Dynamic, refuse),
            string: Builtin::new("templatestring", vec![string("template"), any("vars")], Type::Dynamic, refuse_string),
        }
    }
}

impl Scope for TemplateScope<'_> {
    fn resolve(&self, traversal: &Traversal, _: &Arc<SourceFile>) -> Resolved {
        match self.variables.get(&traversal.root.name) {
            Some(value) => Resolved::value(value.clone().mark(self.variables.marks()), 0),
            None => Resolved::value(Value::dynamic(), usize::MAX),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        match name {
            "templatefile" => Some(&self.recursion.file),
            "templatestring" => Some(&self.recursion.string),
            _ => self.outer.function(name),
        }
    }

    fn function_names(&self) -> Vec<String> {
        self.outer.function_names()
    }

    fn machine(&self) -> Option<&dyn Machine> {
        self.outer.machine()
    }
}

fn template_file(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if !a[0].is_known() || !a[1].is_known() {
        return Ok(Value::dynamic().mark(a[0].marks() | a[1].marks()));
    }
    let content = read_text(&a[0], context);
    // The template, not what it renders to: its values may differ for good reasons, and functions that it calls are
    // looked at by themselves.
    let source = content.as_ref().ok().map(|content| Value::string(content.as_str()));
    confirm(Reads::Files, "templatefile", (&a[..1], placeholder(a[0].marks()).is_some()), source.as_ref(), context)?;
    let content = content?;
    let name = placeholder(a[0].marks()).unwrap_or_else(|| a[0].as_str().unwrap_or_default());
    let (expression, diagnostics) = parse_template(SourceFile::written_in(context.dialect, name, content));
    if diagnostics.has_errors() {
        return fail(joined(&diagnostics));
    }
    render(&expression, &a[1], a[0].marks(), context)
}

fn template_string(a: &[Value], context: &CallContext<'_>) -> Outcome {
    if !a[0].is_known() || !a[1].is_known() {
        return Ok(Value::unknown_not_null(Type::String).mark(a[0].marks()));
    }
    let name = placeholder(a[0].marks()).unwrap_or("<templatestring argument>");
    let (expression, diagnostics) =
        parse_template(SourceFile::written_in(context.dialect, name, a[0].as_str().unwrap_or_default()));
    if diagnostics.has_errors() {
        return fail_argument(0, format!("invalid template: {}", joined(&diagnostics)));
    }
    let value = render(&expression, &a[1], a[0].marks(), context)?;
    if value.is_null() {
        let why = "Template result is null; The result of the template is null, which is not a valid result for a templatestring call.";
        return fail(format!("{}: {why}", expression.range()));
    }
    convert(&value, &Type::String).map_err(|e| FunctionError::new(format!("invalid template result: {e}")))
}

fn render(expression: &Expression, variables: &Value, marks: Marks, context: &CallContext<'_>) -> Outcome {
    check_variables(expression, variables)?;
    let scope = TemplateScope { variables, outer: context.scope, recursion: Recursion::new() };
    let (value, diagnostics) = evaluate(expression, &scope);
    if diagnostics.has_errors() {
        return fail(joined(&diagnostics));
    }
    Ok(value.mark(marks))
}

fn check_variables(expression: &Expression, variables: &Value) -> Result<(), FunctionError> {
    if !matches!(variables.ty(), Type::Map(_) | Type::Object(_)) {
        return fail_argument(1, "invalid vars value: must be a map");
    }
    for name in variables.entries().keys() {
        let mut chars = name.chars();
        let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !starts || !chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
            return fail_argument(
                1,
                format!(
                    "invalid template variable name {}: must start with a letter, followed by zero or more letters, digits, and underscores",
                    quoted(name)
                ),
            );
        }
    }
    for traversal in expression.variables() {
        let name = &traversal.root.name;
        if variables.get(name).is_none() {
            let at = traversal.root.span.in_file(&expression.file);
            return fail_argument(1, format!("vars map does not contain key {}, referenced at {at}", quoted(name)));
        }
    }
    Ok(())
}

/// Diagnostics as one text: the first, and how many more there are.
fn joined(diagnostics: &Diagnostics) -> String {
    let mut errors = diagnostics.iter().filter(|d| d.is_error());
    let Some(first) = errors.next() else { return String::new() };
    let at = first.subject.as_ref().map_or_else(String::new, |range| format!("{range}: "));
    let text = format!("{at}{}; {}", first.summary, first.detail);
    match errors.count() {
        0 => text,
        more => format!("{text}, and {more} other diagnostic(s)"),
    }
}
