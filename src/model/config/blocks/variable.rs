//! `variable` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use lang::eval::type_expression::{self, Defaults};
use lang::syntax::ast::{Attribute, Block, Call, ExprKind, Expression, TemplateForm};
use lang::syntax::body::BodySchema;
use terrane_value::{Marks, Type, Value, convert};

use super::by_name::{Duplicate, Named};
use super::condition::{self, Condition};
use super::deprecation::{self, Deprecation};
use super::override_rule::missing_base;
use super::{labels, module_call, override_bodies};
use crate::config::constants::{constant, ignored_attributes};
use crate::opentofu;
use crate::symbols;

/// `variable "name" {}`.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Arc<str>,
    pub description: Option<String>,
    /// `Dynamic` where the block gives no type.
    pub ty: Type,
    /// The type constraint as written, if one is.
    pub type_expression: Option<Expression>,
    /// Defaults of optional attributes within the type.
    pub type_defaults: Option<Arc<Defaults>>,
    /// Converted to the type; none: the variable is required.
    pub default: Option<Value>,
    pub nullable: bool,
    pub sensitive: bool,
    pub ephemeral: bool,
    /// Its value must be known before anything is planned.
    pub is_const: bool,
    /// For callers that set it.
    pub deprecated: Option<Deprecation>,
    pub validations: Vec<Condition>,
    /// The block's header.
    pub range: Range,
}

impl Variable {
    /// Of every value of the variable.
    pub fn marks(&self) -> Marks {
        Marks::SENSITIVE.when(self.sensitive) | Marks::EPHEMERAL.when(self.ephemeral)
    }
}

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

/// A block; what is wrong with it is reported.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Variable {
    let content = diags.take(block.body.content(&SCHEMA));
    let name = block.label(0).clone();
    labels::check_label(block, 0, "Invalid variable name", diags);
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
    let deprecated = content.attribute("deprecated").and_then(|a| deprecation::decode(a, "variable", diags));
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
    if opentofu::warns_of_ignored_attributes(attribute.expr.file.dialect()) {
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

/// Takes over what a block of an override file says of a variable. The block has been read as `over`.
fn apply_override(variable: &mut Variable, over: Variable, block: &Block, diags: &mut Diagnostics) {
    let content = block.body.content(&SCHEMA).0;
    let has = |name: &str| content.attribute(name).is_some();
    if has("description") {
        variable.description = over.description;
    }
    if has("type") {
        variable.ty = over.ty;
        variable.type_expression = over.type_expression;
        variable.type_defaults = over.type_defaults;
    }
    if has("default") {
        variable.default = over.default;
    }
    if has("sensitive") {
        variable.sensitive = over.sensitive;
    }
    if has("nullable") {
        variable.nullable = over.nullable;
    }
    if has("ephemeral") {
        variable.ephemeral = over.ephemeral;
    }
    if has("const") {
        variable.is_const = over.is_const;
    }
    if has("deprecated") {
        variable.deprecated = over.deprecated;
    }
    let invalid = |detail: String| Diagnostic::error(INVALID_DEFAULT, detail).at(block.header_range());
    let Some(default) = &variable.default else { return };
    // The value as the types before had it is converted, without optional attributes that the new type would fill in.
    match convert::convert(default, &variable.ty) {
        Ok(value) => variable.default = Some(value),
        Err(why) => diags.push(invalid(match (has("type"), has("default")) {
            (true, false) => {
                format!("Overriding this variable's type constraint has made its default value invalid: {why}.")
            }
            (false, true) => format!(
                "The overridden default value for this variable is not compatible with the variable's type constraint: {why}."
            ),
            _ => format!("This variable's default value is not compatible with its type constraint: {why}."),
        })),
    }
    if !variable.nullable && variable.default.as_ref().is_some_and(|default| default.is_null()) {
        diags.push(invalid("A null default value is not valid when nullable=false.".to_string()));
    }
}

impl Named for Variable {
    const DUPLICATE: Duplicate = Duplicate {
        summary: "Duplicate variable declaration",
        what: "A variable",
        verb: "declared",
        rule: "Variable names must be unique within a module.",
    };

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn range(&self) -> &Range {
        &self.range
    }
}

/// Changes a variable of the other files as a block of an override file says. Each override is checked with what came before it.
pub fn override_by(variables: &mut [Vec<Variable>], over: &Block, diags: &mut Diagnostics) {
    let over = &Block { body: override_bodies::refuse(&over.body, &["validation"], diags), ..over.clone() };
    let decoded = decode(over, diags);
    match variables.iter_mut().flatten().find(|variable| variable.name == decoded.name) {
        Some(variable) => apply_override(variable, decoded, over, diags),
        None => {
            let subject = format!("variable named {:?}", &**over.label(0));
            let base = "a variable that was already declared";
            diags.push(missing_base(over, "Missing base variable declaration to override", &subject, base));
        }
    }
}
