//! `locals` blocks.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::Body;
use terrane_value::identifier::is_identifier;

use super::by_name::{Duplicate, Named};
use super::labels::BAD_IDENTIFIER;
use super::override_bodies::{argument, items};
use super::override_rule::missing_base;

/// One attribute of a `locals` block.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Arc<str>,
    pub expr: Expression,
    pub range: Range,
}

/// The attributes of a block.
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

impl Named for Local {
    const DUPLICATE: Duplicate = Duplicate {
        summary: "Duplicate local value definition",
        what: "A local value",
        verb: "defined",
        rule: "Local value names must be unique within a module.",
    };

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn range(&self) -> &Range {
        &self.range
    }
}

/// Replaces local values of the other files by those of a block in an override file.
pub fn override_by(files: &mut [Vec<Block>], over: &Block, diags: &mut Diagnostics) {
    for attribute in diags.take(over.body.just_attributes()).into_values() {
        let name = attribute.name.as_str();
        let holds = |b: &&mut Block| b.kind.as_str() == "locals" && argument(&b.body, name).is_some();
        match files.iter_mut().flatten().find(holds) {
            Some(base) => {
                let body = items(over, vec![attribute], Vec::new());
                base.body = Body::merged(base.body.clone(), body);
            }
            None => {
                let subject = format!("local value named {name:?}");
                let base = "a local value that was already defined";
                let error = missing_base(over, "Missing base local value definition to override", &subject, base);
                diags.push(error.at(attribute.range()));
            }
        }
    }
}
