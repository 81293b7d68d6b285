//! The JSON that an encrypted state or plan is kept in, as OpenTofu writes and reads it.
//!
//! A state has `serial` and `lineage` first; then `meta` (what key providers need to find a key again, by name),
//! `encrypted_data` and `encryption_version`. All bytes are base64. Readers take what Go's decoder takes: any order, any
//! letter case, further fields, fields that are there twice.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use terrane_value::json_error::syntax_error;

/// The version of the format.
pub const VERSION: &str = "v0";

/// What key providers keep, by the name under which they keep it.
pub type Meta = BTreeMap<String, Vec<u8>>;

/// What is kept, with its data still encrypted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Payload {
    pub meta: Meta,
    pub data: Vec<u8>,
    /// Empty: this is no payload.
    pub version: String,
}

/// What stands outside of the encrypted part of a state, and inside again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    pub serial: Option<i64>,
    pub lineage: String,
}

/// True for content that is an encrypted payload, of whichever version.
pub fn is_sealed(content: &[u8]) -> bool {
    read(content).is_ok_and(|payload| !payload.version.is_empty())
}

/// Why content is not that of a payload or a state, as Go's decoder says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadError {
    /// It is not JSON: what is wrong, and where.
    Syntax(String),
    /// It is JSON of this kind, not an object.
    NotAnObject(&'static str),
    /// A field has a value of another type than `ty`.
    Field {
        found: String,
        field: &'static str,
        ty: &'static str,
    },
    Base64(Base64Error),
}

impl PayloadError {
    fn field(found: &str, field: &'static str, ty: &'static str) -> PayloadError {
        PayloadError::Field { found: found.to_owned(), field, ty }
    }
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PayloadError::Syntax(why) => f.write_str(why),
            PayloadError::NotAnObject(kind) => {
                write!(f, "json: cannot unmarshal {kind} into Go value of type encryption.basedata")
            }
            PayloadError::Field { found, field, ty } => {
                write!(f, "json: cannot unmarshal {found} into Go struct field {field} of type {ty}")
            }
            PayloadError::Base64(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PayloadError {}

impl From<Base64Error> for PayloadError {
    fn from(error: Base64Error) -> PayloadError {
        PayloadError::Base64(error)
    }
}

/// A text that is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base64Error {
    /// The place of the first byte that does not belong there, line breaks not counted.
    place: usize,
}

impl fmt::Display for Base64Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "illegal base64 data at input byte {}", self.place)
    }
}

impl std::error::Error for Base64Error {}

/// Reads a payload; JSON of another kind is one without a version.
pub fn read(content: &[u8]) -> Result<Payload, PayloadError> {
    let mut fields = Fields::default();
    visit(content, &mut |name, value| fields.take(name, value))?;
    fields.decoded()
}

/// Serial and lineage of a state, encrypted or not.
pub fn outside(content: &[u8]) -> Result<Outside, PayloadError> {
    let mut found = Outside::default();
    visit(content, &mut |name, value| {
        match (name, json(name, value)) {
            ("serial" | "lineage", Json::Null) => {}
            ("serial", Json::Number(number)) => {
                let whole = number.as_i64();
                found.serial = Some(
                    whole.ok_or_else(|| PayloadError::field(&format!("number {number}"), "statedata.serial", "int"))?,
                );
            }
            ("serial", other) => return Err(PayloadError::field(kind_of(&other), "statedata.serial", "int")),
            ("lineage", Json::String(text)) => found.lineage = text,
            ("lineage", other) => return Err(PayloadError::field(kind_of(&other), "statedata.lineage", "string")),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

/// The value of `terraform_version`, by which a state is recognised that is not encrypted.
pub fn written_by(content: &[u8]) -> Result<String, PayloadError> {
    let mut found = String::new();
    visit(content, &mut |name, value| match (name, json(name, value)) {
        ("terraform_version", Json::String(text)) => {
            found = text;
            Ok(())
        }
        ("terraform_version", Json::Null) => Ok(()),
        ("terraform_version", other) => Err(PayloadError::field(kind_of(&other), ".terraform_version", "string")),
        _ => Ok(()),
    })?;
    Ok(found)
}

/// Writes a payload: for a state with what stands outside, indented as files for people are, with a line ending.
pub fn write(outside: Option<&Outside>, meta: &Meta, data: &[u8], indented: bool) -> Vec<u8> {
    let (gap, colon, end): (&[u8], &[u8], &[u8]) =
        if indented { (b"\n  ", b": ", b"\n}\n") } else { (b"", b":", b"}") };
    let mut out = Vec::with_capacity(data.len().div_ceil(3) * 4 + 512);
    let mut first = true;
    let mut name = |out: &mut Vec<u8>, name: &str| {
        out.extend_from_slice(if std::mem::take(&mut first) { b"{" } else { b"," });
        out.extend_from_slice(gap);
        string(out, name);
        out.extend_from_slice(colon);
    };
    if let Some(outside) = outside {
        name(&mut out, "serial");
        out.extend_from_slice(outside.serial.map_or("null".into(), |serial| serial.to_string()).as_bytes());
        name(&mut out, "lineage");
        string(&mut out, &outside.lineage);
    }
    name(&mut out, "meta");
    write_meta(&mut out, meta, indented);
    name(&mut out, "encrypted_data");
    bytes(&mut out, data);
    name(&mut out, "encryption_version");
    string(&mut out, VERSION);
    out.extend_from_slice(end);
    out
}

fn write_meta(out: &mut Vec<u8>, meta: &Meta, indented: bool) {
    out.push(b'{');
    for (i, (key, value)) in meta.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b"," } else { b"" });
        out.extend_from_slice(if indented { b"\n    " } else { b"" });
        string(out, key);
        out.extend_from_slice(if indented { b": " } else { b":" });
        bytes(out, value);
    }
    if indented && !meta.is_empty() {
        out.extend_from_slice(b"\n  ");
    }
    out.push(b'}');
}

/// Base64 straight into the output: data may be large.
fn bytes(out: &mut Vec<u8>, data: &[u8]) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + data.len().div_ceil(3) * 4, 0);
    // The room is what the encoding takes.
    let written = STANDARD.encode_slice(data, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
    out.push(b'"');
}

