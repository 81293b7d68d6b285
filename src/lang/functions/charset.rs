//! Character encodings by their IANA names, for `textencodebase64` and `textdecodebase64`.
//!
//! Owns the names and the encodings of one byte per character (as tables in `charsets.txt`), UTF-16 and HZ. Those of
//! several bytes are the standard's, from a crate.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use encoding_rs::{BIG5, DecoderResult, EUC_JP, EUC_KR, EncoderResult, GB18030, GBK, ISO_2022_JP, SHIFT_JIS};

/// A character encoding, with the name that messages use.
pub(super) struct Charset {
    pub name: &'static str,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteOrder {
    Big,
    Little,
}

enum Form {
    Utf8,
    Utf16 { order: ByteOrder, mark: bool },
    OneByte(Table),
    Several(&'static encoding_rs::Encoding),
    Hz,
}

struct Table {
    /// By byte.
    chars: Vec<Option<char>>,
    bytes: HashMap<char, u8>,
}

/// With the first name as the one for messages.
const SEVERAL: [(&[&str], &encoding_rs::Encoding); 7] = [
    (&["GB18030", "csgb18030"], GB18030),
    (&["GBK", "cp936", "ms936", "windows-936", "csgbk"], GBK),
    (&["Big5", "csbig5"], BIG5),
    (&["EUC-KR", "cseuckr"], EUC_KR),
    (&["Extended_UNIX_Code_Packed_Format_for_Japanese", "euc-jp", "cseucpkdfmtjapanese"], EUC_JP),
    (&["ISO-2022-JP", "csiso2022jp"], ISO_2022_JP),
    (&["Shift_JIS", "csshiftjis", "ms_kanji"], SHIFT_JIS),
];

static BY_NAME: LazyLock<BTreeMap<String, &'static Charset>> = LazyLock::new(|| {
    let mut all: BTreeMap<String, &'static Charset> = BTreeMap::new();
    let mut add = |names: &[&str], name: &'static str, form: Form| {
        let charset: &'static Charset = Box::leak(Box::new(Charset { name, form }));
        names.iter().chain([&name]).for_each(|n| {
            all.insert(n.to_ascii_lowercase(), charset);
        });
    };
    add(&["csutf8"], "UTF-8", Form::Utf8);
    add(&["csutf16"], "UTF-16", Form::Utf16 { order: ByteOrder::Big, mark: true });
    add(&["csutf16be"], "UTF-16BE", Form::Utf16 { order: ByteOrder::Big, mark: false });
    add(&["csutf16le"], "UTF-16LE", Form::Utf16 { order: ByteOrder::Little, mark: false });
    add(&[], "HZ-GB-2312", Form::Hz);
    for (names, encoding) in SEVERAL {
        add(names, names[0], Form::Several(encoding));
    }
    let mut tables: HashMap<&str, &str> = HashMap::new();
    for line in include_str!("charsets.txt").lines().filter(|l| !l.starts_with('#')) {
        let mut parts = line.splitn(3, '|');
        let (Some(name), Some(aliases), Some(body)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let body = body.strip_prefix("as ").and_then(|other| tables.get(other).copied()).unwrap_or(body);
        tables.insert(name, body);
        let aliases: Vec<&str> = aliases.split(' ').filter(|a| !a.is_empty()).collect();
        add(&aliases, name, Form::OneByte(Table::read(body)));
    }
    all
});

/// The encoding of an IANA name, in any case.
pub(super) fn find(name: &str) -> Option<&'static Charset> {
    BY_NAME.get(&name.trim().to_ascii_lowercase()).copied()
}

impl Table {
    fn read(body: &str) -> Table {
        let mut listed: Vec<Option<Option<char>>> = Vec::new();
        let mut rest = body;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            if c != '\\' {
                listed.push(Some(Some(c)));
            } else if let Some(after) = rest.strip_prefix('=') {
                listed.push(None);
                rest = after;
            } else if let Some(after) = rest.strip_prefix('?') {
                listed.push(Some(None));
                rest = after;
            } else if let Some((hex, after)) = rest.strip_prefix('{').and_then(|r| r.split_once('}')) {
                listed.push(Some(u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)));
                rest = after;
            }
        }
        let ascii = 256 - listed.len().min(256);
        let own = |b: usize| char::from_u32(b as u32);
        let upper = listed.into_iter().enumerate().map(|(i, c)| c.unwrap_or_else(|| own(ascii + i)));
        let chars: Vec<Option<char>> = (0..ascii).map(own).chain(upper).collect();
        let bytes = chars.iter().enumerate().rev().filter_map(|(b, c)| Some(((*c)?, b as u8))).collect();
        Table { chars, bytes }
    }
}

