//! Values as MessagePack, the way providers exchange them.
//!
//! Owns both directions. Unknown values are extensions: type 0 for a plain one, 12 for one with refinements; any other
//! extension of at most one byte reads as a plain unknown, as the reference's readers do. Where the type is `Dynamic`, an
//! array of two holds the type (as JSON) and the value. Marks cannot be written: remove them first.

mod untyped;
mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use num_traits::ToPrimitive;
use rmp::Marker;
use rmp::decode::{self as dec, Bytes};
pub use untyped::{primitive, to_json};
pub use write::Pieces;
use write::write;

use super::text::lossy_text;
use super::{Number, ObjectType, PathStep, Refinement, Type, Value};

/// Levels of arrays and maps within a value whose type is not wholly known; types in JSON nest no deeper either.
const DEEPEST: usize = 256;
/// The length in bytes from which texts are shared rather than copied.
pub const LONG_TEXT: usize = 64 << 10;
const PLAIN_UNKNOWN: i8 = 0;
const REFINED_UNKNOWN: i8 = 12;

/// Why bytes are not a value of the type. Shown with the place: `["tags"]["k"]: string is required`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MsgpackError {
    message: String,
    /// From the inside outwards.
    steps: Vec<PathStep>,
}

impl MsgpackError {
    fn new(message: impl Into<String>) -> MsgpackError {
        MsgpackError { message: message.into(), steps: Vec::new() }
    }

    fn within(mut self, key: Value) -> MsgpackError {
        self.steps.push(PathStep::Index(key));
        self
    }
}

impl fmt::Display for MsgpackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().rev().try_for_each(|step| step.fmt(f))?;
        let separator = if self.steps.is_empty() { "" } else { ": " };
        write!(f, "{separator}{}", self.message)
    }
}

impl std::error::Error for MsgpackError {}

type Result<T> = std::result::Result<T, MsgpackError>;

fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(MsgpackError::new(message))
}

/// Writes a value that conforms to the type. Marks are ignored.
pub fn encode(value: &Value, ty: &Type) -> Vec<u8> {
    let mut out = Pieces::new(usize::MAX);
    write(value, ty, &mut out);
    out.bytes
}

/// As `encode`; texts from [`LONG_TEXT`] on are not copied.
pub fn encode_in_pieces(value: &Value, ty: &Type) -> Pieces {
    let mut out = Pieces::new(LONG_TEXT);
    write(value, ty, &mut out);
    out
}

/// Adds the long texts of a value.
pub fn long_texts(value: &Value, texts: &mut HashSet<Arc<str>>) {
    match value.as_arc_str() {
        Some(text) if text.len() >= LONG_TEXT => {
            texts.insert(text);
        }
        _ => {
            value.elements().iter().for_each(|element| long_texts(element, texts));
            value.entries().values().for_each(|entry| long_texts(entry, texts));
        }
    }
}

/// Reads one value of the type; anything after it is an error.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value> {
    decode_sharing(bytes, ty, HashSet::new())
}

/// As `decode`; long texts that are known already, or come more than once, are not copied.
pub fn decode_sharing(bytes: &[u8], ty: &Type, known: HashSet<Arc<str>>) -> Result<Value> {
    if ty.has_dynamic() && nests_deeper_than(bytes, DEEPEST) {
        return fail(format!("nested more than {DEEPEST} levels deep"));
    }
    let mut input = Input { bytes: Bytes::new(bytes), long_texts: known };
    let value = read(&mut input, ty)?;
    if input.bytes.remaining_slice().is_empty() { Ok(value) } else { fail("extra bytes after msgpack value") }
}

/// Keys of the map inside a refined unknown.
mod fact {
    pub const IS_NULL: i64 = 1;
    pub const STRING_PREFIX: i64 = 2;
    pub const NUMBER_MIN: i64 = 3;
    pub const NUMBER_MAX: i64 = 4;
    pub const LENGTH_MIN: i64 = 5;
    pub const LENGTH_MAX: i64 = 6;
}

/// What is read, and the long texts that values can share. They come from outside, so their hashes are not to be guessed.
struct Input<'a> {
    bytes: Bytes<'a>,
    long_texts: HashSet<Arc<str>>,
}

impl Input<'_> {
    fn text(&mut self, marker: Marker) -> Result<Value> {
        let text = read_text(&mut self.bytes, marker)?;
        if text.len() < LONG_TEXT {
            return Ok(Value::string(text));
        }
        if let Some(known) = self.long_texts.get(&*text) {
            return Ok(Value::shared_string(known.clone()));
        }
        let value = Value::string(text);
        self.long_texts.extend(value.as_arc_str());
        Ok(value)
    }
}

