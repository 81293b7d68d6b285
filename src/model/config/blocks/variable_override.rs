//! Variables with what override files say otherwise. Each override is checked with what came before it.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use terrane_value::convert;

use super::block::Variable;
use super::variable::{self, INVALID_DEFAULT};

/// Takes over what a block of an override file says of a variable. The block has been read as `over`.
pub fn apply(variable: &mut Variable, over: Variable, block: &Block, diags: &mut Diagnostics) {
    let content = block.body.content(variable::schema()).0;
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
