//! The string types of ASN.1, as Go reads them in certificates.

use crate::providers::tls::der::tag;

/// Why a value of a name is no text.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidText {
    pub detail: String,
    /// Whether it is a string type with wrong contents, not another type.
    pub is_in_text: bool,
}

/// The text of an element with this tag.
pub fn decode(tag: u8, contents: &[u8]) -> Result<String, InvalidText> {
    let (text, detail) = match tag {
        // The character set of T.61 is taken for Latin-1.
        tag::T61_STRING => (Some(contents.iter().copied().map(char::from).collect()), ""),
        tag::PRINTABLE_STRING => (ascii(contents, is_printable), "invalid PrintableString"),
        tag::UTF8_STRING => (String::from_utf8(contents.to_vec()).ok(), "invalid UTF-8 string"),
        tag::BMP_STRING => (ucs2(contents), "invalid BMPString"),
        tag::IA5_STRING => (ascii(contents, |_| true), "invalid IA5String"),
        tag::NUMERIC_STRING => (ascii(contents, |byte| byte.is_ascii_digit() || byte == b' '), "invalid NumericString"),
        other => {
            return Err(InvalidText { detail: format!("unsupported string type: {other}"), is_in_text: false });
        }
    };
    text.ok_or_else(|| InvalidText { detail: detail.to_owned(), is_in_text: true })
}

fn ascii(contents: &[u8], is_allowed: impl Fn(u8) -> bool) -> Option<String> {
    let is_ascii = contents.iter().all(|byte| byte.is_ascii() && is_allowed(*byte));
    is_ascii.then(|| contents.iter().copied().map(char::from).collect())
}

/// `*` and `&` do not belong to the type, but are found in it.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// Two bytes for each character, without surrogates and noncharacters; one zero at the end is left out.
fn ucs2(contents: &[u8]) -> Option<String> {
    let (units, rest) = contents.as_chunks::<2>();
    let units = units.strip_suffix(&[[0, 0]]).unwrap_or(units);
    if !rest.is_empty() {
        return None;
    }
    let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
    units.map(|unit| char::from_u32(unit.into()).filter(|_| !is_noncharacter(unit))).collect()
}

fn is_noncharacter(unit: u16) -> bool {
    matches!(unit, 0xfdd0..=0xfdef | 0xfffe | 0xffff)
}
