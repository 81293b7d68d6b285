//! The message `DynamicValue` of both protocols. It is written by hand so that long texts of values are parts of a
//! message without being copied.

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{
    self, DecodeContext, WireType, encode_key, encode_varint, encoded_len_varint, key_len, skip_field,
};
use prost::{DecodeError, Message};
use terrane_value::msgpack::Pieces;
use terrane_value::text::text_bytes;

/// A value of the configuration language, as MessagePack or as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DynamicValue {
    /// All of the MessagePack that was received; the first piece of what is to be sent.
    first: Bytes,
    rest: Vec<Bytes>,
    pub json: Bytes,
}

impl DynamicValue {
    pub fn of(written: Pieces) -> DynamicValue {
        let whole = Bytes::from(written.bytes);
        let (mut pieces, mut from) = (Vec::with_capacity(2 * written.texts.len()), 0);
        for (position, text) in written.texts {
            pieces.extend([whole.slice(from..position), text_bytes(text)]);
            from = position;
        }
        let last = whole.slice(from..);
        if pieces.is_empty() {
            return DynamicValue { first: last, ..DynamicValue::default() };
        }
        pieces.push(last);
        let first = pieces.remove(0);
        DynamicValue { first, rest: pieces, json: Bytes::new() }
    }

    pub fn of_json(json: Bytes) -> DynamicValue {
        DynamicValue { json, ..DynamicValue::default() }
    }

    /// All of the MessagePack; copied where it is in pieces.
    pub fn msgpack(&self) -> Bytes {
        match self.rest.is_empty() {
            true => self.first.clone(),
            false => self.pieces().fold(Vec::new(), |whole, piece| [&*whole, piece].concat()).into(),
        }
    }

    fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    fn msgpack_len(&self) -> usize {
        self.pieces().map(Bytes::len).sum()
    }
}

const MSGPACK: u32 = 1;
const JSON: u32 = 2;

impl Message for DynamicValue {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        let length = self.msgpack_len();
        if length > 0 {
            encode_key(MSGPACK, WireType::LengthDelimited, buf);
            encode_varint(length as u64, buf);
            self.pieces().for_each(|piece| buf.put(piece.clone()));
        }
        if !self.json.is_empty() {
            encoding::bytes::encode(JSON, &self.json, buf);
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        match tag {
            MSGPACK => {
                self.rest.clear();
                encoding::bytes::merge(wire_type, &mut self.first, buf, context)
            }
            JSON => encoding::bytes::merge(wire_type, &mut self.json, buf, context),
            _ => skip_field(wire_type, tag, buf, context),
        }
    }

    fn encoded_len(&self) -> usize {
        let msgpack = match self.msgpack_len() {
            0 => 0,
            length => key_len(MSGPACK) + encoded_len_varint(length as u64) + length,
        };
        let json = if self.json.is_empty() { 0 } else { encoding::bytes::encoded_len(JSON, &self.json) };
        msgpack + json
    }

    fn clear(&mut self) {
        *self = DynamicValue::default();
    }
}

#[cfg(test)]
mod tests {
    use terrane_value::msgpack::{LONG_TEXT, encode, encode_in_pieces};
    use terrane_value::{Type, Value};

    use super::*;

    #[test]
    fn pieces_are_one_value_on_the_wire() {
        let text = |c: &str| Value::string(c.repeat(LONG_TEXT));
        let values = [
            text("a"),
            Value::tuple(vec![Value::string("short"), text("b"), text("c"), Value::int(1)]),
            Value::string("short"),
        ];
        for value in values {
            let sent = DynamicValue::of(encode_in_pieces(&value, &Type::Dynamic));
            let received = DynamicValue::decode(sent.encode_to_vec().as_slice()).unwrap();
            assert_eq!(received.first, encode(&value, &Type::Dynamic));
            assert_eq!(received.msgpack(), sent.msgpack());
            assert!(received.rest.is_empty() && sent.encoded_len() == received.encoded_len());
        }
    }
}
