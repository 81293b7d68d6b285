//! Arguments that are version constraints.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Attribute;
use terrane_value::{Type, convert};

use super::constant;
use crate::deps::Constraints;
use crate::model_errors::INVALID_VERSION_CONSTRAINT;

/// The text of a version constraint and where it stands; none if it is not one, which is reported, or null.
pub fn decode(attribute: &Attribute, diags: &mut Diagnostics) -> Option<(String, Range)> {
    let value = diags.take(constant::value(&attribute.expr));
    let Ok(value) = convert::convert(&value, &Type::String) else {
        let detail = format!("A string value is required for {}.", attribute.name.as_str());
        diags.push(invalid_constraint(detail, attribute));
        return None;
    };
    if !value.is_known() {
        return None;
    }
    check(value.as_str()?.to_owned(), attribute, diags)
}

/// The text if it is a version constraint; anything else is reported.
pub fn check(text: String, attribute: &Attribute, diags: &mut Diagnostics) -> Option<(String, Range)> {
    if Constraints::parse(&text).is_err() {
        let detail = "This string does not use correct version constraint syntax.".to_owned();
        diags.push(invalid_constraint(detail, attribute));
        return None;
    }
    Some((text, attribute.range()))
}

fn invalid_constraint(detail: String, attribute: &Attribute) -> Diagnostic {
    Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(attribute.expr.range())
}