fn marker(input: &Bytes<'_>) -> Result<Marker> {
    match input.remaining_slice().first() {
        Some(byte) => Ok(Marker::from_u8(*byte)),
        None => fail("unexpected end of msgpack value"),
    }
}

fn broken<E: fmt::Debug>(e: E) -> MsgpackError {
    MsgpackError::new(format!("malformed msgpack: {e:?}"))
}

fn is_extension(marker: Marker) -> bool {
    matches!(
        marker,
        Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32
    )
}

fn read(input: &mut Input<'_>, ty: &Type) -> Result<Value> {
    let marker = marker(&input.bytes)?;
    if is_extension(marker) {
        return read_unknown(&mut input.bytes, ty);
    }
    if ty.is_dynamic() {
        return read_dynamic(input, marker);
    }
    if marker == Marker::Null {
        dec::read_nil(&mut input.bytes).map_err(broken)?;
        return Ok(Value::null(ty.clone()));
    }
    match ty {
        Type::String => input.text(marker),
        Type::Bool => match dec::read_bool(&mut input.bytes) {
            Ok(b) => Ok(Value::bool(b)),
            Err(_) => fail("bool is required"),
        },
        Type::Number => Ok(Value::number(read_number(&mut input.bytes, marker)?)),
        Type::List(t) => {
            let elements = read_elements(input, t, "a list is required")?;
            Ok(Value::list(element_type(t, elements.iter()), elements))
        }
        Type::Set(t) => {
            let elements = read_elements(input, t, "a set is required")?;
            Ok(Value::set(element_type(t, elements.iter()), elements))
        }
        Type::Tuple(types) => {
            let length = array_length(&mut input.bytes, "a tuple is required")?;
            if length != types.len() {
                return fail(format!("a tuple of length {} is required", types.len()));
            }
            let element = |(i, t): (usize, &Type)| read(input, t).map_err(|e| e.within(Value::int(i as i64)));
            let elements: Result<Vec<Value>> = types.iter().enumerate().map(element).collect();
            Ok(Value::tuple(elements?))
        }
        Type::Map(t) => {
            let length = map_length(&mut input.bytes, "a map is required")?;
            let mut entries = BTreeMap::new();
            for _ in 0..length {
                let key = read_key(&mut input.bytes)?;
                let value = read(input, t).map_err(|e| e.within(Value::string(&*key)))?;
                entries.insert(Arc::from(key), value);
            }
            Ok(Value::map(element_type(t, entries.values()), entries))
        }
        Type::Object(object) => read_object(input, ty, object),
        Type::Dynamic => fail("unexpected dynamic type"),
    }
}

/// The type of a collection's elements: where the wanted type leaves it open, what the elements have.
fn element_type<'v>(wanted: &Type, mut elements: impl Iterator<Item = &'v Value>) -> Type {
    if !wanted.has_dynamic() {
        return wanted.clone();
    }
    elements.find(|element| !element.ty().is_dynamic()).map_or_else(|| wanted.clone(), |element| element.ty().clone())
}

fn read_elements(input: &mut Input<'_>, ty: &Type, otherwise: &str) -> Result<Vec<Value>> {
    let length = array_length(&mut input.bytes, otherwise)?;
    // A length is only believed as far as there are bytes for it.
    let mut elements = Vec::with_capacity(length.min(input.bytes.remaining_slice().len()));
    for i in 0..length {
        elements.push(read(input, ty).map_err(|e| e.within(Value::int(i as i64)))?);
    }
    Ok(elements)
}

fn read_object(input: &mut Input<'_>, ty: &Type, object: &ObjectType) -> Result<Value> {
    let length = map_length(&mut input.bytes, "an object is required")?;
    if length != object.attributes.len() {
        return fail(format!("an object with {} attributes is required ({length} given)", object.attributes.len()));
    }
    let mut attributes = BTreeMap::new();
    for _ in 0..length {
        let key = read_key(&mut input.bytes)?;
        let Some((name, t)) = object.attributes.get_key_value(&*key) else {
            return Err(MsgpackError::new("unsupported attribute").within(Value::string(&*key)));
        };
        let value = read(input, t).map_err(|e| e.within(Value::shared_string(name.clone())))?;
        attributes.insert(name.clone(), value);
    }
    if attributes.len() != object.attributes.len() {
        return fail("duplicate attribute in object");
    }
    Ok(if ty.has_dynamic() || ty.has_optional() {
        Value::object(attributes)
    } else {
        Value::object_of(ty.clone(), attributes)
    })
}

