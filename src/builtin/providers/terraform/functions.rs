//! `encode_tfvars`, `decode_tfvars`, `encode_expr`.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use lang::eval::{Resolved, Scope, evaluate};
use lang::syntax::syntax_errors::{no_functions, no_variables};
use lang::syntax::{Expression, Traversal, parse_file};
use terrane_sdk::{Function, FunctionError, Parameter, Signature, Type, Types, Value, parameter, signature};

use super::encode;

/// A function of one argument.
struct OfOne {
    parameter: (&'static str, Type),
    returns: Type,
    summary: &'static str,
    description: &'static str,
    /// Errors are about the argument.
    call: fn(&Value) -> Result<Value, String>,
}

impl Function for OfOne {
    fn signature(&self) -> Signature {
        let (name, ty) = &self.parameter;
        let parameter = Parameter { ty: ty.clone(), ..parameter::<Value>(name, "") };
        let description = self.description.to_owned();
        Signature { description, ..signature(self.summary, vec![parameter], self.returns.clone()) }
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let [argument] = &arguments[..] else { return Err(FunctionError::new("one argument is required")) };
        (self.call)(argument).map_err(|text| FunctionError::argument(0, text))
    }
}

pub fn add_to(types: &mut Types<()>) {
    let encode_tfvars = OfOne {
        parameter: ("value", Type::Dynamic),
        returns: Type::String,
        summary: "Writes an object as a variables file",
        description: "Takes an object and gives the text of a variables file (`.tfvars`) that sets each of its attributes.",
        call: encode_tfvars,
    };
    let decode_tfvars = OfOne {
        parameter: ("src", Type::String),
        returns: Type::Dynamic,
        summary: "Reads the text of a variables file",
        description: "Takes the text of a variables file (`.tfvars`) and gives an object of the values that it sets.",
        call: |text| decode_tfvars(text.as_str().unwrap_or_default()),
    };
    let encode_expr = OfOne {
        parameter: ("value", Type::Dynamic),
        returns: Type::String,
        summary: "Writes a value as an expression",
        description: "Takes any value and gives the text of an expression whose value is about the same.",
        call: encode_expr,
    };
    types.function("encode_tfvars", encode_tfvars);
    types.function("decode_tfvars", decode_tfvars);
    types.function("encode_expr", encode_expr);
}

fn encode_expr(value: &Value) -> Result<Value, String> {
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    Ok(Value::string(encode::expression(value)))
}

fn encode_tfvars(value: &Value) -> Result<Value, String> {
    if !value.ty().is_object() && !value.ty().is_map() && value.is_known() {
        return Err("invalid value to encode: must be an object whose attribute names will become the encoded \
                    variable names"
            .into());
    }
    if let Some(name) = value.entries().keys().find(|name| !terrane_value::identifier::is_identifier(name)) {
        return Err(format!(
            "invalid variable name {name:?}: must be a valid identifier, per Terraform's rules for input variable \
             declarations"
        ));
    }
    if !value.is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    Ok(Value::string(encode::attributes(value)))
}

fn decode_tfvars(text: &str) -> Result<Value, String> {
    let file = SourceFile::new("<decode_tfvars argument>", text);
    let (body, diagnostics) = parse_file(file);
    check("invalid tfvars syntax", &diagnostics)?;
    let (attributes, diagnostics) = body.just_attributes();
    check("invalid tfvars content", &diagnostics)?;
    let mut values = Vec::new();
    for (name, attribute) in attributes {
        let value = constant(&attribute.expr).map_err(|diagnostics| {
            let shown = diagnostics_text(&diagnostics);
            format!("invalid expression for variable {name:?}: {shown}")
        })?;
        values.push((name, value));
    }
    Ok(Value::object(values))
}

fn check(what: &str, diagnostics: &Diagnostics) -> Result<(), String> {
    if diagnostics.has_errors() { Err(format!("{what}: {}", diagnostics_text(diagnostics))) } else { Ok(()) }
}

/// The value of a constant expression.
fn constant(expression: &Expression) -> Result<Value, Diagnostics> {
    if let Some(call) = expression.functions().first() {
        let range = expression.range_of(call.name_span.to(call.close));
        return Err(no_functions(range).into());
    }
    let (value, diagnostics) = evaluate(expression, &NoNames);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(value) }
}

/// A scope in which nothing has a name.
struct NoNames;

impl Scope for NoNames {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        let range = traversal.span.in_file(file);
        Resolved::error(no_variables().at(range))
    }
}

/// The first error, and how many more there are, on one line.
fn diagnostics_text(diagnostics: &Diagnostics) -> String {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
    let Some(first) = errors.first() else { return String::new() };
    let place = first.subject.as_ref().map(|range| format!("{}: ", range_text(range))).unwrap_or_default();
    let more = match errors.len() {
        1 => String::new(),
        count => format!(", and {} other diagnostic(s)", count - 1),
    };
    format!("{place}{}; {}{more}", first.summary, first.detail)
}

fn range_text(range: &Range) -> String {
    let (start, end) = (range.start(), range.end());
    if start.line == end.line {
        return format!("{}:{},{}-{}", range.filename(), start.line, start.column, end.column);
    }
    format!("{}:{},{}-{},{}", range.filename(), start.line, start.column, end.line, end.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seen on the reference, 1.11.4.
    #[test]
    fn errors() {
        let decode = |text: &str| decode_tfvars(text).unwrap_err();
        for (text, expected) in [
            (
                "a = b",
                "invalid expression for variable \"a\": <decode_tfvars argument>:1,5-6: Variables not allowed; Variables \
                 may not be used here.",
            ),
            (
                "b {\n}\n",
                "invalid tfvars content: <decode_tfvars argument>:1,1-2: Unexpected \"b\" block; Blocks are not allowed \
                 here.",
            ),
            (
                "a = upper(\"x\")",
                "invalid expression for variable \"a\": <decode_tfvars argument>:1,5-15: Function calls not allowed; \
                 Functions may not be called here.",
            ),
            (
                "a = ",
                "invalid tfvars syntax: <decode_tfvars argument>:1,5-5: Missing expression; Expected the start of an \
                 expression, but found the end of the file.",
            ),
        ] {
            assert_eq!(decode(text), expected);
        }
        let encode = |value: Value| encode_tfvars(&value).unwrap_err();
        assert!(encode(Value::string("x")).starts_with("invalid value to encode: "));
        assert!(encode(Value::object([("a b", Value::int(1))])).starts_with("invalid variable name \"a b\": "));
    }

    #[test]
    fn decodes() {
        let expected = Value::object([("a", Value::int(1)), ("b", Value::tuple(vec![Value::string("x")]))]);
        assert_eq!(decode_tfvars("a = 1\nb = [\"x\"]\n"), Ok(expected));
    }
}
