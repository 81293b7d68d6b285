//! PEM: read as tolerantly as Go's `encoding/pem` reads it, or more tolerantly where people paste keys into settings.

use std::fmt;

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{Engine, alphabet};

pub const PUBLIC_KEY: &str = "PUBLIC KEY";
pub const PKCS8_KEY: &str = "PRIVATE KEY";
pub const RSA_KEY: &str = "RSA PRIVATE KEY";
pub const EC_KEY: &str = "EC PRIVATE KEY";
pub const OPENSSH_KEY: &str = "OPENSSH PRIVATE KEY";
pub const CERTIFICATE: &str = "CERTIFICATE";
pub const CERTIFICATE_REQUEST: &str = "CERTIFICATE REQUEST";

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const DASHES: &[u8] = b"-----";
const COLUMNS: usize = 64;

/// Padding must be there, but the bits before it may be anything, as in Go.
const TOLERANT: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The contents between a pair of BEGIN and END lines. Its `Debug` has no contents: they may be a private key.
#[derive(Clone, PartialEq, Eq)]
pub struct Block {
    pub kind: String,
    pub headers: Vec<(String, String)>,
    pub contents: Vec<u8>,
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Block {
    /// The value of the last header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Lines of 64 characters between BEGIN and END, and a line feed at the end.
pub fn encode(kind: &str, contents: &[u8]) -> String {
    let digits = STANDARD.encode(contents);
    let mut out = format!("-----BEGIN {kind}-----\n");
    let mut rest = digits.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(COLUMNS));
        out.push_str(line);
        out.push('\n');
        rest = after;
    }
    out.push_str(&format!("-----END {kind}-----\n"));
    out
}

/// The first whole block of a text. What is around it, and broken blocks before it, are ignored.
pub fn decode(text: &str) -> Option<Block> {
    let mut rest = text.as_bytes();
    loop {
        let end = find(rest, END)?;
        let after_end = &rest[end + END.len()..];
        let begin = last_begin(&rest[..end]);
        if let Some(block) = begin.and_then(|begin| parse(&rest[begin + BEGIN.len()..end], after_end)) {
            return Some(block);
        }
        rest = after_end;
    }
}

/// The whole blocks of a text, wherever in a line they begin and end: keys in settings are indented, or one line.
pub fn loose_blocks(mut rest: &str) -> impl Iterator<Item = Block> + '_ {
    std::iter::from_fn(move || {
        loop {
            let (_, body) = rest.split_once("-----BEGIN ")?;
            rest = body;
            let Some((kind, body)) = body.split_once("-----") else { continue };
            let Some((body, after)) = body.split_once(&format!("-----END {kind}-----")) else { continue };
            rest = after;
            let (headers, lines): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.contains(':'));
            let digits: String = lines.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace()).collect();
            if let Ok(contents) = STANDARD.decode(digits) {
                let headers = headers.iter().filter_map(|line| line.split_once(':'));
                let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
                return Some(Block { kind: kind.to_owned(), headers, contents });
            }
        }
    })
}

/// Where the last BEGIN starts, if it starts a line.
fn last_begin(text: &[u8]) -> Option<usize> {
    let at = text.windows(BEGIN.len()).rposition(|window| window == BEGIN)?;
    (at == 0 || text[at - 1] == b'\n').then_some(at)
}

/// Reads a block from what is between BEGIN and END, and from what follows END.
fn parse(inner: &[u8], after_end: &[u8]) -> Option<Block> {
    let (first, mut rest) = split_line(inner);
    let kind = first.strip_suffix(DASHES)?;
    let mut headers = Vec::new();
    while let (line, Some(after)) = split_line_at_feed(rest)
        && let Some(colon) = line.iter().position(|byte| *byte == b':')
    {
        let part = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
        headers.push((part(&line[..colon]), part(&line[colon + 1..])));
        rest = after;
    }
    let trailer = after_end.strip_prefix(kind)?.strip_prefix(DASHES)?;
    if !split_line(trailer).0.is_empty() {
        return None;
    }
    let digits: Vec<u8> = rest.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
    let contents = TOLERANT.decode(digits).ok()?;
    Some(Block { kind: String::from_utf8_lossy(kind).into_owned(), headers, contents })
}

/// The first line without the white space at its end, and what follows it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = split_line_at_feed(text);
    (line, rest.unwrap_or_default())
}

/// The same; nothing follows a line without a line feed.
fn split_line_at_feed(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (line, rest) = match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (text[..at].strip_suffix(b"\r").unwrap_or(&text[..at]), Some(&text[at + 1..])),
        None => (text, None),
    };
    let end = line.iter().rposition(|byte| !b" \t".contains(byte)).map_or(0, |at| at + 1);
    (&line[..end], rest)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_64_columns() {
        let written = encode("X", &[0; 49]);
        assert_eq!(written, format!("-----BEGIN X-----\n{}\nAA==\n-----END X-----\n", "A".repeat(64)));
        assert_eq!(encode("X", &[]), "-----BEGIN X-----\n-----END X-----\n");
    }

    #[test]
    fn blocks_in_settings_may_be_indented_or_one_line() {
        let block = |text: &str| loose_blocks(text).map(|block| (block.kind, block.contents)).collect::<Vec<_>>();
        let expected = vec![("X Y".to_owned(), vec![0, 1])];
        for text in
            ["-----BEGIN X Y-----AAE=-----END X Y-----", "\n  -----BEGIN X Y-----\n  AA\n  E=\n  -----END X Y-----"]
        {
            assert_eq!((block(text), decode(text)), (expected.clone(), None));
        }
        assert_eq!(
            block("-----BEGIN X-----\n!\n-----END X-----\n-----BEGIN X Y-----\nA: b\nAAE=\n-----END X Y-----\n"),
            expected
        );
    }
}
