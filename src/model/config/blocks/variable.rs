//! `variable` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::{self, PROGRAM};
use lang::eval::type_expression::{self, Defaults};
use lang::syntax::ast::{Attribute, Block, Call, ExprKind, Expression, TemplateForm};
use lang::syntax::body::BodySchema;
use terrane_value::{Type, Value, convert};

use super::block::{Deprecation, Variable};
use super::{condition, module_call, references};
use crate::config::constants::{constant, ignored_attributes};
use crate::symbols;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("description")
        .attribute("default")
        .attribute("type")
        .attribute("sensitive")
        .attribute("ephemeral")
        .attribute("nullable")
        .attribute("const")
        .attribute("deprecated")
        .block("validation", &[])
});

/// The arguments of the block.
pub fn schema() -> &'static BodySchema {
    &SCHEMA
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Variable {
    let content = diags.take(block.body.content(&SCHEMA));
    let name = block.label(0).clone();
    references::check_label(block, 0, "Invalid variable name", diags);
    if module_call::is_reserved_name(&name) {
        diags.push(
            Diagnostic::error(
                "Invalid variable name",
                format!("The variable name {:?} is reserved due to its special meaning inside module blocks.", &*name),
            )
            .at(block.label_range(0)),
        );
    }
    let flag = |name: &str, default: bool, diags: &mut Diagnostics| {
        content.attribute(name).and_then(|a| constant::bool(a, diags)).unwrap_or(default)
    };
    let description = content.attribute("description").and_then(|a| constant::string(a, diags));
    let (ty, type_defaults) = match content.attribute("type") {
        Some(attribute) => decode_type(&attribute.expr, diags),
        None => (Type::Dynamic, None),
    };
    let sensitive = flag("sensitive", false, diags);
    let ephemeral = flag("ephemeral", false, diags);
    let nullable = flag("nullable", true, diags);
    let is_const = flag("const", false, diags);
    if is_const && (sensitive || ephemeral) {
        let other = if sensitive { "sensitive" } else { "ephemeral" };
        let detail = format!("A variable that is marked as \"const\" cannot also be marked as \"{other}\".");
        diags.push(Diagnostic::error(format!("Const variable cannot be {other}"), detail).at(block.header_range()));
    }
    let deprecated = content.attribute("deprecated").and_then(|a| decode_deprecated(a, "variable", diags));
    let mut variable = Variable {
        name: name.clone(),
        description,
        ty,
        type_expression: content.attribute("type").map(|a| a.expr.clone()),
        type_defaults,
        default: None,
        nullable,
        sensitive,
        ephemeral,
        is_const,
        deprecated,
        validations: Vec::new(),
        range: block.header_range(),
    };
    if let Some(attribute) = content.attribute("default") {
        variable.default = Some(decode_default(attribute, &variable, diags));
    }
    for block in &content.blocks {
        variable.validations.extend(condition::decode_validation(&name, block, diags));
    }
    variable
}

fn decode_default(attribute: &Attribute, variable: &Variable, diags: &mut Diagnostics) -> Value {
    let written = diags.take(constant::value(&attribute.expr));
    if name::is_opentofu() {
        diags.extend(ignored_attributes::in_default(&attribute.expr, &variable.ty));
    }
    let mut invalid = |detail: String| {
        diags.push(Diagnostic::error(INVALID_DEFAULT, detail).at(attribute.expr.range()));
    };
    let value = fit(written, &variable.ty, variable.type_defaults.as_deref()).unwrap_or_else(|e| {
        let place = if e.path.is_empty() { String::new() } else { format!("{}: ", e.path) };
        invalid(format!("This default value is not compatible with the variable's type constraint: {place}{e}."));
        Value::dynamic()
    });
    if !variable.nullable && value.is_null() {
        invalid("A null default value is not valid when nullable=false.".to_owned());
    }
    value
}

/// A default with the optional attributes that its type fills in, as that type has it.
fn fit(written: Value, ty: &Type, defaults: Option<&Defaults>) -> Result<Value, convert::ConvertError> {
    let filled = match defaults {
        Some(defaults) if !written.is_null() => defaults.apply(&written),
        _ => written,
    };
    convert::convert(&filled, ty)
}

/// A default that does not fit its type for a variable.
pub const INVALID_DEFAULT: &str = "Invalid default value for variable";

/// A `deprecated` argument. OpenTofu refuses an empty message.
pub fn decode_deprecated(attribute: &Attribute, what: &str, diags: &mut Diagnostics) -> Option<Deprecation> {
    let text = constant::string(attribute, diags)?;
    if text.trim().is_empty() && name::is_opentofu() {
        let detail = format!(
            "The \"deprecated\" argument must not be empty, and should provide instructions on how to migrate away from usage of \
             this deprecated {what}."
        );
        diags.push(Diagnostic::error("Invalid `deprecated` value", detail).at(attribute.expr.range()));
        return None;
    }
    Some(Deprecation { message: text.into(), range: attribute.range() })
}

/// A type constraint, with the short forms `list` and `map`, and a word on the quoted forms of long ago.
pub fn decode_type(expr: &Expression, diags: &mut Diagnostics) -> (Type, Option<Arc<Defaults>>) {
    if let ExprKind::Template(t) = expr.kind()
        && t.form == TemplateForm::Quoted
        && let Some(text) = t.as_literal()
    {
        diags.push(quoted_type(&text).at(expr.range()));
        return (Type::Dynamic, None);
    }
    match expr.as_keyword() {
        Some("list") => return (Type::list(Type::Dynamic), None),
        Some("map") => return (Type::map(Type::Dynamic), None),
        _ => {}
    }
    decode_plain_type(expr, diags)
}

/// A type constraint without the forms of long ago.
pub fn decode_plain_type(expr: &Expression, diags: &mut Diagnostics) -> (Type, Option<Arc<Defaults>>) {
    let refused = |call: &Call| symbols::refuse_type(&call.name, &expr.range_of(call.name_span));
    if let Some(error) = expr.functions().into_iter().find_map(refused) {
        diags.push(error);
        return (Type::Dynamic, None);
    }
    let (ty, defaults, problems) = type_expression::parse_type(expr);
    if problems.has_errors() {
        diags.extend(problems);
        return (Type::Dynamic, None);
    }
    diags.extend(problems);
    (ty, defaults.map(Arc::new))
}

fn quoted_type(text: &str) -> Diagnostic {
    let instead = match text {
        "string" => "",
        "list" => " and write list(string) instead to explicitly indicate that the list elements are strings",
        "map" => " and write map(string) instead to explicitly indicate that the map elements are strings",
        _ => {
            return Diagnostic::error(
                "Invalid legacy variable type hint",
                "To provide a full type expression, remove the surrounding quotes and give the type expression directly.",
            );
        }
    };
    Diagnostic::error(
        "Invalid quoted type constraints",
        format!(
            "Terraform 0.11 and earlier required type constraints to be given in quotes, but that form is now deprecated \
             and will be removed in a future version of {PROGRAM}. Remove the quotes around {text:?}{instead}."
        ),
    )
}
