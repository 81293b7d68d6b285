//! The compressor as a writer.

use std::io::{self, Write};

use super::bits::BitBuffer;
use super::block::write_stored;
use super::matcher::{Level, Matcher};

/// A writer that compresses its input.
///
/// `flush` ends the current block with an empty stored one, so that all input so far can be decompressed.
pub struct Deflate<W> {
    inner: W,
    matcher: Matcher,
    buffer: BitBuffer,
}

impl<W: Write> Deflate<W> {
    pub fn new(inner: W, level: Level) -> Deflate<W> {
        Deflate { inner, matcher: Matcher::new(level), buffer: BitBuffer::default() }
    }

    /// Writes the end of the stream and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.matcher.finish_block(&mut self.buffer);
        write_stored(&[], true, &mut self.buffer);
        self.write_buffer()?;
        Ok(self.inner)
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        self.inner.write_all(&self.buffer.take_bytes())
    }
}

impl<W: Write> Write for Deflate<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.matcher.push(bytes, &mut self.buffer);
        self.write_buffer()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.matcher.finish_block(&mut self.buffer);
        write_stored(&[], false, &mut self.buffer);
        self.write_buffer()?;
        self.inner.flush()
    }
}
