//! Zip files with the layout of Go's `archive/zip`: deflate at level 5, sizes in data descriptors.

use std::io::{self, Write};

use gotext::deflate::{Deflate, Level};

use super::mode::FileMode;
use super::portions::Content;

const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// The high byte of "version made by" if the attributes have a Unix mode.
const MADE_ON_UNIX: u16 = 3 << 8;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const FLAG_DESCRIPTOR: u16 = 0x8;
const FLAG_UTF8: u16 = 0x800;
const MAX_16: u64 = u16::MAX as u64;
const MAX_32: u64 = u32::MAX as u64;

/// Year 1, month 1, day 1 in the seven bits that count years from 1980: an overflow, which means 2049-01-01.
pub const DATE_OF_FILES: u16 = 0x8A21;

/// The mode and the date of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes {
    /// Without a mode, the entry does not name the system that it was created on.
    pub mode: Option<FileMode>,
    pub dos_date: u16,
}

pub struct ZipWriter<W> {
    out: Counted<W>,
    entries: Vec<Entry>,
}

/// An entry of the central directory.
struct Entry {
    name: Vec<u8>,
    attributes: Attributes,
    flags: u16,
    method: u16,
    checksum: u32,
    compressed: u64,
    size: u64,
    offset: u64,
}

impl<W: Write> ZipWriter<W> {
    pub fn new(inner: W) -> ZipWriter<W> {
        ZipWriter { out: Counted { inner, count: 0 }, entries: Vec::new() }
    }

    /// Adds an entry. A name that ends with a slash is a directory, which cannot have content.
    pub fn add(&mut self, name: &[u8], attributes: Attributes, content: Content<'_>) -> io::Result<()> {
        if name.len() as u64 > MAX_16 {
            return Err(io::Error::other("zip: FileHeader.Name too long"));
        }
        let is_directory = name.ends_with(b"/");
        let utf8 = if needs_utf8(name) { FLAG_UTF8 } else { 0 };
        let mut entry = Entry {
            name: name.to_vec(),
            attributes,
            flags: if is_directory { utf8 } else { utf8 | FLAG_DESCRIPTOR },
            method: if is_directory { STORED } else { DEFLATED },
            checksum: 0,
            compressed: 0,
            size: 0,
            offset: self.out.count,
        };
        let header = entry.local_header();
        let added = self.out.write_all(&header).and_then(|()| {
            if is_directory { refuse_content(content) } else { self.write_content(&mut entry, content) }
        });
        // A half-written entry is listed too, as the reference does.
        self.entries.push(entry);
        added
    }

    fn write_content(&mut self, entry: &mut Entry, content: Content<'_>) -> io::Result<()> {
        let start = self.out.count;
        let mut checksum = flate2::Crc::new();
        let mut deflate = Deflate::new(&mut self.out, Level::FIVE);
        let copied = content.write_to(|part| {
            checksum.update(part);
            entry.size += part.len() as u64;
            deflate.write_all(part)
        });
        deflate.finish()?;
        entry.compressed = self.out.count - start;
        entry.checksum = checksum.sum();
        self.out.write_all(&entry.descriptor())?;
        copied
    }

    /// Writes the central directory and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        let start = self.out.count;
        for entry in &self.entries {
            let header = entry.central_header();
            self.out.write_all(&header)?;
        }
        let end = self.out.count;
        let directory = Directory { entries: self.entries.len() as u64, size: end - start, start, end };
        self.out.write_all(&directory.end_records())?;
        Ok(self.out.inner)
    }
}

impl Entry {
    fn is_zip64(&self) -> bool {
        self.compressed >= MAX_32 || self.size >= MAX_32
    }

    fn local_header(&self) -> Vec<u8> {
        let mut out = Fields::signed(0x0403_4b50);
        out.u16(VERSION).u16(self.flags).u16(self.method);
        out.u16(0).u16(self.attributes.dos_date);
        // Checksum and sizes are in the descriptor.
        out.u32(0).u32(0).u32(0);
        out.u16(self.name.len() as u16).u16(0);
        out.bytes(&self.name);
        out.0
    }

