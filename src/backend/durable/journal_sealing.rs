//! Journals of runs whose state is encrypted.
//!
//! The first line says `sealed`, the version of this format, and a key that was made for this journal, sealed as the state
//! is. Each further line is the base64 of one line of the journal, encrypted with that key and bound to its number, so that
//! lines can be neither read, changed, reordered nor left out from between. A line that does not open ends the journal, as
//! one that is cut short does. Formats of other versions are refused.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encryption::{Cipher, SealedFrames};

use crate::contract::StoreError;

const HEAD: &str = "sealed 1 ";
const ANY_HEAD: &[u8] = b"sealed ";

/// How the lines of one journal are written.
#[derive(Debug)]
pub struct Sealing {
    head: Vec<u8>,
    frames: SealedFrames,
    lines: u64,
}

impl Sealing {
    /// For a new journal. None: lines are written as they are.
    pub async fn new(cipher: Option<&Cipher>) -> io::Result<Option<Sealing>> {
        let Some(cipher) = cipher.filter(|cipher| !cipher.writes_plain()) else { return Ok(None) };
        let frames = SealedFrames::new().map_err(io::Error::other)?;
        let key = cipher.seal_bytes(frames.key()).await.map_err(|error| io::Error::other(error.to_string()))?;
        let head = [HEAD.as_bytes(), &key, b"\n"].concat();
        Ok(Some(Sealing { head, frames, lines: 0 }))
    }

    /// The line that a journal begins with.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The next line.
    pub fn line(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let sealed = self.frames.seal(self.lines, plain).map_err(io::Error::other)?;
        self.lines += 1;
        let mut line = STANDARD.encode(sealed).into_bytes();
        line.push(b'\n');
        Ok(line)
    }

    /// A whole journal.
    pub fn journal(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = self.head.clone();
        for line in plain.split_inclusive(|byte| *byte == b'\n') {
            content.extend(self.line(line)?);
        }
        Ok(content)
    }
}

/// The lines of a journal as they were before they were sealed, if they were.
pub async fn open(content: Vec<u8>, cipher: Option<&Cipher>) -> Result<Vec<u8>, StoreError> {
    if !content.starts_with(ANY_HEAD) {
        // The start of a journal that was being made is none yet.
        if let Some(cipher) = cipher.filter(|_| !content.is_empty() && !ANY_HEAD.starts_with(&content)) {
            cipher.check_plain().map_err(|error| StoreError::new(error.to_string()))?;
        }
        return Ok(content);
    }
    let mut lines = content.split_inclusive(|byte| *byte == b'\n');
    let head = lines.next().unwrap_or_default();
    let Some(head) = head.strip_suffix(b"\n") else { return Ok(Vec::new()) };
    let Some(cipher) = cipher else {
        return Err("it is encrypted and can not be read without an encryption configuration".into());
    };
    let Some(key) = head.strip_prefix(HEAD.as_bytes()) else {
        return Err("it has a format that this version does not know".into());
    };
    let key = cipher.open_bytes(key).await.map_err(|error| StoreError::new(error.to_string()))?;
    let frames = SealedFrames::of_key(&key);
    let mut plain = Vec::with_capacity(content.len());
    for (number, line) in lines.enumerate() {
        let opened = line.strip_suffix(b"\n").and_then(|line| STANDARD.decode(line).ok());
        match opened.and_then(|sealed| frames.open(number as u64, sealed).ok()) {
            Some(line) => plain.extend(line),
            None => {
                // Not a line: what follows was being written.
                plain.extend_from_slice(b"torn");
                break;
            }
        }
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_have_their_places() {
        let frames = SealedFrames::new().unwrap();
        let mut sealing = Sealing { head: b"sealed 1 {}\n".to_vec(), frames: frames.clone(), lines: 0 };
        let content = sealing.journal(b"one\ntwo\n").unwrap();
        let lines: Vec<_> = content.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(lines.len(), 3);
        for (place, plain) in [(1, "one\n"), (2, "two\n")] {
            let sealed = STANDARD.decode(&lines[place][..lines[place].len() - 1]).unwrap();
            assert_eq!(frames.open(place as u64 - 1, sealed.clone()).unwrap(), plain.as_bytes());
            assert!(frames.open(7, sealed).is_err());
        }
    }

    #[tokio::test]
    async fn without_a_cipher_only_plain_journals_are_read() {
        assert_eq!(open(b"0123 {}\n".to_vec(), None).await.unwrap(), b"0123 {}\n");
        assert_eq!(open(b"sealed 1 {".to_vec(), None).await.unwrap(), b"");
        assert!(open(b"sealed 1 {}\n".to_vec(), None).await.is_err());
    }
}
