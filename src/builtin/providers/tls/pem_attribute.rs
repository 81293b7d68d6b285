//! PEM in attributes: what the provider asks of it, and says if it is of another kind.

use gotext::pem;
use terrane_value::text::go_quoted;

/// The contents of a PEM of this kind. The error is the provider's.
pub fn decode_kind(text: &str, kind: &str) -> Result<Vec<u8>, String> {
    let Some(block) = pem::decode(text) else {
        return Err(format!("failed to decode PEM of expected type {} from bytes", go_quoted(kind)));
    };
    if block.kind != kind {
        return Err(format!("invalid PEM type - expected {}, got {}", go_quoted(kind), go_quoted(&block.kind)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tls::golden::{bytes, cases, text};

    #[test]
    fn blocks_are_found_where_go_finds_them() {
        for case in cases("pem.json") {
            let found = pem::decode(text(&case, "text")).map(|block| (block.kind, block.contents));
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
}
