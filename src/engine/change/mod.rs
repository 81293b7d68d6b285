//! Pure rules about prior, planned and new objects: proposed objects, valid responses of providers, reasons for
//! replacement. Observed on the reference, release 1.11.4; values in and out carry no marks.
//!
//! Never calls a provider; never knows where an object is stored.

pub mod compatible;
pub mod go_text;
pub mod ignore;
pub mod plan_valid;
pub mod proposed;
pub mod replace;
pub mod write_only;

#[cfg(test)]
mod recorded;

use terrane_protocol::schema::{Attribute, Block, ObjectShape};
use terrane_value::set::hash_key;
use terrane_value::{Path, Value};

/// A breach of the rules: where, and what. Shown as `.path: what`.
pub type Breach = (Path, String);

/// A breach as messages show it; `root`: what the whole is called, none: nothing.
pub(crate) fn breach_text((path, wrong): &Breach, root: Option<&str>) -> String {
    match (path.is_empty(), root) {
        (true, Some(root)) => format!("{root} {wrong}"),
        (true, None) => wrong.clone(),
        (false, _) => format!("{path}: {wrong}"),
    }
}

/// A nested shape: the object of a nested block or of an attribute with nested attributes.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'s> {
    Block(&'s Block),
    Object(&'s ObjectShape),
}

impl<'s> Shape<'s> {
    pub(crate) fn attribute(self, name: &str) -> Option<&'s Attribute> {
        match self {
            Shape::Block(block) => block.attributes.get(name),
            Shape::Object(object) => object.attributes.get(name),
        }
    }

    /// The attributes that nothing but the configuration sets, those with nested attributes left out.
    pub(crate) fn configured_names(self) -> Vec<&'s str> {
        let attributes = match self {
            Shape::Block(block) => &block.attributes,
            Shape::Object(object) => &object.attributes,
        };
        let is_configured = |attribute: &Attribute| !attribute.computed && attribute.nested().is_none();
        attributes.iter().filter(|(_, attribute)| is_configured(attribute)).map(|(name, _)| &**name).collect()
    }

    /// The attribute that a path within one object of the shape ends at; none at blocks, elements and deeper values.
    pub(crate) fn attribute_at(self, path: &Path) -> Option<&'s Attribute> {
        use terrane_value::PathStep;
        let mut shape = self;
        let mut steps = path.steps().iter().peekable();
        while let Some(step) = steps.next() {
            let PathStep::Attr(name) = step else { continue };
            if let Some(attribute) = shape.attribute(name) {
                let rest_is_attr = steps.clone().any(|s| matches!(s, PathStep::Attr(_)));
                match attribute.nested() {
                    Some(object) if rest_is_attr => shape = Shape::Object(object),
                    Some(_) if steps.peek().is_some() => return None,
                    None if steps.peek().is_some() => return None,
                    _ => return Some(attribute),
                }
                continue;
            }
            match shape {
                Shape::Block(block) => shape = Shape::Block(&block.blocks.get(&**name)?.block),
                // A key of a map whose elements differ in type.
                Shape::Object(_) => {}
            }
        }
        None
    }
}

/// A text that objects share whose attributes of these names are equal.
pub(crate) fn attributes_key(object: &Value, names: &[&str]) -> String {
    names.iter().map(|name| object.get(name).map_or_else(String::new, hash_key) + ";").collect()
}

/// An attribute of a value that may be null (null of the attribute's type) or unknown (unknown of it).
pub(crate) fn part(value: &Value, name: &str) -> Value {
    if let Some(part) = value.get(name) {
        return part.clone();
    }
    let ty = value.ty().attribute(name).cloned().unwrap_or(terrane_value::Type::Dynamic);
    if value.is_known() { Value::null(ty) } else { Value::unknown(ty) }
}
