//! The built-in providers, a file or folder each.

pub mod local;
pub mod null;
pub mod random;
pub mod terraform;

/// An I/O error as Go words it: `open x: no such file or directory`.
fn io_text(verb: &str, path: &str, error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_lowercase();
    format!("{verb} {path}: {text}")
}

/// Where base64 text stops being base64, as Go words it.
fn base64_text(text: &str, url: bool) -> String {
    let extra: &[u8] = if url { b"-_" } else { b"+/" };
    let valid = |byte: &u8| byte.is_ascii_alphanumeric() || extra.contains(byte);
    let at = text.bytes().position(|byte| !valid(&byte)).unwrap_or(text.len());
    format!("illegal base64 data at input byte {at}")
}
