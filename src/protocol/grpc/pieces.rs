//! Large messages as they are sent: in pieces, so that what is bytes already is not copied.

use bytes::buf::UninitSlice;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::SendStream;
use prost::Message;

/// Messages from this size on are sent in pieces; so are the parts of such messages that are pieces of their own.
const LARGE: usize = 64 << 10;

/// A message with the head that gRPC puts before it. It travels as an extension of a request or response, beside a body
/// without messages.
#[derive(Clone)]
pub struct Pieces(Vec<Bytes>);

impl Pieces {
    /// The pieces of a large message; none for others, and for those that gRPC cannot carry.
    pub fn of(message: &impl Message) -> Option<Pieces> {
        let length = message.encoded_len();
        let announced = u32::try_from(length).ok().filter(|_| length >= LARGE)?;
        let mut gathered = PieceBuffer::default();
        gathered.put_u8(0);
        gathered.put_u32(announced);
        message.encode(&mut gathered).ok()?;
        Some(gathered.end())
    }

    /// Sends the message; `last`: nothing comes after it.
    pub fn send(self, to: &mut SendStream<Bytes>, last: bool) -> Result<(), h2::Error> {
        let count = self.0.len();
        for (i, piece) in self.0.into_iter().enumerate() {
            to.send_data(piece, last && i + 1 == count)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct PieceBuffer {
    done: Vec<Bytes>,
    open: BytesMut,
}

impl PieceBuffer {
    fn end(mut self) -> Pieces {
        self.done.push(self.open.freeze());
        self.done.retain(|piece| !piece.is_empty());
        Pieces(self.done)
    }
}

// SAFETY: all that is promised of memory, `BytesMut` promises.
unsafe impl BufMut for PieceBuffer {
    fn remaining_mut(&self) -> usize {
        self.open.remaining_mut()
    }

    unsafe fn advance_mut(&mut self, count: usize) {
        // SAFETY: the caller has written so much to `chunk_mut`, which is that of `open`.
        unsafe { self.open.advance_mut(count) }
    }

    fn chunk_mut(&mut self) -> &mut UninitSlice {
        self.open.chunk_mut()
    }

    /// Does not copy large `Bytes`.
    fn put<T: Buf>(&mut self, mut source: T) {
        if source.remaining() < LARGE {
            return self.open.put(source);
        }
        self.done.push(self.open.split().freeze());
        self.done.push(source.copy_to_bytes(source.remaining()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bytes_are_not_copied() {
        let content = Bytes::from(vec![7; LARGE]);
        let pieces = Pieces::of(&content).unwrap().0;
        assert!(pieces.iter().any(|piece| piece.as_ptr() == content.as_ptr()));
        let mut expected = vec![0];
        expected.put_u32(content.encoded_len() as u32);
        expected.extend(content.encode_to_vec());
        assert_eq!(pieces.concat(), expected);
        assert!(Pieces::of(&Bytes::from_static(b"small")).is_none());
    }
}
