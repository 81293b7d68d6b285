//! What only protocol 5 has: its schema attributes and the provisioner messages. All else is as in [`super::v6`].

use bytes::Bytes;
use prost::{DecodeError, Message};

use super::message as v6;
use super::protocol::{Call, Protocol};

/// The messages of `proto/tfplugin5.proto`.
#[allow(clippy::all)]
pub mod message {
    include!("generated/tfplugin5.rs");
}

use message as v5;

pub struct V5;

impl Protocol for V5 {
    const VERSION: u16 = 5;
    const PACKAGE: &'static str = "plugin";
    const SERVICE: &'static str = "/tfplugin5.Provider/";

    fn method(call: Call) -> &'static str {
        call.name_in_5()
    }

    fn decode_schema(bytes: Bytes) -> Result<v6::Schema, DecodeError> {
        v5::Schema::decode(bytes).map(from_schema)
    }

    fn encode_schema(schema: v6::Schema) -> Vec<u8> {
        to_schema(schema).encode_to_vec()
    }
}

fn from_schema(schema: v5::Schema) -> v6::Schema {
    v6::Schema { version: schema.version, block: schema.block.map(from_block) }
}

fn from_block(block: v5::schema::Block) -> v6::schema::Block {
    v6::schema::Block {
        version: block.version,
        attributes: block.attributes.into_iter().map(from_attribute).collect(),
        block_types: block.block_types.into_iter().map(from_nested).collect(),
        description: block.description,
        description_kind: block.description_kind,
        deprecated: block.deprecated,
        deprecation_message: block.deprecation_message,
        computed: false,
    }
}

fn from_nested(nested: v5::schema::NestedBlock) -> v6::schema::NestedBlock {
    v6::schema::NestedBlock {
        type_name: nested.type_name,
        block: nested.block.map(from_block),
        nesting: nested.nesting,
        min_items: nested.min_items,
        max_items: nested.max_items,
    }
}

fn from_attribute(attribute: v5::schema::Attribute) -> v6::schema::Attribute {
    v6::schema::Attribute {
        name: attribute.name,
        r#type: attribute.r#type,
        nested_type: None,
        description: attribute.description,
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        description_kind: attribute.description_kind,
        deprecated: attribute.deprecated,
        write_only: attribute.write_only,
        deprecation_message: attribute.deprecation_message,
    }
}

fn to_schema(schema: v6::Schema) -> v5::Schema {
    v5::Schema { version: schema.version, block: schema.block.map(to_block) }
}

fn to_block(block: v6::schema::Block) -> v5::schema::Block {
    v5::schema::Block {
        version: block.version,
        attributes: block.attributes.into_iter().map(to_attribute).collect(),
        block_types: block.block_types.into_iter().map(to_nested).collect(),
        description: block.description,
        description_kind: block.description_kind,
        deprecated: block.deprecated,
        deprecation_message: block.deprecation_message,
    }
}

fn to_nested(nested: v6::schema::NestedBlock) -> v5::schema::NestedBlock {
    v5::schema::NestedBlock {
        type_name: nested.type_name,
        block: nested.block.map(to_block),
        nesting: nested.nesting,
        min_items: nested.min_items,
        max_items: nested.max_items,
    }
}

/// Protocol 5 has no nested types: such an attribute must come here with its plain type.
fn to_attribute(attribute: v6::schema::Attribute) -> v5::schema::Attribute {
    v5::schema::Attribute {
        name: attribute.name,
        r#type: attribute.r#type,
        description: attribute.description,
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        description_kind: attribute.description_kind,
        deprecated: attribute.deprecated,
        write_only: attribute.write_only,
        deprecation_message: attribute.deprecation_message,
    }
}
