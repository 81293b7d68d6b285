//! The shape of a `list` block.

use std::sync::Arc;

use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use terrane_value::Type;

/// The block that contains the settings of a list.
pub const CONFIG: &str = "config";
/// The attribute that contains the results.
pub const DATA: &str = "data";

/// The schema of a `list` block, by the schema that the provider has for its settings: these are in a block of their own,
/// which is required if a setting is. References see the results in an attribute.
pub fn list_block(settings: &Schema) -> Schema {
    let is_required = settings.block.attributes.values().any(|attribute| attribute.required)
        || settings.block.blocks.values().any(|nested| nested.min_items > 0);
    let config = NestedBlock {
        block: settings.block.clone(),
        nesting: Nesting::Single,
        min_items: u64::from(is_required),
        max_items: u64::from(is_required),
    };
    let data = Attribute { computed: true, ..Attribute::new(Type::Dynamic) };
    let block = Block {
        attributes: [(Arc::from(DATA), data)].into(),
        blocks: [(Arc::from(CONFIG), config)].into(),
        ..Block::default()
    };
    Schema::new(settings.version, block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_settings_make_the_block_required() {
        let settings = |required| {
            let attribute = Attribute { required, optional: !required, ..Attribute::new(Type::String) };
            Schema::new(0, Block { attributes: [(Arc::from("a"), attribute)].into(), ..Block::default() })
        };
        for required in [true, false] {
            let schema = list_block(&settings(required));
            assert_eq!(schema.block.blocks[CONFIG].min_items, u64::from(required));
        }
    }
}