fn array_length(input: &mut Bytes<'_>, otherwise: &str) -> Result<usize> {
    dec::read_array_len(input).map(|n| n as usize).or_else(|_| fail(otherwise))
}

fn map_length(input: &mut Bytes<'_>, otherwise: &str) -> Result<usize> {
    dec::read_map_len(input).map(|n| n as usize).or_else(|_| fail(otherwise))
}

fn take<'a>(input: &mut Bytes<'a>, length: usize) -> Result<&'a [u8]> {
    let rest = input.remaining_slice();
    let Some((taken, rest)) = rest.split_at_checked(length) else { return fail("unexpected end of msgpack value") };
    *input = Bytes::new(rest);
    Ok(taken)
}

fn read_key<'a>(input: &mut Bytes<'a>) -> Result<Cow<'a, str>> {
    let marker = marker(input)?;
    read_text(input, marker)
}

/// Text of providers is not always UTF-8: the reference keeps it, with U+FFFD for what is wrong.
fn read_text<'a>(input: &mut Bytes<'a>, marker: Marker) -> Result<Cow<'a, str>> {
    let length = match marker {
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => dec::read_str_len(input).map_err(broken)?,
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => dec::read_bin_len(input).map_err(broken)?,
        _ => return fail("string is required"),
    };
    take(input, length as usize).map(lossy_text)
}

/// Integers have 64 bits of precision, floats 53, texts 512.
fn read_number(input: &mut Bytes<'_>, marker: Marker) -> Result<Number> {
    match marker {
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            let text = read_text(input, marker)?;
            Number::parse(&text).map_or_else(|| fail("number is required"), Ok)
        }
        Marker::F64 => dec::read_f64(input).map(Number::from).map_err(broken),
        Marker::F32 => dec::read_f32(input).map(|f| Number::from(f64::from(f))).map_err(broken),
        Marker::U64 => dec::read_u64(input).map(Number::from).map_err(broken),
        _ => dec::read_int::<i64, _>(input).map(Number::from).or_else(|_| fail("number is required")),
    }
}

fn read_dynamic(input: &mut Input<'_>, marker: Marker) -> Result<Value> {
    if marker == Marker::Null {
        dec::read_nil(&mut input.bytes).map_err(broken)?;
        return Ok(Value::null_dynamic());
    }
    let length = array_length(&mut input.bytes, "a dynamic value is required")?;
    if length != 2 {
        return fail(format!("dynamic value array must have exactly two elements ({length} given)"));
    }
    let text = read_key(&mut input.bytes)?;
    let ty = Type::from_json_bytes(text.as_bytes()).map_err(|e| MsgpackError::new(format!("invalid type: {e}")))?;
    read(input, &ty)
}

fn read_unknown(input: &mut Bytes<'_>, ty: &Type) -> Result<Value> {
    const LONGEST: usize = 1024;
    let meta = dec::read_ext_meta(input).map_err(broken)?;
    let body = take(input, meta.size as usize)?;
    if body.len() <= 1 {
        return Ok(Value::unknown(ty.clone()));
    }
    if meta.typeid != REFINED_UNKNOWN {
        return fail(format!("unsupported extension type {:#04x} with len {}", meta.typeid, body.len()));
    }
    if body.len() > LONGEST {
        return fail("oversize unknown value refinement");
    }
    if ty.is_dynamic() {
        return Ok(Value::unknown(ty.clone()));
    }
    let mut body = Bytes::new(body);
    let (mut facts, mut is_null) = (Refinement::default(), false);
    for _ in 0..map_length(&mut body, "refinements are required")? {
        match dec::read_int::<i64, _>(&mut body).map_err(broken)? {
            fact::IS_NULL => {
                is_null = dec::read_bool(&mut body).map_err(broken)?;
                facts.not_null = !is_null;
            }
            key => read_fact(&mut body, key, ty, &mut facts)?,
        }
    }
    Ok(if is_null { Value::null(ty.clone()) } else { Value::unknown_refined(ty.clone(), facts) })
}

