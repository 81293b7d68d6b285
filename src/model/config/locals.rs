//! `locals` blocks.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::syntax::ast::Block;

use super::block::Local;
use super::names::BAD_IDENTIFIER;
use crate::base::identifier::is_identifier;

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