impl Charset {
    /// Nothing where a character is not among those of the encoding.
    pub fn encode(&self, source: &str) -> Option<Vec<u8>> {
        match &self.form {
            Form::Utf8 => Some(source.as_bytes().to_vec()),
            Form::Utf16 { order, mark } => {
                let units = mark.then_some(0xfeff).into_iter().chain(source.encode_utf16());
                Some(
                    units
                        .flat_map(|u| if *order == ByteOrder::Big { u.to_be_bytes() } else { u.to_le_bytes() })
                        .collect(),
                )
            }
            Form::OneByte(table) => source.chars().map(|c| table.bytes.get(&c).copied()).collect(),
            Form::Several(encoding) => encode_several(encoding, source),
            Form::Hz => encode_hz(source),
        }
    }

    /// Nothing where bytes stand for no character.
    pub fn decode(&self, bytes: &[u8]) -> Option<String> {
        match &self.form {
            Form::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
            Form::Utf16 { order, mark } => decode_utf16(bytes, *order, *mark),
            Form::OneByte(table) => bytes.iter().map(|b| table.chars.get(usize::from(*b)).copied().flatten()).collect(),
            Form::Several(encoding) => decode_several(encoding, bytes),
            Form::Hz => decode_hz(bytes),
        }
        .filter(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }
}

fn decode_utf16(bytes: &[u8], order: ByteOrder, mark: bool) -> Option<String> {
    let little = mark && bytes.starts_with(&[0xff, 0xfe]);
    let marked = mark && (little || bytes.starts_with(&[0xfe, 0xff]));
    let bytes = if marked { &bytes[2..] } else { bytes };
    let big = order == ByteOrder::Big && !little;
    if bytes.len() % 2 != 0 {
        return None;
    }
    let units = bytes
        .chunks_exact(2)
        .map(|p| if big { u16::from_be_bytes([p[0], p[1]]) } else { u16::from_le_bytes([p[0], p[1]]) });
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

fn encode_several(encoding: &'static encoding_rs::Encoding, source: &str) -> Option<Vec<u8>> {
    let mut encoder = encoding.new_encoder();
    let room = encoder.max_buffer_length_from_utf8_without_replacement(source.len())?;
    let mut out = Vec::with_capacity(room);
    match encoder.encode_from_utf8_to_vec_without_replacement(source, &mut out, true) {
        (EncoderResult::InputEmpty, _) => Some(out),
        _ => None,
    }
}

fn decode_several(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> Option<String> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len())?;
    let mut out = String::with_capacity(room);
    match decoder.decode_to_string_without_replacement(bytes, &mut out, true) {
        (DecoderResult::InputEmpty, _) => Some(out),
        _ => None,
    }
}

/// Chinese between `~{` and `~}`, as the second half of GBK without the high bits.
fn encode_hz(source: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(source.len());
    let mut chinese = false;
    for c in source.chars() {
        if c.is_ascii() {
            if chinese {
                out.extend(b"~}");
                chinese = false;
            }
            if c == '~' {
                out.push(b'~');
            }
            out.push(c as u8);
            continue;
        }
        let pair = encode_several(GBK, c.encode_utf8(&mut [0; 4]))?;
        let [high @ 0xa1..=0xf7, low @ 0xa1..=0xfe] = pair[..] else { return None };
        if !chinese {
            out.extend(b"~{");
            chinese = true;
        }
        out.extend([high & 0x7f, low & 0x7f]);
    }
    Some(out)
}

fn decode_hz(bytes: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(bytes.len());
    let mut chinese = false;
    let mut rest = bytes;
    loop {
        match rest {
            [] => return Some(out),
            [b'~', b'{', after @ ..] => (chinese, rest) = (true, after),
            [b'~', b'}', after @ ..] => (chinese, rest) = (false, after),
            [b'~', b'~', after @ ..] if !chinese => {
                out.push('~');
                rest = after;
            }
            [b'~', b'\n', after @ ..] if !chinese => rest = after,
            [b'~', ..] => return None,
            [high @ 0x21..0x7e, low @ 0x21..0x7f, after @ ..] if chinese => {
                out.push_str(&decode_several(GBK, &[high | 0x80, low | 0x80])?);
                rest = after;
            }
            [b, after @ ..] if !chinese && b.is_ascii() => {
                out.push(char::from(*b));
                rest = after;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte that stands for a character is what that character is written as.
    #[test]
    fn both_ways() {
        for charset in BY_NAME.values() {
            let Form::OneByte(table) = &charset.form else { continue };
            assert_eq!(table.chars.len(), 256, "{}", charset.name);
            for (byte, c) in table.chars.iter().enumerate() {
                let Some(c) = c else { continue };
                assert_eq!(charset.encode(&c.to_string()), Some(vec![byte as u8]), "{} {byte}", charset.name);
            }
        }
    }
}