    fn descriptor(&self) -> Vec<u8> {
        let mut out = Fields::signed(0x0807_4b50);
        out.u32(self.checksum);
        if self.is_zip64() {
            out.u64(self.compressed).u64(self.size);
        } else {
            out.u32(self.compressed as u32).u32(self.size as u32);
        }
        out.0
    }

    fn central_header(&self) -> Vec<u8> {
        let made_on = if self.attributes.mode.is_some() { MADE_ON_UNIX } else { 0 };
        let mut out = Fields::signed(0x0201_4b50);
        out.u16(made_on | VERSION).u16(if self.is_zip64() { VERSION_ZIP64 } else { VERSION });
        out.u16(self.flags).u16(self.method);
        out.u16(0).u16(self.attributes.dos_date);
        out.u32(self.checksum);
        let has_extra = self.is_zip64() || self.offset >= MAX_32;
        if has_extra {
            out.u32(u32::MAX).u32(u32::MAX);
        } else {
            out.u32(self.compressed as u32).u32(self.size as u32);
        }
        out.u16(self.name.len() as u16).u16(if has_extra { 28 } else { 0 });
        // No comment, the first disk, no internal attributes.
        out.u16(0).u16(0).u16(0);
        out.u32(self.attributes.external());
        out.u32(self.offset.min(MAX_32) as u32);
        out.bytes(&self.name);
        if has_extra {
            out.u16(1).u16(24).u64(self.size).u64(self.compressed).u64(self.offset);
        }
        out.0
    }
}

impl Attributes {
    /// The Unix mode, and the attributes of DOS that correspond to it.
    fn external(self) -> u32 {
        const DOS_DIRECTORY: u32 = 0x10;
        const DOS_READ_ONLY: u32 = 0x01;
        let Some(mode) = self.mode else { return 0 };
        let directory = if mode.is_dir() { DOS_DIRECTORY } else { 0 };
        let read_only = if mode.0 & 0o200 == 0 { DOS_READ_ONLY } else { 0 };
        mode.to_unix() << 16 | directory | read_only
    }
}

/// The central directory's place in the file.
struct Directory {
    entries: u64,
    size: u64,
    start: u64,
    end: u64,
}

impl Directory {
    fn end_records(&self) -> Vec<u8> {
        let mut out = Fields::default();
        let is_zip64 = self.entries >= MAX_16 || self.size >= MAX_32 || self.start >= MAX_32;
        if is_zip64 {
            out.u32(0x0606_4b50).u64(44).u16(VERSION_ZIP64).u16(VERSION_ZIP64).u32(0).u32(0);
            out.u64(self.entries).u64(self.entries).u64(self.size).u64(self.start);
            out.u32(0x0706_4b50).u32(0).u64(self.end).u32(1);
        }
        // The highest values refer to the records above.
        let (entries, size, start) =
            if is_zip64 { (MAX_16, MAX_32, MAX_32) } else { (self.entries, self.size, self.start) };
        out.u32(0x0605_4b50).u16(0).u16(0);
        out.u16(entries as u16).u16(entries as u16).u32(size as u32).u32(start as u32).u16(0);
        out.0
    }
}

fn refuse_content(content: Content<'_>) -> io::Result<()> {
    content.write_to(|part| if part.is_empty() { Ok(()) } else { Err(io::Error::other("zip: write to directory")) })
}

/// Whether a name is UTF-8 and could mean something else in the usual code pages.
fn needs_utf8(name: &[u8]) -> bool {
    // Some Asian code pages have other characters for the backslash and the tilde.
    let is_portable = |c: char| (' '..='}').contains(&c) && c != '\\';
    std::str::from_utf8(name).is_ok_and(|name| !name.chars().all(is_portable))
}

/// Little-endian fields.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn signed(signature: u32) -> Fields {
        Fields(signature.to_le_bytes().to_vec())
    }

    fn u16(&mut self, value: u16) -> &mut Fields {
        self.bytes(&value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Fields {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Fields {
        self.bytes(&value.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Fields {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A writer that counts bytes.
struct Counted<W> {
    inner: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
