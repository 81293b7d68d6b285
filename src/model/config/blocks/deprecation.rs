//! The `deprecated` argument of variables and outputs.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Attribute;

use crate::config::constants::constant;
use crate::opentofu;

/// The `deprecated` argument of a variable or an output.
#[derive(Clone, Debug)]
pub struct Deprecation {
    /// May be empty.
    pub message: Arc<str>,
    /// The whole argument.
    pub range: Range,
}

/// A `deprecated` argument.
pub fn decode(attribute: &Attribute, what: &str, diags: &mut Diagnostics) -> Option<Deprecation> {
    let text = constant::string(attribute, diags)?;
    if text.trim().is_empty() && opentofu::refuses_empty_deprecations(attribute.expr.file.dialect()) {
        let detail = format!(
            "The \"deprecated\" argument must not be empty, and should provide instructions on how to migrate away from usage of \
             this deprecated {what}."
        );
        diags.push(Diagnostic::error("Invalid `deprecated` value", detail).at(attribute.expr.range()));
        return None;
    }
    Some(Deprecation { message: text.into(), range: attribute.range() })
}
