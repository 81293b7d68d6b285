//! Protocol 6: the names of its methods, and its form of schemas.

use bytes::Bytes;
use prost::{DecodeError, Message};

use super::protocol::{Call, Protocol};
// What callers name beside the protocol.
pub use super::{index, message};

/// Protocol 6.
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
