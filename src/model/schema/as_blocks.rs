//! Attributes written as blocks: one whose type is a list or set of objects may also be given by blocks of its name, as
//! in the language's early versions.
//!
//! Owns which attributes of a body are written so, and the shape of such blocks. Never knows values.

use std::collections::BTreeMap;
use std::sync::Arc;

use lang::syntax::body::{Body, BodySchema};
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting};
use terrane_value::Type;

/// The attributes of the schema that this body writes as blocks, `dynamic` blocks included.
pub fn written_as_blocks(body: &Body, schema: &Block) -> BTreeMap<Arc<str>, NestedBlock> {
    let candidates: Vec<(&Arc<str>, &Type)> =
        schema.attributes.iter().filter_map(|(name, attribute)| Some((name, element(attribute)?))).collect();
    if candidates.is_empty() {
        return BTreeMap::new();
    }
    // What can be read as an argument is one: JSON does not tell an argument from a block.
    let arguments = candidates.iter().fold(BodySchema::new(), |probe, (name, _)| probe.attribute(name));
    let (written, _, _) = body.partial_content(&arguments);
    let candidates: Vec<_> = candidates.into_iter().filter(|(name, _)| written.attribute(name).is_none()).collect();
    let probe = BodySchema::new().block("dynamic", &["type"]);
    let probe = candidates.iter().fold(probe, |probe, (name, _)| probe.block(name, &[]));
    let (content, _, _) = body.partial_content(&probe);
    let is_used = |name: &str| {
        content.blocks.iter().any(|b| match &*b.kind.name {
            "dynamic" => b.labels.first().is_some_and(|l| &*l.text == name),
            kind => kind == name,
        })
    };
    let used = candidates.into_iter().filter(|(name, _)| is_used(name));
    used.map(|(name, element)| (name.clone(), block_of(&schema.attributes[name], element))).collect()
}

/// The schema as this body uses it, with blocks in place of the attributes that are written so; none if there are none.
pub(super) fn with_blocks(body: &Body, schema: &Block) -> Option<Block> {
    let blocks = written_as_blocks(body, schema);
    if blocks.is_empty() {
        return None;
    }
    let mut changed = schema.clone();
    for (name, nested) in blocks {
        changed.attributes.remove(&name);
        changed.blocks.insert(name, nested);
    }
    Some(changed)
}

/// The object type of an attribute that may be written as blocks.
pub(super) fn element(attribute: &Attribute) -> Option<&Type> {
    match &attribute.shape {
        AttributeShape::Plain(Type::List(element) | Type::Set(element)) if element.is_object() => Some(element),
        _ => None,
    }
}

/// The shape of the blocks: a type says less than a schema, so everything in them is optional.
fn block_of(attribute: &Attribute, element: &Type) -> NestedBlock {
    let is_set = matches!(&attribute.shape, AttributeShape::Plain(Type::Set(_)));
    let mut block = Block::default();
    for (name, ty) in element.object_type().into_iter().flat_map(|object| &object.attributes) {
        block.attributes.insert(name.clone(), Attribute { optional: true, ..Attribute::new(ty.clone()) });
    }
    NestedBlock { block, nesting: if is_set { Nesting::Set } else { Nesting::List }, min_items: 0, max_items: 0 }
}
