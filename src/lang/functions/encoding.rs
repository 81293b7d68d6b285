//! Functions that change the encoding of text: base64, JSON, CSV, URLs, character sets.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::builtin::{Allow, Builtin, Outcome, any, fail, fail_argument, quoted, shown, string, text};
use super::json_text;
use super::signature::{CallContext, FunctionError};
use crate::lang::value::unknown::safe_prefix;
use crate::lang::value::{Refinement, Type, Value, json};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new("base64decode", vec![string("str").marked()], s.clone(), base64_decode)
            .doc("The text that a base64 string stands for."),
        Builtin::new("base64encode", vec![string("str")], s.clone(), |a, _| {
            Ok(Value::string(STANDARD.encode(text(a, 0))))
        })
        .doc("The base64 form of a text."),
        Builtin::new("base64gzip", vec![string("str")], s.clone(), base64_gzip)
            .doc("The base64 form of a text compressed with gzip."),
        Builtin::new("textencodebase64", vec![string("string"), string("encoding")], s.clone(), text_encode)
            .doc("The base64 form of a text in a character encoding."),
        Builtin::new("textdecodebase64", vec![string("source"), string("encoding")], s.clone(), text_decode)
            .doc("The text that a base64 string in a character encoding stands for."),
        Builtin::new("urlencode", vec![string("str")], s.clone(), |a, _| Ok(Value::string(url_encode(text(a, 0)))))
            .doc("The text as it stands in a URL's query."),
        Builtin::new("jsonencode", vec![any("val").null().unknown().dynamic()], s, json_encode)
            .doc("The JSON form of a value."),
        Builtin::new("jsondecode", vec![string("str")], Type::Dynamic, json_decode)
            .typed(|_| Ok(Type::Dynamic))
            .may_be_null()
            .doc("The value that a JSON text stands for."),
        Builtin::new("csvdecode", vec![string("str")], Type::Dynamic, csv_decode)
            .typed(|_| Ok(Type::Dynamic))
            .doc("The rows of a CSV text as objects, with attributes named by its first row."),
    ]
}

fn base64_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    // Line breaks inside are skipped, as Go's decoder does.
    let source: String = text(a, 0).chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let Ok(bytes) = STANDARD.decode(source) else {
        return fail(format!("failed to decode base64 data {}", shown(&a[0])));
    };
    match String::from_utf8(bytes) {
        Ok(decoded) => Ok(Value::string(decoded).mark(a[0].marks())),
        Err(_) => fail("the result of decoding the provided string is not valid UTF-8"),
    }
}

