//! Labels of blocks, and local names of providers: which ones are valid.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use terrane_value::identifier::is_identifier;

use crate::addr::provider::parse_part;
use crate::model_errors::INVALID_LOCAL_NAME;

/// The detail of every message about a bad identifier.
pub const BAD_IDENTIFIER: &str =
    "A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.";

/// Reports a label that is not an identifier.
pub fn check_label(block: &Block, label: usize, summary: &str, diags: &mut Diagnostics) {
    if !is_identifier(block.label(label)) {
        diags.push(Diagnostic::error(summary, BAD_IDENTIFIER).at(block.label_range(label)));
    }
}

/// Reads a provider's local name in its normal form: lower case, letters, digits and dashes.
pub fn check_provider_name(name: &str, range: &Range) -> Option<Diagnostic> {
    let detail = match parse_part(name) {
        Ok(normal) if normal == name => return None,
        Ok(normal) => format!("Provider names must be normalized. Replace {name:?} with {normal:?} to fix this error."),
        Err(problem) => format!("{name} is an invalid provider local name: {problem}"),
    };
    Some(Diagnostic::error(INVALID_LOCAL_NAME, detail).at(range.clone()))
}
