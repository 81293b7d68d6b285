//! Values to MessagePack.

use std::sync::Arc;

use rmp::encode as enc;

use super::{PLAIN_UNKNOWN, REFINED_UNKNOWN, fact};
use crate::unknown::safe_prefix;
use crate::{Number, Type, Value};

/// A written value: bytes, and the long texts that belong between them.
#[derive(Debug)]
pub struct Pieces {
    pub bytes: Vec<u8>,
    /// In order, each with the position in `bytes` that it stands before.
    pub texts: Vec<(usize, Arc<str>)>,
    /// The length in bytes from which a text is long.
    long: usize,
}

impl Pieces {
    pub(super) fn new(long: usize) -> Pieces {
        Pieces { bytes: Vec::with_capacity(256), texts: Vec::new(), long }
    }
}

// Writing to a `Vec` cannot fail, so the results of the low-level writers say nothing.
pub(super) fn write(value: &Value, ty: &Type, out: &mut Pieces) {
    if ty.is_dynamic() && !(value.ty().is_dynamic()) {
        let _ = enc::write_array_len(&mut out.bytes, 2);
        let _ = enc::write_bin(&mut out.bytes, &value.ty().to_json_bytes());
        return write(value, value.ty(), out);
    }
    if !value.is_known() {
        return write_unknown(value, &mut out.bytes);
    }
    if value.is_null() {
        let _ = enc::write_nil(&mut out.bytes);
    } else if let Some(text) = value.as_str() {
        write_text(value, text, out);
    } else if let Some(b) = value.as_bool() {
        let _ = enc::write_bool(&mut out.bytes, b);
    } else if let Some(n) = value.as_number() {
        write_number(n, &mut out.bytes);
    } else {
        write_compound(value, ty, out);
    }
}

fn write_text(value: &Value, text: &str, out: &mut Pieces) {
    match value.as_arc_str().filter(|_| text.len() >= out.long) {
        Some(text) => {
            let _ = enc::write_str_len(&mut out.bytes, text.len() as u32);
            out.texts.push((out.bytes.len(), text));
        }
        None => drop(enc::write_str(&mut out.bytes, text)),
    }
}

/// An integer of 64 bits with a sign, a fraction that a float holds exactly, or the digits as text: integers beyond 64
/// bits are never floats. Observed on cty 1.16.
fn write_number(n: &Number, out: &mut Vec<u8>) {
    if let Some(v) = n.as_i64() {
        let _ = enc::write_sint(out, v);
    } else if let Some(f) = n.as_exact_f64().filter(|_| !n.is_integer()) {
        let _ = enc::write_f64(out, f);
    } else {
        let _ = enc::write_str(out, &n.to_string());
    }
}

fn write_compound(value: &Value, ty: &Type, out: &mut Pieces) {
    match ty {
        Type::List(t) | Type::Set(t) => {
            let _ = enc::write_array_len(&mut out.bytes, value.len() as u32);
            value.elements().iter().for_each(|v| write(v, t, out));
        }
        Type::Tuple(types) => {
            let _ = enc::write_array_len(&mut out.bytes, value.len() as u32);
            value.elements().iter().zip(types.iter()).for_each(|(v, t)| write(v, t, out));
        }
        Type::Map(t) => {
            let _ = enc::write_map_len(&mut out.bytes, value.len() as u32);
            for (key, v) in value.entries() {
                let _ = enc::write_str(&mut out.bytes, key);
                write(v, t, out);
            }
        }
        Type::Object(object) => {
            let entries = value.entries();
            let _ = enc::write_map_len(&mut out.bytes, object.attributes.len() as u32);
            for (name, t) in &object.attributes {
                let _ = enc::write_str(&mut out.bytes, name);
                match entries.get(name) {
                    Some(v) => write(v, t, out),
                    None => drop(enc::write_nil(&mut out.bytes)),
                }
            }
        }
        _ => drop(enc::write_nil(&mut out.bytes)),
    }
}

fn write_unknown(value: &Value, out: &mut Vec<u8>) {
    let Some(facts) = value.refinement().filter(|f| !f.is_empty()) else {
        let _ = enc::write_ext_meta(out, 1, PLAIN_UNKNOWN);
        return out.push(0);
    };
    let mut body = Vec::new();
    let mut count = 0;
    let key = |body: &mut Vec<u8>, count: &mut u32, key: i64| {
        *count += 1;
        let _ = enc::write_sint(body, key);
    };
    if facts.not_null {
        key(&mut body, &mut count, fact::IS_NULL);
        let _ = enc::write_bool(&mut body, false);
    }
    if let Some(prefix) = &facts.string_prefix {
        key(&mut body, &mut count, fact::STRING_PREFIX);
        let _ = enc::write_str(&mut body, shortened(prefix));
    }
    for (k, bound) in [(fact::NUMBER_MIN, &facts.number_min), (fact::NUMBER_MAX, &facts.number_max)] {
        if let Some((n, inclusive)) = bound {
            key(&mut body, &mut count, k);
            let _ = enc::write_array_len(&mut body, 2);
            write_number(n, &mut body);
            let _ = enc::write_bool(&mut body, *inclusive);
        }
    }
    if facts.length_min > 0 {
        key(&mut body, &mut count, fact::LENGTH_MIN);
        let _ = enc::write_sint(&mut body, facts.length_min as i64);
    }
    if let Some(max) = facts.length_max.filter(|max| *max < i64::MAX as u64) {
        key(&mut body, &mut count, fact::LENGTH_MAX);
        let _ = enc::write_sint(&mut body, max as i64);
    }
    let mut content = Vec::with_capacity(body.len() + 1);
    let _ = enc::write_map_len(&mut content, count);
    content.extend(body);
    let _ = enc::write_ext_meta(out, content.len() as u32, REFINED_UNKNOWN);
    out.extend(content);
}

/// Longer prefixes are not worth their bytes; the reference cuts them the same way.
fn shortened(prefix: &str) -> &str {
    const LONGEST: usize = 256;
    if prefix.len() <= LONGEST {
        return prefix;
    }
    let end = (0..LONGEST).rev().find(|i| prefix.is_char_boundary(*i)).unwrap_or(0);
    safe_prefix(&prefix[..end])
}
