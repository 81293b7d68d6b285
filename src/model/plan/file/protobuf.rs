//! The wire format of Protocol Buffers, as far as plan files use it: fields with their numbers.

use super::error::PlanFileError;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Number(u64),
    /// Text, bytes or a message.
    Bytes(&'a [u8]),
}

/// A message: its fields in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message<'a>(Vec<(u64, Content<'a>)>);

impl<'a> Message<'a> {
    pub(super) fn read(mut bytes: &'a [u8]) -> Result<Message<'a>, PlanFileError> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = number(&mut bytes)?;
            let content = match key & 7 {
                0 => Content::Number(number(&mut bytes)?),
                1 => Content::Bytes(take(&mut bytes, 8)?),
                2 => {
                    let length = usize::try_from(number(&mut bytes)?).map_err(|_| PlanFileError::Message)?;
                    Content::Bytes(take(&mut bytes, length)?)
                }
                5 => Content::Bytes(take(&mut bytes, 4)?),
                _ => return Err(PlanFileError::Message),
            };
            fields.push((key >> 3, content));
        }
        Ok(Message(fields))
    }

    /// A number; 0 if it was not written.
    pub(super) fn number(&self, field: u64) -> u64 {
        let found = self.0.iter().rev().find_map(|(number, content)| match content {
            Content::Number(value) if *number == field => Some(*value),
            _ => None,
        });
        found.unwrap_or(0)
    }

    pub(super) fn flag(&self, field: u64) -> bool {
        self.number(field) != 0
    }

    /// All values of a repeated field.
    pub(super) fn all(&self, field: u64) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter_map(move |(number, content)| match content {
            Content::Bytes(bytes) if *number == field => Some(*bytes),
            _ => None,
        })
    }

    /// The last value, which is the one that counts.
    pub(super) fn bytes(&self, field: u64) -> Option<&'a [u8]> {
        self.all(field).last()
    }

    /// A text; empty if it was not written.
    pub(super) fn text(&self, field: u64) -> Result<&'a str, PlanFileError> {
        text(self.bytes(field).unwrap_or_default())
    }

    pub(super) fn messages(&self, field: u64) -> impl Iterator<Item = Result<Message<'a>, PlanFileError>> {
        self.all(field).map(Message::read)
    }

    /// A message; without fields if it was not written.
    pub(super) fn message(&self, field: u64) -> Result<Message<'a>, PlanFileError> {
        Message::read(self.bytes(field).unwrap_or_default())
    }
}

/// A message to write: its fields in the order in which they are added.
#[derive(Default)]
pub(super) struct Draft(Vec<u8>);

impl Draft {
    /// 0 is not written.
    pub(super) fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    pub(super) fn flag(&mut self, field: u64, value: bool) {
        self.number(field, value.into());
    }

    /// Text, bytes or a finished message.
    pub(super) fn bytes(&mut self, field: u64, content: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(content.len() as u64);
        self.0.extend_from_slice(content);
    }

    pub(super) fn message(&mut self, field: u64, content: Draft) {
        self.bytes(field, &content.0);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, PlanFileError> {
    std::str::from_utf8(bytes).map_err(|_| PlanFileError::NotUtf8)
}

fn number(bytes: &mut &[u8]) -> Result<u64, PlanFileError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first().ok_or(PlanFileError::Message)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(PlanFileError::Message)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], PlanFileError> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(PlanFileError::Message)?;
    *bytes = rest;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_number() {
        let message = Message::read(b"\x08\x96\x01\x12\x02hi\x12\x01x\x1d1234").unwrap();
        assert_eq!(message.number(1), 150);
        assert_eq!((message.number(9), message.flag(9), message.text(9)), (0, false, Ok("")));
        assert_eq!(message.text(2), Ok("x"));
        assert_eq!(message.all(2).collect::<Vec<_>>(), [&b"hi"[..], b"x"]);
        assert_eq!(message.bytes(3), Some(&b"1234"[..]));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let numbers = [1, 127, 128, 300, u64::MAX];
        let mut draft = Draft::default();
        for (field, value) in (1..).zip(numbers) {
            draft.number(field, value);
        }
        draft.number(20, 0);
        draft.flag(21, true);
        let mut inner = Draft::default();
        inner.bytes(1, &[b'x'; 200]);
        draft.message(2000, inner);
        let content = draft.finish();
        let message = Message::read(&content).unwrap();
        assert_eq!([1, 2, 3, 4, 5].map(|field| message.number(field)), numbers);
        assert_eq!((message.number(20), message.flag(21)), (0, true));
        assert_eq!(message.message(2000).unwrap().bytes(1), Some(&[b'x'; 200][..]));
    }

    #[test]
    fn broken_messages_are_errors() {
        for broken in [&b"\x08"[..], b"\x12\x05hi", b"\x0b", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"] {
            assert_eq!(Message::read(broken).map(|_| ()), Err(PlanFileError::Message), "{broken:?}");
        }
    }
}