fn read_fact(body: &mut Bytes<'_>, key: i64, ty: &Type, facts: &mut Refinement) -> Result<()> {
    let refuse = |what: &str| fail(format!("{what} refinement for a value of type {}", ty.friendly_name()));
    match key {
        fact::STRING_PREFIX if *ty != Type::String => return refuse("string prefix"),
        fact::STRING_PREFIX => {
            facts.string_prefix = Some(read_key(body)?).filter(|p| !p.is_empty()).map(Arc::from);
        }
        fact::NUMBER_MIN | fact::NUMBER_MAX if *ty != Type::Number => return refuse("numeric bound"),
        fact::NUMBER_MIN | fact::NUMBER_MAX => {
            let length = array_length(body, "a number bound is required")?;
            if length != 2 {
                return fail("a number bound must have two elements");
            }
            let marker = marker(body)?;
            let bound = Some((read_number(body, marker)?, dec::read_bool(body).map_err(broken)?));
            if key == fact::NUMBER_MIN { facts.number_min = bound } else { facts.number_max = bound }
        }
        fact::LENGTH_MIN | fact::LENGTH_MAX if !ty.is_collection() => return refuse("length bound"),
        fact::LENGTH_MIN | fact::LENGTH_MAX => {
            let marker = marker(body)?;
            let n = read_number(body, marker)?.truncated().and_then(|n| n.to_u64()).unwrap_or(0);
            if key == fact::LENGTH_MIN { facts.length_min = n } else { facts.length_max = Some(n) }
        }
        // A fact from a newer writer: losing it is allowed.
        _ => skip(body)?,
    }
    Ok(())
}

fn skip(input: &mut Bytes<'_>) -> Result<()> {
    let mut left = 1;
    while left > 0 {
        left += skip_head(input)?;
        left -= 1;
    }
    Ok(())
}

/// Skips a scalar, or the head of an array or map. Returns the number of items that the array or map holds.
fn skip_head(input: &mut Bytes<'_>) -> Result<u64> {
    let marker = marker(input)?;
    match marker {
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
            return Ok(array_length(input, "a list is required")? as u64);
        }
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
            return Ok(2 * map_length(input, "a map is required")? as u64);
        }
        Marker::Null => dec::read_nil(input).map_err(broken)?,
        Marker::True | Marker::False => drop(dec::read_bool(input).map_err(broken)?),
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            let length = dec::read_str_len(input).map_err(broken)?;
            take(input, length as usize)?;
        }
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
            let length = dec::read_bin_len(input).map_err(broken)?;
            take(input, length as usize)?;
        }
        m if is_extension(m) => {
            let meta = dec::read_ext_meta(input).map_err(broken)?;
            take(input, meta.size as usize)?;
        }
        _ => drop(read_number(input, marker)?),
    }
    Ok(0)
}

