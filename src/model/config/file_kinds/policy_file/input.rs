//! `input` blocks: values that are given to a file of policies from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use lang::eval::type_expression::Defaults;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;
use lang::syntax::parse_expression;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use crate::config::blocks::{labels, variable};
use crate::config::constants::constant;

/// An input of a file.
#[derive(Clone, Debug)]
pub struct PolicyInput {
    pub name: Arc<str>,
    pub ty: Type,
    type_defaults: Option<Arc<Defaults>>,
    pub default: Option<Value>,
    pub nullable: bool,
    pub sensitive: bool,
    pub range: Range,
}

/// Why a value is none of an input: the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitValue(String);

impl fmt::Display for UnfitValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const INVALID_INPUT: &str = "Invalid policy input";

static INPUT: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .required("type")
        .attribute("default")
        .attribute("description")
        .attribute("nullable")
        .attribute("sensitive")
});

/// Adds an input to others. What is wrong with it is reported.
pub(super) fn decode(block: &Block, all: &mut BTreeMap<Arc<str>, PolicyInput>, diags: &mut Diagnostics) {
    let content = diags.take(block.body.content(&INPUT));
    let name = block.label(0).clone();
    labels::check_label(block, 0, "Invalid name of a policy input", diags);
    let (ty, type_defaults) = match content.attribute("type") {
        Some(attribute) => variable::decode_plain_type(&attribute.expr, diags),
        None => (Type::Dynamic, None),
    };
    let mut flag = |name: &str| content.attribute(name).and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    let (nullable, sensitive) = (flag("nullable"), flag("sensitive"));
    if let Some(attribute) = content.attribute("description") {
        constant::string(attribute, diags);
    }
    let mut input = PolicyInput {
        name: name.clone(),
        ty,
        type_defaults,
        default: None,
        nullable,
        sensitive,
        range: block.header_range(),
    };
    if let Some(attribute) = content.attribute("default") {
        let written = diags.take(constant::value(&attribute.expr));
        match input.fit(&written) {
            Ok(value) => input.default = Some(value),
            Err(why) => {
                let detail = format!("The default value of the input {:?} is not valid: {why}.", &*name);
                diags.push(Diagnostic::error(INVALID_INPUT, detail).at(attribute.expr.range()));
            }
        }
    }
    if let Some(first) = all.get(&name) {
        let detail = format!("The input {:?} is already declared at {}.", &*name, first.range);
        diags.push(Diagnostic::error("Duplicate policy input", detail).at(block.header_range()));
        return;
    }
    all.insert(name, input);
}

impl PolicyInput {
    /// A value as the type of the input has it, marked if the input is sensitive.
    pub fn fit(&self, value: &Value) -> Result<Value, UnfitValue> {
        let filled = match &self.type_defaults {
            Some(defaults) => defaults.apply(value),
            None => value.clone(),
        };
        let value = convert(&filled, &self.ty).map_err(|error| UnfitValue(error.to_string()))?;
        if value.is_null() && !self.nullable {
            return Err(UnfitValue("it must not be null".to_owned()));
        }
        Ok(if self.sensitive { value.mark(Marks::SENSITIVE) } else { value })
    }

    /// A value from a text of the command line or of the environment: of a string, the text itself; otherwise an expression without
    /// names.
    pub fn of_text(&self, text: &str) -> Result<Value, UnfitValue> {
        if self.ty == Type::String {
            return self.fit(&Value::string(text));
        }
        let (expr, mut problems) = parse_expression(SourceFile::secret("", text));
        let value = match problems.has_errors() {
            true => Value::dynamic(),
            false => problems.take(constant::value(&expr)),
        };
        match problems.into_iter().find(Diagnostic::is_error) {
            Some(problem) => Err(UnfitValue(format!("it is not a value: {}", problem.detail.trim_end_matches('.')))),
            None => self.fit(&value),
        }
    }

    /// The value without one from outside: the default, or null. None if one must be given.
    pub fn without_value(&self) -> Option<Value> {
        match &self.default {
            Some(value) => Some(value.clone()),
            None => self.nullable.then(|| Value::null(self.ty.without_optional_deep())),
        }
    }
}
