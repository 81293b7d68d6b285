//! Elements in DER, made from their contents.

use super::oid::Oid;
use super::tag;

/// An element: tag, length and contents.
pub fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(contents.len() + 6);
    out.push(tag);
    write_length(contents.len(), &mut out);
    out.extend_from_slice(contents);
    out
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    if length < 0x80 {
        out.push(length as u8);
        return;
    }
    let bytes = length.to_be_bytes();
    let digits = without_leading_zeros(&bytes);
    out.push(0x80 | digits.len() as u8);
    out.extend_from_slice(digits);
}

fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    &bytes[zeros..]
}

pub fn sequence(elements: &[&[u8]]) -> Vec<u8> {
    element(tag::SEQUENCE, &elements.concat())
}

/// A set of elements of one kind, in the order that DER asks for.
pub fn set_of(mut elements: Vec<Vec<u8>>) -> Vec<u8> {
    elements.sort();
    element(tag::SET, &elements.concat())
}

/// An integer that is not negative, from its bytes, the most significant one first.
pub fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let digits = without_leading_zeros(bytes);
    // A zero in front keeps the sign; the number zero itself has one byte too.
    let needs_zero = digits.first().is_none_or(|byte| *byte >= 0x80);
    let mut contents = if needs_zero { vec![0] } else { Vec::new() };
    contents.extend_from_slice(digits);
    element(tag::INTEGER, &contents)
}

pub fn small(number: u64) -> Vec<u8> {
    unsigned(&number.to_be_bytes())
}

pub fn boolean(value: bool) -> Vec<u8> {
    element(tag::BOOLEAN, &[if value { 0xff } else { 0 }])
}

pub fn null() -> Vec<u8> {
    element(tag::NULL, &[])
}

pub fn octet_string(bytes: &[u8]) -> Vec<u8> {
    element(tag::OCTET_STRING, bytes)
}

/// A bit string of whole bytes.
pub fn bit_string(bytes: &[u8]) -> Vec<u8> {
    bit_string_without(0, bytes)
}

/// A bit string whose last byte has this many unused bits.
pub fn bit_string_without(unused: u8, bytes: &[u8]) -> Vec<u8> {
    element(tag::BIT_STRING, &[&[unused], bytes].concat())
}

pub fn object_identifier(oid: &Oid) -> Vec<u8> {
    let (head, tail) = oid.split_at(oid.len().min(2));
    let first = head.first().copied().unwrap_or(0) * 40 + head.get(1).copied().unwrap_or(0);
    let mut contents = Vec::new();
    for component in std::iter::once(&first).chain(tail) {
        write_base_128(*component, &mut contents);
    }
    element(tag::OBJECT_IDENTIFIER, &contents)
}

fn write_base_128(number: u32, out: &mut Vec<u8>) {
    for shift in [28, 21, 14, 7] {
        if number >> shift != 0 {
            out.push(0x80 | (number >> shift) as u8 & 0x7f);
        }
    }
    out.push(number as u8 & 0x7f);
}

/// A text as Go writes it: PrintableString if all of its characters may stand in one, UTF8String otherwise.
pub fn text(text: &str) -> Vec<u8> {
    let is_printable = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte));
    element(if is_printable { tag::PRINTABLE_STRING } else { tag::UTF8_STRING }, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents follow X.690.
    #[test]
    fn elements_are_der() {
        let cases = [
            (small(0), vec![2, 1, 0]),
            (small(127), vec![2, 1, 127]),
            (small(128), vec![2, 2, 0, 128]),
            (unsigned(&[0, 0, 1, 0]), vec![2, 2, 1, 0]),
            (boolean(true), vec![1, 1, 255]),
            (object_identifier(&[2, 5, 4, 3]), vec![6, 3, 0x55, 4, 3]),
            (object_identifier(&[1, 2, 840, 113549]), vec![6, 6, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]),
            (text("a b"), vec![19, 3, b'a', b' ', b'b']),
            (text("a*"), vec![12, 2, b'a', b'*']),
            (set_of(vec![small(2), small(1)]), vec![0x31, 6, 2, 1, 1, 2, 1, 2]),
        ];
        for (written, expected) in cases {
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn lengths_have_as_few_bytes_as_possible() {
        for (length, head) in [(127, vec![4, 127]), (128, vec![4, 0x81, 128]), (256, vec![4, 0x82, 1, 0])] {
            assert_eq!(octet_string(&vec![0; length])[..head.len()], head);
        }
    }
}
