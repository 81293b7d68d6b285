//! `locals` blocks.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use terrane_value::identifier::is_identifier;

use super::block::Local;
use super::references::BAD_IDENTIFIER;

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Vec<Local> {
    let attributes = diags.take(block.body.just_attributes());
    let mut locals = Vec::with_capacity(attributes.len());
    for (name, attribute) in attributes {
        if !is_identifier(&name) {
            diags.push(Diagnostic::error("Invalid local value name", BAD_IDENTIFIER).at(attribute.name_range()));
        }
        locals.push(Local { name, range: attribute.range(), expr: attribute.expr });
    }
    locals
}
