//! Tar files with the layout of Go's `archive/tar`: USTAR headers if possible, otherwise PAX, otherwise GNU.

use std::io::{self, Write};

use super::portions::Content;
use super::walk::clean_path;

const BLOCK: usize = 512;
const NAME: Field = Field { start: 0, length: 100 };
const MODE: Field = Field { start: 100, length: 8 };
const UID: Field = Field { start: 108, length: 8 };
const GID: Field = Field { start: 116, length: 8 };
const SIZE: Field = Field { start: 124, length: 12 };
const TIME: Field = Field { start: 136, length: 12 };
const CHECKSUM: Field = Field { start: 148, length: 8 };
const TYPE: usize = 156;
const MAGIC: Field = Field { start: 257, length: 8 };
const DEVICE_MAJOR: Field = Field { start: 329, length: 8 };
const DEVICE_MINOR: Field = Field { start: 337, length: 8 };
const PREFIX: Field = Field { start: 345, length: 155 };

const REGULAR: u8 = b'0';
const DIRECTORY: u8 = b'5';
const PAX_RECORDS: u8 = b'x';
const GNU_LONG_NAME: u8 = b'L';

const USTAR_MAGIC: &[u8] = b"ustar\x0000";
const GNU_MAGIC: &[u8] = b"ustar  \0";

/// A part of a header block.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    length: usize,
}

/// The properties of an entry. All entries are dated 1970-01-01 and belong to user and group 0.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// A name that ends with a slash is a directory, which cannot have content.
    pub name: &'a [u8],
    pub size: u64,
    pub mode: i64,
}

pub struct TarWriter<W> {
    inner: W,
}

impl<W: Write> TarWriter<W> {
    pub fn new(inner: W) -> TarWriter<W> {
        TarWriter { inner }
    }

    pub fn write_header(&mut self, header: Header<'_>) -> io::Result<()> {
        if header.name.contains(&0) {
            return Err(io::Error::other("archive/tar: cannot encode header: invalid PAX record"));
        }
        let split = split_name(header.name);
        let long = header.name.len() > NAME.length;
        let portable_name = (header.name.is_ascii() && !long) || split.is_some();
        let portable_mode = fits_octal(MODE, header.mode);
        let portable_size = i64::try_from(header.size).is_ok_and(|size| fits_octal(SIZE, size));
        let (magic, prefix, name) = match (portable_name && portable_size, portable_mode) {
            (true, true) => {
                let (prefix, name) = split.unwrap_or((b"", header.name));
                (USTAR_MAGIC, prefix, name.to_vec())
            }
            (false, true) => {
                let path = (long || !header.name.is_ascii()).then_some(header.name);
                let size = (!portable_size).then_some(header.size);
                self.write_pax_records(header.name, path, size)?;
                (USTAR_MAGIC, &b""[..], to_ascii(header.name))
            }
            (_, false) => {
                if long {
                    self.write_special(b"././@LongLink", GNU_LONG_NAME, GNU_MAGIC, &[header.name, b"\0"].concat())?;
                }
                (GNU_MAGIC, &b""[..], header.name.to_vec())
            }
        };
        let mut block = HeaderBlock::new(if header.name.ends_with(b"/") { DIRECTORY } else { REGULAR });
        block.text(NAME, &name);
        block.number(MODE, header.mode);
        block.number(SIZE, i64::try_from(header.size).unwrap_or(i64::MAX));
        block.number(DEVICE_MAJOR, 0);
        block.number(DEVICE_MINOR, 0);
        block.text(PREFIX, prefix);
        self.inner.write_all(&block.finished(magic))
    }

    /// Writes the content of the last header's entry and pads the last block.
    pub fn write_content(&mut self, header: Header<'_>, content: Content<'_>) -> io::Result<()> {
        let expected = if header.name.ends_with(b"/") { 0 } else { header.size };
        let mut left = expected;
        let inner = &mut self.inner;
        content.write_to(|part| {
            let taken = part.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            inner.write_all(&part[..taken])?;
            left -= taken as u64;
            if taken < part.len() { Err(io::Error::other("archive/tar: write too long")) } else { Ok(()) }
        })?;
        if left > 0 {
            return Err(io::Error::other(format!("archive/tar: missed writing {left} bytes")));
        }
        self.pad(expected)
    }

