//! The content of an entry, with the sizes of the reference's writes.

use std::io::{self, Read};

/// The buffer of Go's `io.Copy`. The size matters: see `gotext::deflate`.
const PORTION: usize = 32 << 10;

pub enum Content<'a> {
    /// Written at once.
    Bytes(&'a [u8]),
    /// Copied through a buffer.
    Stream(&'a mut dyn Read),
}

impl Content<'_> {
    /// Passes the content to `take` in portions.
    pub fn write_to(self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Content::Bytes(bytes) => take(bytes),
            Content::Stream(stream) => copy(stream, take),
        }
    }
}

/// Passes the stream to `take` in portions. All portions except the last are full.
pub fn copy(stream: &mut dyn Read, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(PORTION);
    loop {
        buffer.clear();
        (&mut *stream).take(PORTION as u64).read_to_end(&mut buffer)?;
        if !buffer.is_empty() {
            take(&buffer)?;
        }
        if buffer.len() < PORTION {
            return Ok(());
        }
    }
}
