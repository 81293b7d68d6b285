//! Functions that change the encoding of text: base64, JSON, CSV, URLs, character sets.

use std::io::{Read as _, Write as _};

use base::name::PROGRAM;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotext::deflate::Gzip;
use terrane_value::unknown::safe_prefix;
use terrane_value::{Refinement, Type, Value, json};

use super::builtin::{
    Allow, Builtin, Outcome, TypeOutcome, any, fail, fail_argument, quoted, quoted_argument, string, text,
};
use super::charset::{self, Charset};
use super::signature::{CallContext, FunctionError};
use super::{base64_text, csv, json_text};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new("base64decode", vec![string("str").unknown().marked()], s.clone(), base64_decode)
            .doc("The text that a base64 string stands for."),
        Builtin::new("base64encode", vec![string("str")], s.clone(), |a, _| {
            Ok(Value::string(STANDARD.encode(text(a, 0))))
        })
        .doc("The base64 form of a text."),
        Builtin::new("base64gzip", vec![string("str")], s.clone(), base64_gzip)
            .doc("The base64 form of a text compressed with gzip."),
        Builtin::new("base64gunzip", vec![string("str").unknown().marked()], s.clone(), base64_gunzip)
            .doc("The text that was compressed with gzip and written in base64."),
        Builtin::new("textencodebase64", vec![string("string"), string("encoding")], s.clone(), text_encode)
            .doc("The base64 form of a text in a character encoding."),
        Builtin::new("textdecodebase64", vec![string("source"), string("encoding")], s.clone(), text_decode)
            .doc("The text that a base64 string in a character encoding stands for."),
        Builtin::new("urlencode", vec![string("str")], s.clone(), |a, _| Ok(Value::string(url_encode(text(a, 0)))))
            .doc("The text as it stands in a URL's query."),
        Builtin::new("urldecode", vec![string("str")], s.clone(), url_decode)
            .doc("The text that stands in a URL's query."),
        Builtin::new("jsonencode", vec![any("val").null().unknown().dynamic()], s, json_encode)
            .doc("The JSON form of a value."),
        Builtin::new("jsondecode", vec![string("str")], Type::Dynamic, json_decode)
            .typed(json_type)
            .may_be_null()
            .doc("The value that a JSON text stands for."),
        Builtin::new("csvdecode", vec![string("str")], Type::Dynamic, csv::decode)
            .typed(|_| Ok(Type::Dynamic))
            .doc("The rows of a CSV text as objects, with attributes named by its first row."),
    ]
}

/// The type that a JSON text with this beginning has if it is one at all.
fn json_type(a: &[Value]) -> TypeOutcome {
    let known = a[0].refinement().and_then(|facts| facts.string_prefix.as_deref()).unwrap_or_default();
    match known.trim_start().chars().next() {
        None | Some('{' | '[' | 'n') => Ok(Type::Dynamic),
        Some('"') => Ok(Type::String),
        Some('t' | 'f') => Ok(Type::Bool),
        Some('-' | '0'..='9') => Ok(Type::Number),
        Some(other) => fail_argument(0, format!("a JSON document cannot begin with the character '{other}'")),
    }
}

fn base64_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if !a[0].is_known() {
        return Ok(Value::unknown(Type::String).mark(a[0].marks()));
    }
    let Ok(bytes) = base64_text::decode(text(a, 0)) else {
        return fail(format!("failed to decode base64 data {}", quoted_argument(&a[0])));
    };
    match String::from_utf8(bytes) {
        Ok(decoded) => Ok(Value::string(decoded).mark(a[0].marks())),
        Err(_) => fail("the result of decoding the provided string is not valid UTF-8"),
    }
}

