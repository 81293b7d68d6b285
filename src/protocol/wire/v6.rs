//! The messages of protocol 6, which on the wire are those of protocol 5 too, but for the attributes of schemas.

use bytes::Bytes;
use prost::{DecodeError, Message};

use super::protocol::{Call, Protocol};

/// The messages of `proto/tfplugin6.proto`.
#[allow(clippy::all)]
pub mod message {
    include!("generated/tfplugin6.rs");
}

/// A schema response read one level deep: `proto/schema_index.proto`.
#[allow(clippy::all)]
pub mod index {
    include!("generated/schema_index.rs");
}

pub struct V6;

impl Protocol for V6 {
    const VERSION: u16 = 6;
    const PACKAGE: &'static str = "plugin6";
    const SERVICE: &'static str = "/tfplugin6.Provider/";

    fn method(call: Call) -> &'static str {
        call.name_in_6()
    }

    fn decode_schema(bytes: Bytes) -> Result<message::Schema, DecodeError> {
        message::Schema::decode(bytes)
    }

    fn encode_schema(schema: message::Schema) -> Vec<u8> {
        schema.encode_to_vec()
    }
}
