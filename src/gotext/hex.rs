//! Bytes as digits, and back.

use std::fmt::Write;

/// Two lower-case digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A string takes everything.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// The bytes that digits of either case stand for.
pub fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let found = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
    if rest.is_empty() { found } else { None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(super::hex(&[0, 10, 255]), "000aff");
        assert_eq!(super::hex(&[]), "");
        assert_eq!(super::bytes("000aFF"), Some(vec![0, 10, 255]));
        for text in ["0", "0g", "+1", "ä"] {
            assert_eq!(super::bytes(text), None, "{text}");
        }
    }
}
