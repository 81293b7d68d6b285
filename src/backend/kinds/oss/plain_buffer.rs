//! Rows in Tablestore's binary form, which it calls PlainBuffer: tagged cells of text, each with a checksum, and one over the row.
//!
//! The format is described at <https://www.alibabacloud.com/help/en/tablestore/developer-reference/plainbuffer>.

use std::collections::BTreeMap;

const HEADER: u32 = 0x75;
const KEY: u8 = 0x1;
const DATA: u8 = 0x2;
const CELL: u8 = 0x3;
const CELL_NAME: u8 = 0x4;
const CELL_VALUE: u8 = 0x5;
const CELL_TYPE: u8 = 0x6;
const CELL_TIME: u8 = 0x7;
const DELETION: u8 = 0x8;
const ROW_CHECKSUM: u8 = 0x9;
const CELL_CHECKSUM: u8 = 0xA;

const INTEGER: u8 = 0x0;
const DOUBLE: u8 = 0x1;
const BOOLEAN: u8 = 0x2;
const TEXT: u8 = 0x3;
const BYTES: u8 = 0x7;

/// A cell: its name and its text.
pub type Cell<'a> = (&'a str, &'a str);

/// A row to write.
pub fn written(key: Cell<'_>, columns: &[Cell<'_>]) -> Vec<u8> {
    row(key, columns, false)
}

/// The key of a row to read.
pub fn key(key: Cell<'_>) -> Vec<u8> {
    row(key, &[], false)
}

/// The key of a row to delete.
pub fn deleted(key: Cell<'_>) -> Vec<u8> {
    row(key, &[], true)
}

fn row(key: Cell<'_>, columns: &[Cell<'_>], is_deletion: bool) -> Vec<u8> {
    let mut out = HEADER.to_le_bytes().to_vec();
    out.push(KEY);
    let mut sum = crc8(0, &[put_cell(&mut out, key)]);
    if !columns.is_empty() {
        out.push(DATA);
    }
    for column in columns {
        sum = crc8(sum, &[put_cell(&mut out, *column)]);
    }
    if is_deletion {
        out.push(DELETION);
    }
    out.extend([ROW_CHECKSUM, crc8(sum, &[u8::from(is_deletion)])]);
    out
}

/// Appends a cell and returns its checksum.
fn put_cell(out: &mut Vec<u8>, (name, text): Cell<'_>) -> u8 {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    out.extend([CELL, CELL_NAME]);
    out.extend(length(name.len()));
    out.extend(name.as_bytes());
    out.push(CELL_VALUE);
    // The type and the length of the text belong to the value.
    out.extend(length(text.len() + 5));
    let value = [&[TEXT][..], &length(text.len()), text.as_bytes()].concat();
    out.extend(&value);
    let sum = crc8(crc8(0, name.as_bytes()), &value);
    out.extend([CELL_CHECKSUM, sum]);
    sum
}

/// The checksum of the format: eight bits with the polynomial x⁸ + x² + x + 1.
fn crc8(start: u8, bytes: &[u8]) -> u8 {
    bytes.iter().fold(start, |sum, byte| {
        (0..8).fold(sum ^ byte, |sum, _| if sum & 0x80 == 0 { sum << 1 } else { (sum << 1) ^ 0x07 })
    })
}