/// A JSON string as Go writes it: safe within HTML.
pub fn string(out: &mut Vec<u8>, text: &str) {
    let plain = serde_json::to_string(text).unwrap_or_default();
    for c in plain.chars() {
        match c {
            '<' => out.extend_from_slice(b"\\u003c"),
            '>' => out.extend_from_slice(b"\\u003e"),
            '&' => out.extend_from_slice(b"\\u0026"),
            '\u{2028}' => out.extend_from_slice(b"\\u2028"),
            '\u{2029}' => out.extend_from_slice(b"\\u2029"),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// The value of a small field; data, which may be large, is not looked at here.
fn json(name: &str, value: &RawValue) -> Json {
    match name {
        DATA => Json::Null,
        _ => serde_json::from_str(value.get()).unwrap_or_default(),
    }
}

#[derive(Default)]
struct Fields<'c> {
    meta: BTreeMap<String, String>,
    data: Cow<'c, str>,
    version: String,
}

impl<'c> Fields<'c> {
    fn take(&mut self, name: &str, value: &'c RawValue) -> Result<(), PayloadError> {
        const TYPE: &str = "encryption.keyProviderMetamap";
        match (name, json(name, value)) {
            (DATA, _) => match value.get().strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(text) if !text.contains('\\') => self.data = text.into(),
                Some(_) => self.data = serde_json::from_str::<String>(value.get()).unwrap_or_default().into(),
                None if value.get() == "null" => {}
                None => {
                    let found = serde_json::from_str(value.get()).unwrap_or_default();
                    return Err(PayloadError::field(kind_of(&found), "basedata.encrypted_data", "[]uint8"));
                }
            },
            ("meta" | "encryption_version", Json::Null) => {}
            ("meta", Json::Object(entries)) => {
                for (key, value) in entries {
                    match value {
                        Json::Null => self.meta.insert(key, String::new()),
                        Json::String(text) => self.meta.insert(key, text),
                        other => return Err(PayloadError::field(kind_of(&other), "basedata.meta", "[]uint8")),
                    };
                }
            }
            ("meta", other) => return Err(PayloadError::field(kind_of(&other), "basedata.meta", TYPE)),
            ("encryption_version", Json::String(text)) => self.version = text,
            ("encryption_version", other) => {
                return Err(PayloadError::field(kind_of(&other), "basedata.encryption_version", "string"));
            }
            _ => {}
        }
        Ok(())
    }

    fn decoded(self) -> Result<Payload, PayloadError> {
        let meta = self.meta.into_iter().map(|(key, text)| Ok((key, from_base64(&text)?)));
        let meta = meta.collect::<Result<Meta, Base64Error>>()?;
        Ok(Payload { meta, data: from_base64(&self.data)?, version: self.version })
    }
}

/// Decodes base64. Line breaks are ignored, as in Go.
pub fn from_base64(text: &str) -> Result<Vec<u8>, Base64Error> {
    let bare: Cow<'_, str> = match text.contains(['\n', '\r']) {
        true => text.replace(['\n', '\r'], "").into(),
        false => text.into(),
    };
    STANDARD.decode(&*bare).map_err(|error| {
        let place = match error {
            base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => at,
            base64::DecodeError::InvalidLength(at) => at,
            base64::DecodeError::InvalidPadding => bare.len(),
        };
        Base64Error { place }
    })
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The fields whose values `visit` returns; all others are skipped without being kept in memory.
const DATA: &str = "encrypted_data";
const FIELDS: [&str; 6] = ["meta", DATA, "encryption_version", "serial", "lineage", "terraform_version"];

/// Calls `found` with each known field of an object, by its name in small letters. The first error is kept while the rest is
/// read, for what is no JSON at all is said before anything else.
fn visit<'c>(
    content: &'c [u8],
    found: &mut dyn FnMut(&str, &'c RawValue) -> Result<(), PayloadError>,
) -> Result<(), PayloadError> {
    let mut problem = Ok(());
    let mut deserializer = serde_json::Deserializer::from_slice(content);
    let known = KnownFields(&mut |name, value| {
        if problem.is_ok() {
            problem = found(name, value);
        }
    });
    let read = deserializer.deserialize_any(known).and_then(|kind| deserializer.end().map(|()| kind));
    match read {
        Err(error) => Err(PayloadError::Syntax(syntax_error(content, &error))),
        Ok(Some(kind)) => Err(PayloadError::NotAnObject(kind)),
        Ok(None) => problem,
    }
}

struct KnownFields<'f, 'c>(&'f mut dyn FnMut(&str, &'c RawValue));

/// What numbers look like to visitors.
const NUMBER: &str = "$serde_json::private::number";

/// The name of the kind of JSON where it is not an object.
impl<'c> Visitor<'c> for KnownFields<'_, 'c> {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'c>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(name) = map.next_key::<Cow<'c, str>>()? {
            let name = name.to_ascii_lowercase();
            if name == NUMBER {
                map.next_value::<IgnoredAny>()?;
                return Ok(Some("number"));
            }
            if FIELDS.contains(&&*name) {
                (self.0)(&name, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(None)
    }

    fn visit_seq<A: de::SeqAccess<'c>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some("array"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Some("bool"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Some("string"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Some("number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Some("number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Some("number"))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
