//! Differences between two values, as a tree that is computed first and rendered afterwards.
//!
//! Owns the comparison that plans show; never decides what is applied.

mod change;
mod compute;
mod draw;
mod dynamic;
mod json_text;
mod parts;
pub mod rows;
mod slices;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::dialect::Dialect;
pub use draw::{Drawing, draw as draw_with, padded, symbol, symbol_tags, valid_name, write_diff as write_with};
use model::plan::Action;
use terrane_protocol::schema::Block;
use terrane_value::{Path, Type, Value};

use super::style::Style;

/// A difference with what kind of change it is and whether it forces replacement.
#[derive(Clone, Debug)]
pub struct Diff {
    pub kind: Kind,
    pub action: Action,
    pub replace: bool,
}

#[derive(Clone, Debug)]
pub enum Kind {
    /// Before and after, null where absent.
    /// `text`: a string by its type.
    Primitive {
        before: Value,
        after: Value,
        text: bool,
    },
    /// `context`: the neighbours of a change are shown too.
    List {
        elements: Vec<Diff>,
        context: bool,
    },
    /// `nested`: of a nested attribute type, whose elements say that they force replacement.
    Set {
        elements: Vec<Diff>,
        nested: bool,
    },
    /// `nested`: of a nested attribute type, as for sets.
    Map {
        elements: BTreeMap<Arc<str>, Diff>,
        nested: bool,
    },
    /// `nested`: of a nested attribute type, whose deleted parts say `-> null`.
    Object {
        attributes: BTreeMap<Arc<str>, Diff>,
        nested: bool,
    },
    Block {
        attributes: BTreeMap<Arc<str>, Diff>,
        blocks: BTreeMap<Arc<str>, Blocks>,
    },
    Sensitive {
        inner: Box<Diff>,
        before: bool,
        after: bool,
    },
    SensitiveBlock {
        before: bool,
        after: bool,
        inner: Box<Diff>,
    },
    Unknown(Option<Box<Diff>>),
    WriteOnly {
        sensitive: bool,
    },
    TypeChange(Box<Diff>, Box<Diff>),
}

/// The nested blocks of one kind.
#[derive(Clone, Debug)]
pub struct Blocks {
    pub blocks: Vec<(Option<Arc<str>>, Diff)>,
    pub replace: bool,
    pub before_sensitive: bool,
    pub after_sensitive: bool,
    /// How many there will be is not known.
    pub unknown: bool,
}

/// The difference of two objects of a block's shape; null stands for absence. `relevant`: the paths to look at; `None`: all.
pub fn block_diff(
    schema: &Block,
    before: &Value,
    after: &Value,
    replace: &[Path],
    relevant: Option<&[&Path]>,
    dialect: Dialect,
) -> Diff {
    let replace: Vec<_> = replace.iter().map(Path::steps).collect();
    let relevant = relevant.map(|paths| paths.iter().map(|path| path.steps()).collect());
    compute::block(schema, change::Change { relevant, ..change::Change::root(before, after, &replace, dialect) })
}

/// The difference of two values of no particular type: outputs, dynamic attributes.
pub fn value_diff(before: &Value, after: &Value, dialect: Dialect) -> Diff {
    compute::output(change::Change::root(before, after, &[], dialect))
}

/// The difference of two values of this type: outputs of a state.
pub fn typed_diff(ty: &Type, before: &Value, after: &Value, dialect: Dialect) -> Diff {
    compute::by_type(ty, change::Change::root(before, after, &[], dialect))
}

/// Draws a difference that begins behind something at the given indentation (in steps of four columns).
pub fn draw(diff: &Diff, indent: usize, style: &Style) -> String {
    draw::draw(diff, indent, &Drawing::new(style))
}
