//! The gzip format around the compressed data.

use std::io::{self, Write};

use super::matcher::Level;
use super::writer::Deflate;

/// No name, no time, an unknown operating system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// A writer that produces a gzip file, at Go's default level.
pub struct Gzip<W> {
    deflate: Deflate<W>,
    checksum: flate2::Crc,
}

impl<W: Write> Gzip<W> {
    /// Writes the header.
    pub fn new(mut inner: W) -> io::Result<Gzip<W>> {
        inner.write_all(&HEADER)?;
        Ok(Gzip { deflate: Deflate::new(inner, Level::SIX), checksum: flate2::Crc::new() })
    }

    /// Writes the end of the file and returns the inner writer.
    pub fn finish(self) -> io::Result<W> {
        let mut inner = self.deflate.finish()?;
        inner.write_all(&self.checksum.sum().to_le_bytes())?;
        inner.write_all(&self.checksum.amount().to_le_bytes())?;
        Ok(inner)
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.deflate.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.deflate.flush()
    }
}

/// A gzip file with this content, written with one write.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let write = || -> io::Result<Vec<u8>> {
        let mut writer = Gzip::new(Vec::new())?;
        writer.write_all(bytes)?;
        writer.finish()
    };
    // Writing to memory does not fail.
    write().unwrap_or_default()
}