    /// Writes the end of the file and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        for _ in 0..2 {
            self.inner.write_all(&[0; BLOCK])?;
        }
        Ok(self.inner)
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        let rest = (size % BLOCK as u64) as usize;
        if rest > 0 { self.inner.write_all(&[0; BLOCK][rest..]) } else { Ok(()) }
    }

    fn write_pax_records(&mut self, name: &[u8], path: Option<&[u8]>, size: Option<u64>) -> io::Result<()> {
        let size = size.map(|size| size.to_string().into_bytes());
        let records = [(&b"path"[..], path), (b"size", size.as_deref())];
        let mut data = Vec::new();
        for (key, value) in records {
            if let Some(value) = value {
                data.extend(pax_record(key, value));
            }
        }
        let name = pax_name(&String::from_utf8_lossy(name));
        self.write_special(&to_ascii(name.as_bytes()), PAX_RECORDS, USTAR_MAGIC, &data)
    }

    /// Writes an entry that describes the next one.
    fn write_special(&mut self, name: &[u8], kind: u8, magic: &[u8], data: &[u8]) -> io::Result<()> {
        let mut block = HeaderBlock::new(kind);
        let name = &name[..name.len().min(NAME.length)];
        let kept = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
        block.text(NAME, &name[..kept]);
        block.number(MODE, 0);
        block.number(SIZE, data.len() as i64);
        self.inner.write_all(&block.finished(magic))?;
        self.inner.write_all(data)?;
        self.pad(data.len() as u64)
    }
}

struct HeaderBlock([u8; BLOCK]);

impl HeaderBlock {
    fn new(kind: u8) -> HeaderBlock {
        let mut block = HeaderBlock([0; BLOCK]);
        block.0[TYPE] = kind;
        for field in [UID, GID, TIME] {
            block.number(field, 0);
        }
        block
    }

    /// Writes text, truncated to the length of the field.
    fn text(&mut self, field: Field, text: &[u8]) {
        let taken = &text[..text.len().min(field.length)];
        self.0[field.start..field.start + taken.len()].copy_from_slice(taken);
        if text.len() > field.length && taken.ends_with(b"/") {
            // Some readers take every name that ends with a slash for a directory's.
            let kept = taken.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
            self.0[field.start + kept] = 0;
        }
    }

    /// Writes octal digits, or the base-256 form of GNU tar if the number does not fit.
    fn number(&mut self, field: Field, value: i64) {
        if fits_octal(field, value) {
            let digits = format!("{value:0width$o}", width = field.length - 1);
            self.text(field, digits.as_bytes());
            return;
        }
        let bytes = value.to_be_bytes();
        let fill = if value < 0 { 0xff } else { 0 };
        let target = &mut self.0[field.start..field.start + field.length];
        let split = field.length.saturating_sub(bytes.len());
        target[..split].fill(fill);
        target[split..].copy_from_slice(&bytes[bytes.len() - (field.length - split)..]);
        target[0] |= 0x80;
    }

    fn finished(mut self, magic: &[u8]) -> [u8; BLOCK] {
        self.text(MAGIC, magic);
        self.text(CHECKSUM, &[b' '; 8]);
        let sum: u32 = self.0.iter().map(|byte| u32::from(*byte)).sum();
        self.text(CHECKSUM, format!("{sum:06o}\0 ").as_bytes());
        self.0
    }
}

fn fits_octal(field: Field, value: i64) -> bool {
    value >= 0 && value < 1 << (3 * (field.length - 1))
}

/// Splits a name that is too long for its field at a slash. Returns the parts for the prefix and the name.
fn split_name(name: &[u8]) -> Option<(&[u8], &[u8])> {
    if name.len() <= NAME.length || !name.is_ascii() {
        return None;
    }
    let end = match name.len() {
        length if length > PREFIX.length + 1 => PREFIX.length + 1,
        length if name.ends_with(b"/") => length - 1,
        length => length,
    };
    let slash = name[..end].iter().rposition(|byte| *byte == b'/').filter(|at| *at > 0)?;
    let rest = &name[slash + 1..];
    (!rest.is_empty() && rest.len() <= NAME.length).then_some((&name[..slash], rest))
}

/// The name of the entry that holds the PAX records of another entry.
fn pax_name(name: &str) -> String {
    let (folder, file) = name.split_at(name.rfind('/').map_or(0, |slash| slash + 1));
    clean_path(&format!("{folder}PaxHeaders.0/{file}"))
}

/// `LENGTH KEY=VALUE`, where the length includes itself.
fn pax_record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + rest.to_string().len();
    length = rest + length.to_string().len();
    [length.to_string().as_bytes(), b" ", key, b"=", value, b"\n"].concat()
}

/// The ASCII characters of a text.
fn to_ascii(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| byte.is_ascii() && *byte != 0).collect()
}
