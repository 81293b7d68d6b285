//! Texts as Go writes them, for the messages that users know word by word.

use std::io;

/// An I/O error: `open x: no such file or directory`.
pub fn io_text(verb: &str, path: &str, error: &io::Error) -> String {
    format!("{verb} {path}: {}", reason(error))
}

/// The system's own text, in lower case and without Rust's number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Where base64 text stops being base64.
pub fn base64_text(text: &str, url: bool) -> String {
    let extra: &[u8] = if url { b"-_" } else { b"+/" };
    let valid = |byte: &u8| byte.is_ascii_alphanumeric() || extra.contains(byte);
    let at = text.bytes().position(|byte| !valid(&byte)).unwrap_or(text.len());
    format!("illegal base64 data at input byte {at}")
}