fn base64_gzip(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let source = text(a, 0).as_bytes();
    let failed = |e: std::io::Error| FunctionError::new(format!("failed to write gzip raw data: {e}"));
    // The header and the ends of the blocks are those of Go's writer: a flush, then an empty last block.
    let mut out: Vec<u8> = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut deflate = flate2::write::DeflateEncoder::new(&mut out, flate2::Compression::default());
    deflate.write_all(source).map_err(failed)?;
    deflate.flush().map_err(failed)?;
    drop(deflate.finish());
    // Our encoder ends with an empty block of two bytes; the other one writes it as a stored block.
    if out.ends_with(&[3, 0]) {
        out.truncate(out.len() - 2);
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    let mut crc = flate2::Crc::new();
    crc.update(source);
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    Ok(Value::string(STANDARD.encode(out)))
}

/// A character encoding that we can write and read.
#[derive(Clone, Copy)]
enum Charset {
    Utf8,
    Utf16 { big: bool, mark: bool },
    Ascii,
    Latin1,
    Windows1252,
}

/// The encoding of an IANA name, with the name that messages use.
fn charset(name: &str) -> Option<(Charset, &'static str)> {
    Some(match name.to_lowercase().as_str() {
        "utf-8" | "csutf8" | "utf8" => (Charset::Utf8, "UTF-8"),
        "utf-16" | "csutf16" => (Charset::Utf16 { big: true, mark: true }, "UTF-16"),
        "utf-16be" | "csutf16be" => (Charset::Utf16 { big: true, mark: false }, "UTF-16BE"),
        "utf-16le" | "csutf16le" => (Charset::Utf16 { big: false, mark: false }, "UTF-16LE"),
        "us-ascii" | "ascii" | "iso646-us" | "ansi_x3.4-1968" | "iso-ir-6" | "us" | "cp367" | "csascii" => {
            (Charset::Ascii, "US-ASCII")
        }
        "iso-8859-1" | "iso_8859-1" | "iso_8859-1:1987" | "latin1" | "l1" | "ibm819" | "cp819" | "csisolatin1"
        | "iso-ir-100" => (Charset::Latin1, "ISO_8859-1:1987"),
        "windows-1252" | "cswindows1252" => (Charset::Windows1252, "windows-1252"),
        _ => return None,
    })
}

/// What windows-1252 has in place of the control characters from 0x80; zero where it has nothing.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

fn encode_char(set: Charset, c: char) -> Option<u8> {
    let code = c as u32;
    match set {
        Charset::Ascii if code < 0x80 => Some(code as u8),
        Charset::Latin1 if code < 0x100 => Some(code as u8),
        Charset::Windows1252 if code < 0x80 || (0xa0..0x100).contains(&code) => Some(code as u8),
        Charset::Windows1252 => {
            WINDOWS_1252.iter().position(|w| u32::from(*w) == code && code != 0).map(|i| 0x80 + i as u8)
        }
        _ => None,
    }
}

fn encode_text(set: Charset, source: &str) -> Option<Vec<u8>> {
    match set {
        Charset::Utf8 => Some(source.as_bytes().to_vec()),
        Charset::Utf16 { big, mark } => {
            let units = mark.then_some(0xfeff).into_iter().chain(source.encode_utf16());
            Some(units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect())
        }
        _ => source.chars().map(|c| encode_char(set, c)).collect(),
    }
}

fn decode_text(set: Charset, bytes: &[u8]) -> Option<String> {
    match set {
        Charset::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
        Charset::Utf16 { big, mark } => {
            let little = mark && bytes.starts_with(&[0xff, 0xfe]);
            let bytes = if mark && (little || bytes.starts_with(&[0xfe, 0xff])) { &bytes[2..] } else { bytes };
            let units = bytes.chunks(2).map(|pair| match pair {
                [a, b] if big && !little => u16::from_be_bytes([*a, *b]),
                [a, b] => u16::from_le_bytes([*a, *b]),
                _ => 0xfffd,
            });
            Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
        }
        Charset::Ascii => bytes.is_ascii().then(|| bytes.iter().map(|b| *b as char).collect()),
        Charset::Latin1 => Some(bytes.iter().map(|b| *b as char).collect()),
        Charset::Windows1252 => bytes
            .iter()
            .map(|b| match b {
                0x80..=0x9f => match WINDOWS_1252[usize::from(b - 0x80)] {
                    0 => Some(char::REPLACEMENT_CHARACTER),
                    code => char::from_u32(code.into()),
                },
                _ => Some(*b as char),
            })
            .collect(),
    }
}

fn known_charset(a: &[Value]) -> Result<(Charset, &'static str), FunctionError> {
    let name = text(a, 1);
    charset(name).ok_or_else(|| {
        let message =
            format!("{} is not a supported IANA encoding name or alias in this Terrane version", quoted(name));
        FunctionError::argument(1, message)
    })
}

fn text_encode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (set, name) = known_charset(a)?;
    match encode_text(set, text(a, 0)) {
        Some(bytes) => Ok(Value::string(STANDARD.encode(bytes))),
        None => fail_argument(0, format!("the given string contains characters that cannot be represented in {name}")),
    }
}

