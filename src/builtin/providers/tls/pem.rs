//! PEM, read as tolerantly as Go's `encoding/pem` reads it.

use std::fmt;

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{Engine, alphabet};
use terrane_value::text::go_quoted;

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

/// The contents between a pair of BEGIN and END lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub kind: String,
    pub headers: Vec<(String, String)>,
    pub contents: Vec<u8>,
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

/// Why a text has no block of the kind that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PemError {
    NoBlock { expected: String },
    OtherKind { expected: String, found: String },
}

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PemError::NoBlock { expected } => {
                write!(f, "failed to decode PEM of expected type {} from bytes", go_quoted(expected))
            }
            PemError::OtherKind { expected, found } => {
                write!(f, "invalid PEM type - expected {}, got {}", go_quoted(expected), go_quoted(found))
            }
        }
    }
}

impl std::error::Error for PemError {}

/// The contents of a PEM of this kind.
pub fn decode_kind(text: &str, kind: &str) -> Result<Vec<u8>, PemError> {
    let Some(block) = decode(text) else {
        return Err(PemError::NoBlock { expected: kind.to_owned() });
    };
    if block.kind != kind {
        return Err(PemError::OtherKind { expected: kind.to_owned(), found: block.kind });
    }
    Ok(block.contents)
}

/// Whether a text begins with a BEGIN line and ends with an END line. A resource is replaced if such a value of its state
/// changes.
pub fn is_whole(text: &str) -> bool {
    let is_kind = |kind: &str| !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    let split = || {
        let rest = text.strip_prefix("-----BEGIN ")?;
        let (begin, rest) = rest.split_once("-----\n")?;
        let rest = rest.strip_suffix('\n').unwrap_or(rest).strip_suffix("-----")?;
        let (inner, end) = rest.rsplit_once("\n-----END ")?;
        Some((begin, inner, end))
    };
    split().is_some_and(|(begin, inner, end)| is_kind(begin) && is_kind(end) && !inner.is_empty())
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
    use crate::providers::tls::golden::{bytes, cases, text};

    #[test]
    fn blocks_are_found_where_go_finds_them() {
        for case in cases("pem.json") {
            let found = decode(text(&case, "text")).map(|block| (block.kind, block.contents));
            let expected = case["found"] == true;
            let expected = expected.then(|| (text(&case, "type").to_owned(), bytes(text(&case, "hex"))));
            assert_eq!(found, expected, "{case}");
        }
    }

    /// The provider's regular expression was asked about these.
    #[test]
    fn whole_pems_are_recognised() {
        for case in cases("whole.json") {
            assert_eq!(is_whole(text(&case, "text")), case["is_whole"] == true, "{case}");
        }
    }

    #[test]
    fn lines_have_64_columns() {
        let written = encode("X", &[0; 49]);
        assert_eq!(written, format!("-----BEGIN X-----\n{}\nAA==\n-----END X-----\n", "A".repeat(64)));
        assert_eq!(encode("X", &[]), "-----BEGIN X-----\n-----END X-----\n");
    }
}
