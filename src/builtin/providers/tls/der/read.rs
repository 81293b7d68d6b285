//! Elements in DER, taken apart.
//!
//! Strict where Go's readers are: lengths and integers have their shortest form, and tags one byte.

use super::tag;

/// What is left of a run of elements.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

/// One element.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    pub tag: u8,
    pub contents: &'a [u8],
    /// The whole element, with its tag and length.
    pub whole: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(rest: &'a [u8]) -> Reader<'a> {
        Reader { rest }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether the next element has this tag.
    pub fn is_next(&self, tag: u8) -> bool {
        self.rest.first() == Some(&tag)
    }

    /// Any element.
    pub fn any(&mut self) -> Option<Element<'a>> {
        let (&tag, after_tag) = self.rest.split_first()?;
        // All bits of the number set: it would follow in more bytes.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (length, head) = read_length(after_tag)?;
        let end = head.checked_add(1)?.checked_add(length)?;
        let whole = self.rest.get(..end)?;
        self.rest = &self.rest[end..];
        Some(Element { tag, contents: &whole[head + 1..], whole })
    }

    /// An element with this tag.
    pub fn element(&mut self, tag: u8) -> Option<Element<'a>> {
        if self.is_next(tag) { self.any() } else { None }
    }

    /// The contents of an element with this tag.
    pub fn contents(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.element(tag).map(|element| element.contents)
    }

    pub fn sequence(&mut self) -> Option<Reader<'a>> {
        self.contents(tag::SEQUENCE).map(Reader::new)
    }

    /// An element that may be missing.
    pub fn optional(&mut self, tag: u8) -> Option<Option<&'a [u8]>> {
        if self.is_next(tag) { self.contents(tag).map(Some) } else { Some(None) }
    }

    /// Reads the tag and length of an explicit tag, and leaves what is in it as the next element. Like Go's
    /// `encoding/asn1`, it does not compare the two lengths.
    pub fn enter(&mut self, tag: u8) -> Option<()> {
        let (_, after_tag) = self.rest.split_first().filter(|(first, _)| **first == tag)?;
        let (_, head) = read_length(after_tag)?;
        self.rest = &after_tag[head..];
        Some(())
    }

    /// The bytes of an integer in two's complement.
    pub fn integer(&mut self) -> Option<&'a [u8]> {
        let contents = self.contents(tag::INTEGER)?;
        let is_shortest = match contents {
            [] => false,
            [0, next, ..] => *next >= 0x80,
            [0xff, next, ..] => *next < 0x80,
            _ => true,
        };
        is_shortest.then_some(contents)
    }

    /// An integer of at most 64 bits.
    pub fn small(&mut self) -> Option<i64> {
        let bytes = self.integer()?;
        if bytes.len() > 8 {
            return None;
        }
        let start = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
        Some(bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte)))
    }

    pub fn boolean(&mut self) -> Option<bool> {
        match self.contents(tag::BOOLEAN)? {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// The bytes of a bit string, and how many bits of the last one do not belong to it.
    pub fn bit_string(&mut self) -> Option<(&'a [u8], u8)> {
        let (&unused, bytes) = self.contents(tag::BIT_STRING)?.split_first()?;
        let mask = 1u8.checked_shl(unused.into()).filter(|_| unused < 8)? - 1;
        match bytes.last() {
            None if unused > 0 => None,
            Some(last) if last & mask != 0 => None,
            _ => Some((bytes, unused)),
        }
    }

    /// A bit string as a number whose last bit is the string's.
    pub fn right_aligned_bit_string(&mut self) -> Option<Vec<u8>> {
        let (bytes, unused) = self.bit_string()?;
        let before = std::iter::once(0).chain(bytes.iter().copied());
        Some(
            before
                .zip(bytes)
                .map(|(left, right)| ((u16::from(left) << 8 | u16::from(*right)) >> unused) as u8)
                .collect(),
        )
    }

    pub fn object_identifier(&mut self) -> Option<Vec<u32>> {
        components(self.contents(tag::OBJECT_IDENTIFIER)?)
    }
}

/// A length, and how many bytes it took.
fn read_length(bytes: &[u8]) -> Option<(usize, usize)> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some((first.into(), 1));
    }
    let count = usize::from(first & 0x7f);
    if count == 0 || count > 4 || rest.first() == Some(&0) {
        return None;
    }
    let length = rest.get(..count)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    (length >= 0x80).then_some((length, count + 1))
}

/// The components of an object identifier; none may pass 31 bits, as in Go.
fn components(contents: &[u8]) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    let mut rest = contents;
    while !rest.is_empty() {
        let (number, after) = read_base_128(rest)?;
        rest = after;
        if out.is_empty() {
            let first = (number / 40).min(2);
            out.extend([first, number - 40 * first]);
        } else {
            out.push(number);
        }
    }
    (!out.is_empty()).then_some(out)
}

fn read_base_128(bytes: &[u8]) -> Option<(u32, &[u8])> {
    // The shortest form has no zeros in front.
    if bytes.first() == Some(&0x80) {
        return None;
    }
    let mut number = 0u64;
    for (at, byte) in bytes.iter().enumerate() {
        number = number << 7 | u64::from(byte & 0x7f);
        if number > i32::MAX as u64 {
            return None;
        }
        if byte & 0x80 == 0 {
            return Some((u32::try_from(number).ok()?, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shortest_form_is_read() {
        let cases: [(&[u8], Option<i64>); 8] = [
            (&[2, 1, 5], Some(5)),
            (&[2, 1, 0xff], Some(-1)),
            (&[2, 2, 0, 0x80], Some(128)),
            (&[2, 2, 0, 5], None),
            (&[2, 0x81, 1, 5], None),
            (&[2, 0], None),
            (&[2, 2, 5], None),
            (&[2, 0x80, 5], None),
        ];
        for (der, expected) in cases {
            assert_eq!(Reader::new(der).small(), expected, "{der:?}");
        }
    }

    #[test]
    fn bit_strings_are_aligned_to_the_right() {
        assert_eq!(Reader::new(&[3, 3, 4, 0x12, 0x30]).right_aligned_bit_string(), Some(vec![0x01, 0x23]));
        assert_eq!(Reader::new(&[3, 2, 0, 7]).right_aligned_bit_string(), Some(vec![7]));
        for der in [&[3, 2, 8, 0][..], &[3, 1, 1], &[3, 2, 1, 1], &[3, 0]] {
            assert_eq!(Reader::new(der).bit_string(), None, "{der:?}");
        }
    }

    #[test]
    fn object_identifiers_are_read() {
        let cases: [(&[u8], Option<Vec<u32>>); 6] = [
            (&[6, 3, 0x55, 4, 3], Some(vec![2, 5, 4, 3])),
            (&[6, 3, 0x81, 0x34, 3], Some(vec![2, 100, 3])),
            (&[6, 1, 0x27], Some(vec![0, 39])),
            (&[6, 2, 0x80, 1], None),
            (&[6, 1, 0x81], None),
            (&[6, 6, 0x2a, 0x88, 0x80, 0x80, 0x80, 0], None),
        ];
        for (der, expected) in cases {
            assert_eq!(Reader::new(der).object_identifier(), expected, "{der:?}");
        }
    }
}