fn text_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (set, name) = known_charset(a)?;
    let bytes = match STANDARD.decode(text(a, 0)) {
        Ok(bytes) => bytes,
        Err(e) => {
            let offset = match e {
                base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
                _ => text(a, 0).len(),
            };
            return fail_argument(0, format!("the given value is has an invalid base64 symbol at offset {offset}"));
        }
    };
    match decode_text(set, &bytes).filter(|t| !t.contains(char::REPLACEMENT_CHARACTER)) {
        Some(decoded) => Ok(Value::string(decoded)),
        None => fail_argument(0, format!("the given string contains symbols that are not defined for {name}")),
    }
}

fn url_encode(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for b in source.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(b as char),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

fn json_encode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let value = &a[0];
    if !value.is_wholly_known() {
        let prefix = match value.ty() {
            _ if !value.is_definitely_not_null() => "",
            Type::String => "\"",
            Type::Object(_) | Type::Map(_) => "{",
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => "[",
            _ => "",
        };
        return Ok(Value::unknown_refined(Type::String, Refinement::not_null().with_prefix(safe_prefix(prefix))));
    }
    json::to_simple_json(value).map(Value::string).map_err(|e| FunctionError::new(e.message))
}

fn json_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    json_text::decode(text(a, 0)).map_err(FunctionError::new)
}

fn csv_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let mut rows = csv_rows(text(a, 0))?.into_iter();
    let Some(header) = rows.next() else { return fail("missing header line") };
    for (i, name) in header.iter().enumerate() {
        if header[..i].contains(name) {
            return fail(format!("duplicate column name {}", quoted(name)));
        }
    }
    let ty = Type::object(header.iter().map(|name| (name.as_str(), Type::String)));
    let objects = rows.map(|row| {
        let attributes = header.iter().map(|n| n.as_str().into()).zip(row.iter().map(Value::string)).collect();
        Value::object_of(ty.clone(), attributes)
    });
    Ok(Value::list(ty.clone(), objects.collect()))
}

/// Rows of equal length, with the rules and messages of Go's reader.
fn csv_rows(source: &str) -> Result<Vec<Vec<String>>, FunctionError> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut lines = source.split_inclusive('\n').enumerate();
    while let Some((number, line)) = lines.next() {
        let wrong =
            |line: usize, what: &str| FunctionError::new(format!("CSV parse error on line {}: {what}", line + 1));
        let mut rest = line.trim_end_matches('\n').trim_end_matches('\r').to_owned();
        if rest.is_empty() {
            continue;
        }
        let mut row = Vec::new();
        'fields: loop {
            if !rest.starts_with('"') {
                let (field, after) = match rest.split_once(',') {
                    Some((field, after)) => (field.to_owned(), Some(after.to_owned())),
                    None => (rest.clone(), None),
                };
                if field.contains('"') {
                    return Err(wrong(number, "bare \" in non-quoted-field"));
                }
                row.push(field);
                match after {
                    Some(after) => rest = after,
                    None => break 'fields,
                }
                continue;
            }
            let mut field = String::new();
            rest.remove(0);
            loop {
                let Some((before, after)) = rest.split_once('"').map(|(b, a)| (b.to_owned(), a.to_owned())) else {
                    // The field goes on in the next line.
                    field.push_str(&rest);
                    field.push('\n');
                    let Some((_, next)) = lines.next() else {
                        return Err(wrong(number, "extraneous or missing \" in quoted-field"));
                    };
                    rest = next.trim_end_matches('\n').trim_end_matches('\r').to_owned();
                    continue;
                };
                field.push_str(&before);
                match after.chars().next() {
                    Some('"') => {
                        field.push('"');
                        rest = after[1..].to_owned();
                    }
                    Some(',') => {
                        row.push(field);
                        rest = after[1..].to_owned();
                        continue 'fields;
                    }
                    None => {
                        row.push(field);
                        break 'fields;
                    }
                    Some(_) => return Err(wrong(number, "extraneous or missing \" in quoted-field")),
                }
            }
        }
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            return Err(wrong(number, "wrong number of fields"));
        }
        rows.push(row);
    }
    Ok(rows)
}