/// Whether arrays and maps nest deeper than `most`, in bytes of any content. Reading recurses, and where a type is left
/// open only the bytes say how deep. Malformed bytes are left to the reader, which names the place.
fn nests_deeper_than(bytes: &[u8], most: usize) -> bool {
    let mut input = Bytes::new(bytes);
    let mut open = vec![1_u64];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        match skip_head(&mut input) {
            Ok(0) => {}
            Ok(_) if open.len() > most => return true,
            Ok(items) => open.push(items),
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_forms() {
        let cases: Vec<(Value, Type, &[u8])> = vec![
            (Value::unknown(Type::String), Type::String, &[0xd4, 0, 0]),
            (Value::unknown_not_null(Type::String), Type::String, &[0xc7, 3, 12, 0x81, 1, 0xc2]),
            (Value::int(-1), Type::Number, &[0xff]),
            (Value::number(0.5), Type::Number, &[0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]),
            (Value::number(Number::parse("0.1").unwrap()), Type::Number, &[0xa3, b'0', b'.', b'1']),
            (Value::number(0.1), Type::Number, &[0xcb, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (Value::int(i64::MAX), Type::Number, &[0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            (Value::int(i64::MIN), Type::Number, &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            (Value::number(9_223_372_036_854_775_808u64), Type::Number, b"\xb39223372036854775808"),
            (Value::number(Number::infinity(true)), Type::Number, &[0xcb, 0xff, 0xf0, 0, 0, 0, 0, 0, 0]),
            (Value::bool(true), Type::Dynamic, &[0x92, 0xc4, 6, b'"', b'b', b'o', b'o', b'l', b'"', 0xc3]),
            (Value::dynamic(), Type::Dynamic, &[0xd4, 0, 0]),
            (Value::null_dynamic(), Type::Dynamic, &[0xc0]),
            (
                Value::object([("a", Value::null(Type::Bool))]),
                Type::object([("a", Type::Bool)]),
                &[0x81, 0xa1, b'a', 0xc0],
            ),
        ];
        for (value, ty, bytes) in cases {
            assert_eq!(encode(&value, &ty), bytes, "{value:?}");
            assert_eq!(decode(bytes, &ty).unwrap(), value);
        }
        // Recorded from the reference: as many digits as tell a float from its neighbours, then zeros.
        assert_eq!(encode(&Value::number(18_446_744_073_709_551_616.0), &Type::Number), b"\xb418446744073709550000");
        let float: &[u8] = &[0xca, 0x3f, 0x9d, 0x70, 0xa4];
        assert_eq!(decode(float, &Type::Number).unwrap(), Value::number(f64::from(1.23f32)));
        assert_eq!(decode(&[0xd4, 77, 9], &Type::Bool).unwrap(), Value::unknown(Type::Bool));
        // Elements of dynamic type still have one common type.
        let numbers = Value::list(Type::Number, vec![Value::int(1)]);
        let open = Type::list(Type::Dynamic);
        assert_eq!(decode(&encode(&numbers, &open), &open).unwrap(), numbers);
        // Said to be null, which leaves nothing unknown.
        assert_eq!(decode(&[0xc7, 3, 12, 0x81, 1, 0xc3], &Type::Bool).unwrap(), Value::null(Type::Bool));
        for bad in [&[0xd5, 77, 9, 9][..], &[0xc7, 4, 12, 0x81, 2, 0xa1, b'a']] {
            assert!(decode(bad, &Type::Bool).is_err());
        }
        for bad in [&[0xdd, 0xff, 0xff, 0xff, 0xff][..], &[0xdb, 0xff, 0xff, 0xff, 0xff], &[], &[0x91], &[0xc0, 0xc0]] {
            assert!(decode(bad, &Type::list(Type::String)).is_err());
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_kept() {
        assert_eq!(decode(b"\xa3a\xffb", &Type::String).unwrap(), Value::string("a\u{fffd}b"));
        let map = decode(b"\x81\xa1\xff\xa1\xfe", &Type::map(Type::String)).unwrap();
        assert_eq!(map, Value::map(Type::String, [("\u{fffd}", Value::string("\u{fffd}"))]));
        let dynamic = decode(b"\x92\xc4\x08\"string\"\xa1\xff", &Type::Dynamic).unwrap();
        assert_eq!(dynamic, Value::string("\u{fffd}"));
    }

    #[test]
    fn errors_name_the_place() {
        let inner = Type::object([("a", Type::String), ("b", Type::Bool)]);
        let cases: Vec<(&[u8], Type, &str)> = vec![
            (b"\x01", Type::String, "string is required"),
            (b"\xa1x", Type::Number, "number is required"),
            (b"\xa1x", inner.clone(), "an object is required"),
            (b"\x81\xa1a\xa1x", inner.clone(), "an object with 2 attributes is required (1 given)"),
            (b"\x82\xa1a\xa1x\xa1b\x01", inner.clone(), "[\"b\"]: bool is required"),
            (b"\x82\xa1a\xa1x\xa1z\x01", inner.clone(), "[\"z\"]: unsupported attribute"),
            (b"\x92\xa1x\x01", Type::list(Type::String), "[1]: string is required"),
            (b"\x81\xa1k\x91\xc3", Type::map(Type::set(Type::String)), "[\"k\"][0]: string is required"),
        ];
        for (bytes, ty, expected) in cases {
            assert_eq!(decode(bytes, &ty).unwrap_err().to_string(), expected);
        }
    }

    /// Each level is an array of the type `dynamic` and a value of it.
    #[test]
    fn deep_values_are_refused() {
        let level = [&[0x92, 0xc4, 9][..], b"\"dynamic\""].concat();
        let nested = |levels: usize| [level.repeat(levels), vec![0xc0]].concat();
        assert!(decode(&nested(100), &Type::Dynamic).is_ok());
        let error = decode(&nested(100_000), &Type::Dynamic).unwrap_err();
        assert_eq!(error.to_string(), "nested more than 256 levels deep");
        let deep = [vec![0x91; 100_000], vec![0xc0]].concat();
        assert!(skip(&mut Bytes::new(&deep)).is_ok());
        // An unknown fact whose value is a text that is no number, before a known one.
        let facts: &[u8] = &[0xc7, 6, 12, 0x82, 0x63, 0xa1, b'x', 1, 0xc2];
        assert_eq!(decode(facts, &Type::String).unwrap(), Value::unknown_not_null(Type::String));
    }
}
