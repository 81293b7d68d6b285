//! How messages become bytes and back, for tonic: requests are encoded from what they are, all that comes is left as
//! the bytes that it came as, for schemas are kept as such, and who reads the rest knows its type.

use std::marker::PhantomData;

use bytes::{Buf as _, BufMut as _, Bytes};
use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Most messages are smaller than this; the buffers of those that are not grow.
const BUFFER: usize = 2 << 10;

/// What can be sent.
pub trait Outgoing: Send + Sync + 'static {
    fn write(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status>;
}

/// A message to be encoded; none: it is sent as [`Pieces`] instead.
pub struct Encoded<M>(pub Option<M>);

impl<M: Message + 'static> Outgoing for Encoded<M> {
    fn write(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let Some(message) = self.0 else { return Ok(()) };
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

/// A message that is encoded already.
impl Outgoing for Bytes {
    fn write(self, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(self);
        Ok(())
    }
}

pub struct Bare<M>(PhantomData<fn() -> M>);

impl<M> Default for Bare<M> {
    fn default() -> Self {
        Bare(PhantomData)
    }
}

impl<M: Outgoing> Codec for Bare<M> {
    type Encode = M;
    type Decode = Bytes;
    type Encoder = Bare<M>;
    type Decoder = Bare<M>;

    fn encoder(&mut self) -> Bare<M> {
        Bare::default()
    }

    fn decoder(&mut self) -> Bare<M> {
        Bare::default()
    }
}

impl<M: Outgoing> Encoder for Bare<M> {
    type Item = M;
    type Error = Status;

    fn encode(&mut self, item: M, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.write(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, 32 << 10)
    }
}

impl<M: Outgoing> Decoder for Bare<M> {
    type Item = Bytes;
    type Error = Status;

    /// Does not copy.
    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(source.copy_to_bytes(source.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER, 32 << 10)
    }
}