/// The columns of the first row that have a text, by name. Empty if there is no row.
pub fn columns(bytes: &[u8]) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    if bytes.is_empty() {
        return Ok(found);
    }
    let mut reader = Reader(bytes);
    if reader.number()? != HEADER {
        return Err("a row does not begin as rows do".into());
    }
    let mut is_data = false;
    loop {
        match reader.byte()? {
            KEY => is_data = false,
            DATA => is_data = true,
            CELL => {
                let (name, text) = reader.cell()?;
                if let Some(text) = text.filter(|_| is_data) {
                    found.insert(name, text);
                }
            }
            DELETION => {}
            ROW_CHECKSUM => return Ok(found),
            tag => return Err(format!("a row has an unknown part {tag:#x}")),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("a row is cut off")?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.number()? as usize;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| "a row has a text that is not UTF-8".into())
    }

    /// A name and, if it is one, a text. The checksum must be right.
    fn cell(&mut self) -> Result<(String, Option<String>), String> {
        if self.byte()? != CELL_NAME {
            return Err("a cell has no name".into());
        }
        let name = self.text()?;
        let (mut text, mut parts) = (None, Vec::new());
        loop {
            match self.byte()? {
                CELL_VALUE => {
                    self.number()?;
                    let (value, read) = self.value()?;
                    text = read;
                    parts.insert(0, value);
                }
                CELL_TYPE => parts.push(self.take(1)?),
                // Covered by the checksum before the type.
                CELL_TIME => parts.insert(parts.len().min(1), self.take(8)?),
                CELL_CHECKSUM => {
                    let expected = parts.iter().fold(crc8(0, name.as_bytes()), |sum, part| crc8(sum, part));
                    return match self.byte()? == expected {
                        true => Ok((name, text)),
                        false => Err(format!("the checksum of {name:?} is wrong")),
                    };
                }
                tag => return Err(format!("a cell has an unknown part {tag:#x}")),
            }
        }
    }

    /// The bytes of a value with its type, and its text if it is one.
    fn value(&mut self) -> Result<(&'a [u8], Option<String>), String> {
        let start = self.0;
        let mut text = None;
        match self.byte()? {
            INTEGER | DOUBLE => {
                self.take(8)?;
            }
            BOOLEAN => {
                self.take(1)?;
            }
            TEXT => text = Some(self.text()?),
            BYTES => {
                let length = self.number()? as usize;
                self.take(length)?;
            }
            kind => return Err(format!("a cell has a value of the unknown type {kind:#x}")),
        }
        Ok((&start[..start.len() - self.0.len()], text))
    }
}

#[cfg(test)]
mod tests {
    use gotext::hex::{bytes, hex};

    use super::*;

    const LOCK: Cell<'_> = ("LockID", "b/env:/terraform.tfstate");
    const START: &str =
        "75000000010304060000004c6f636b4944051d0000000318000000622f656e763a2f7465727261666f726d2e746673746174650a77";
    const CELLS: &str =
        "02030404000000496e666f050700000003020000007b7d0a4903040600000044696765737405070000000302000000c3a90a01";

    /// What Alibaba Cloud's library for Go makes of the same rows.
    #[test]
    fn rows_are_those_of_the_service_s_library() {
        assert_eq!(hex(&written(LOCK, &[("Info", "{}"), ("Digest", "é")])), format!("{START}{CELLS}09f9"));
        assert_eq!(hex(&deleted(LOCK)), format!("{START}0809ce"));
        assert_eq!(hex(&key(LOCK)), format!("{START}09c9"));
    }

    #[test]
    fn texts_of_columns_are_read() {
        let row = written(LOCK, &[("Info", "{}"), ("Digest", "é")]);
        let found = columns(&row).unwrap();
        assert_eq!(found, BTreeMap::from([("Info".into(), "{}".into()), ("Digest".into(), "é".into())]));
        assert!(columns(&[]).unwrap().is_empty());
        assert!(columns(&key(LOCK)).unwrap().is_empty());
    }

    /// As the service answers: with the time of each value, and with columns of other types.
    #[test]
    fn times_and_other_types_are_ignored() {
        let mut row = key(LOCK);
        row.truncate(row.len() - 2);
        row.push(DATA);
        for (name, value) in [("N", &[INTEGER, 1, 0, 0, 0, 0, 0, 0, 0][..]), ("T", &[TEXT, 1, 0, 0, 0, b'x'])] {
            let time = 7u64.to_le_bytes();
            row.extend([CELL, CELL_NAME, 1, 0, 0, 0]);
            row.extend(name.as_bytes());
            row.extend([CELL_VALUE, value.len() as u8, 0, 0, 0]);
            row.extend(value);
            row.push(CELL_TIME);
            row.extend(time);
            row.extend([CELL_CHECKSUM, crc8(crc8(crc8(0, name.as_bytes()), value), &time)]);
        }
        row.extend([ROW_CHECKSUM, 0]);
        assert_eq!(columns(&row).unwrap(), BTreeMap::from([("T".into(), "x".into())]));
    }

    #[test]
    fn damaged_rows_are_errors() {
        let row = written(LOCK, &[("Info", "{}")]);
        for length in 1..row.len() - 1 {
            assert!(columns(&row[..length]).is_err(), "{length}");
        }
        let mut changed = row.clone();
        let at = changed.iter().position(|byte| *byte == b'{').unwrap();
        changed[at] = b'[';
        assert_eq!(columns(&changed).unwrap_err(), "the checksum of \"Info\" is wrong");
        assert!(columns(&bytes("76000000").unwrap()).is_err());
        assert!(columns(&bytes("7500000003ff").unwrap()).is_err());
    }
}