/// The opposite of `base64_gzip`.
fn base64_gunzip(a: &[Value], _: &CallContext<'_>) -> Outcome {
    // A few bytes can stand for more text than there is memory.
    const MOST_BYTES: u64 = 256 << 20;
    if !a[0].is_known() {
        return Ok(Value::unknown(Type::String).mark(a[0].marks()));
    }
    let Ok(bytes) = base64_text::decode(text(a, 0)) else {
        return fail(format!("failed to decode base64 data {}", quoted_argument(&a[0])));
    };
    let reader = flate2::read::MultiGzDecoder::new(bytes.as_slice());
    if reader.header().is_none() {
        let why = if bytes.len() < 10 { "unexpected EOF" } else { "gzip: invalid header" };
        return fail(format!("failed to gunzip bytes: {}", if bytes.is_empty() { "EOF" } else { why }));
    }
    let mut plain = Vec::new();
    if let Err(e) = reader.take(MOST_BYTES + 1).read_to_end(&mut plain) {
        let why = match e.kind() {
            std::io::ErrorKind::UnexpectedEof => "unexpected EOF".to_owned(),
            _ if e.to_string().contains("checksum") => "gzip: invalid checksum".to_owned(),
            _ => e.to_string(),
        };
        return fail(format!("failed to read gunzip raw data: {why}"));
    }
    if plain.len() as u64 > MOST_BYTES {
        return fail("failed to read gunzip raw data: the text is too large");
    }
    match String::from_utf8(plain) {
        Ok(decoded) => Ok(Value::string(decoded).mark(a[0].marks())),
        Err(_) => fail("the result of decompressing the provided string is not valid UTF-8"),
    }
}

fn url_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let source = text(a, 0).as_bytes();
    let mut out = Vec::with_capacity(source.len());
    let mut at = 0;
    while let Some(b) = source.get(at) {
        let pair = source.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match (b, pair.filter(|p| p.bytes().all(|b| b.is_ascii_hexdigit()))) {
            (b'%', Some(digits)) => {
                out.push(u8::from_str_radix(digits, 16).unwrap_or_default());
                at += 2;
            }
            (b'%', None) => {
                let wrong = String::from_utf8_lossy(&source[at..source.len().min(at + 3)]);
                return fail(format!("failed to decode URL '': invalid URL escape {}", quoted(&wrong)));
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(*b),
        }
        at += 1;
    }
    match String::from_utf8(out) {
        Ok(decoded) => Ok(Value::string(decoded)),
        Err(_) => fail("the result of decoding the provided string is not valid UTF-8"),
    }
}

fn base64_gzip(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let source = text(a, 0).as_bytes();
    let failed = |e: std::io::Error| FunctionError::new(format!("failed to write gzip raw data: {e}"));
    let compress = || {
        let mut gzip = Gzip::new(Vec::new())?;
        gzip.write_all(source)?;
        gzip.flush()?;
        gzip.finish()
    };
    Ok(Value::string(STANDARD.encode(compress().map_err(failed)?)))
}

fn known_charset(a: &[Value]) -> Result<&'static Charset, FunctionError> {
    let name = text(a, 1);
    charset::find(name).ok_or_else(|| {
        let message =
            format!("{} is not a supported IANA encoding name or alias in this {PROGRAM} version", quoted(name));
        FunctionError::argument(1, message)
    })
}

fn text_encode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let set = known_charset(a)?;
    match set.encode(text(a, 0)) {
        Some(bytes) => Ok(Value::string(STANDARD.encode(bytes))),
        None => {
            fail_argument(0, format!("the given string contains characters that cannot be represented in {}", set.name))
        }
    }
}

fn text_decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let set = known_charset(a)?;
    let bytes = base64_text::decode(text(a, 0)).map_err(|offset| {
        FunctionError::argument(0, format!("the given value is has an invalid base64 symbol at offset {offset}"))
    })?;
    match set.decode(&bytes) {
        Some(decoded) => Ok(Value::string(decoded)),
        None => fail_argument(0, format!("the given string contains symbols that are not defined for {}", set.name)),
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
    json_text::decode(text(a, 0)).map_err(|why| FunctionError::new(why.to_string()))
}
