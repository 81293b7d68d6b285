//! `cloudinit_config`: a multi-part MIME message, which may be compressed and encoded in base64.
//!
//! Only `provider` knows schemas; the rest never does.

pub mod provider;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gotext::deflate::Gzip;

use super::failure::Failure;

pub const DEFAULT_BOUNDARY: &str = "MIMEBOUNDARY";
pub const DEFAULT_CONTENT_TYPE: &str = "text/plain";

/// The arguments. `None` means the default.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub gzip: Option<bool>,
    pub base64_encode: Option<bool>,
    pub boundary: Option<String>,
    pub parts: Vec<Part>,
}

/// A `part` block.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub content: String,
    pub content_type: Option<String>,
    pub filename: Option<String>,
    pub merge_type: Option<String>,
}

/// The arguments with their defaults, and the computed attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub gzip: bool,
    pub base64_encode: bool,
    pub boundary: String,
    /// One for each part.
    pub content_types: Vec<String>,
    pub rendered: String,
    /// The CRC-32 of `rendered`, in decimal digits.
    pub id: String,
}

/// Validates `gzip` and `base64_encode`, both of which must be known. The error belongs to `base64_encode`.
pub fn validate(gzip: Option<bool>, base64_encode: Option<bool>) -> Result<(), Failure> {
    if gzip.unwrap_or(true) && !base64_encode.unwrap_or(true) {
        let detail = "Expected base64_encode to be set to true when gzip is true.";
        return Err(Failure::new("Invalid Attribute Configuration", detail));
    }
    Ok(())
}

/// Renders the message. Compressed bytes without base64 would contain replacement characters; `validate` rejects that
/// combination.
pub fn render(config: &Config) -> Result<Document, Failure> {
    let gzip = config.gzip.unwrap_or(true);
    let base64_encode = config.base64_encode.unwrap_or(true);
    let boundary = config.boundary.as_deref().unwrap_or(DEFAULT_BOUNDARY);
    check_boundary(boundary).map_err(failure)?;
    let bytes = encode(&config.parts, boundary, gzip).map_err(|error| failure(&error.to_string()))?;
    let rendered = if base64_encode { STANDARD.encode(&bytes) } else { String::from_utf8_lossy(&bytes).into_owned() };
    let mut checksum = flate2::Crc::new();
    checksum.update(rendered.as_bytes());
    Ok(Document {
        gzip,
        base64_encode,
        boundary: boundary.to_owned(),
        content_types: config.parts.iter().map(|part| part.content_type().to_owned()).collect(),
        rendered,
        id: checksum.sum().to_string(),
    })
}

fn failure(detail: &str) -> Failure {
    Failure::new("Unable to render cloudinit config to MIME multi-part file", detail)
}

impl Part {
    fn content_type(&self) -> &str {
        given(&self.content_type).unwrap_or(DEFAULT_CONTENT_TYPE)
    }

    /// The header fields, in the order of their names.
    fn header(&self) -> String {
        let disposition = given(&self.filename)
            .map(|name| format!("Content-Disposition: attachment; filename=\"{name}\"\r\n"))
            .unwrap_or_default();
        let merge_type =
            given(&self.merge_type).map(|merge_type| format!("X-Merge-Type: {merge_type}\r\n")).unwrap_or_default();
        let content_type = self.content_type();
        let fixed = format!("Content-Transfer-Encoding: 7bit\r\nContent-Type: {content_type}\r\nMime-Version: 1.0\r\n");
        format!("{disposition}{fixed}{merge_type}\r\n")
    }
}

fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// The rules of RFC 2046, 5.1.1.
fn check_boundary(boundary: &str) -> Result<(), &'static str> {
    if !(1..=70).contains(&boundary.len()) {
        return Err("mime: invalid boundary length");
    }
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "'()+_,-./:=? ".contains(c);
    if boundary.ends_with(' ') || !boundary.chars().all(is_valid) {
        return Err("mime: invalid boundary character");
    }
    Ok(())
}

fn encode(parts: &[Part], boundary: &str, gzip: bool) -> io::Result<Vec<u8>> {
    if !gzip {
        let mut bytes = Vec::new();
        write_message(parts, boundary, &mut bytes)?;
        return Ok(bytes);
    }
    let mut writer = Gzip::new(Vec::new())?;
    write_message(parts, boundary, &mut writer)?;
    writer.finish()
}

/// Writes the message with the same sequence of writes as the reference: the compressor's output depends on it.
fn write_message(parts: &[Part], boundary: &str, out: &mut dyn Write) -> io::Result<()> {
    // The first line of the reference ends without a carriage return.
    out.write_all(format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\n").as_bytes())?;
    out.write_all(b"MIME-Version: 1.0\r\n\r\n")?;
    for (i, part) in parts.iter().enumerate() {
        let start = if i == 0 { "" } else { "\r\n" };
        out.write_all(format!("{start}--{boundary}\r\n{}", part.header()).as_bytes())?;
        out.write_all(part.content.as_bytes())?;
    }
    out.write_all(format!("\r\n--{boundary}--\r\n").as_bytes())
}
