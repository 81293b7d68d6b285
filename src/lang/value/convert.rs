//! Conversion of values between types.
//!
//! Owns which conversions exist, what they give, and the messages for those that do not exist or fail. Never knows
//! its callers: they put the message and its path into a diagnostic.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::unify::unify_unsafe;
use super::{Number, ObjectType, Path, PathStep, Refinement, Type, Value};

/// Why a value does not convert, and at which nested value; the path is empty where the types alone forbid it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    pub path: Path,
    pub message: String,
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Converts a value to a type. Nulls, unknowns and marks stay. `Dynamic` within the type takes what is there; optional
/// attributes that are absent become null.
pub fn convert(value: &Value, want: &Type) -> Result<Value, ConvertError> {
    let mut path = Path::new();
    to(value, want, &mut path).map_err(|failure| match failure {
        Failure::AtValue(error) if conversion_exists(value.ty(), want, true) => error,
        _ => ConvertError { path: Path::new(), message: mismatch_message(value.ty(), want) },
    })
}

/// Whether a conversion exists by the types alone; with `unsafe_ok` also one that fails for some values.
pub fn conversion_exists(from: &Type, to: &Type, unsafe_ok: bool) -> bool {
    if to.is_dynamic() || from == to {
        return true;
    }
    match (from, to) {
        (Type::Dynamic, _) => unsafe_ok,
        (Type::Number | Type::Bool, Type::String) => true,
        (Type::String, Type::Number | Type::Bool) => unsafe_ok,
        (Type::Object(from), Type::Object(to)) => {
            to.attributes.iter().all(|(name, want)| match from.attributes.get(name) {
                Some(have) => conversion_exists(have, want, unsafe_ok),
                None => to.optional.contains(name),
            })
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(f, t)| conversion_exists(f, t, unsafe_ok))
        }
        (Type::List(from), Type::Set(to)) => unsafe_ok && conversion_exists(from, to, unsafe_ok),
        (Type::List(from) | Type::Set(from), Type::List(to))
        | (Type::Set(from), Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => conversion_exists(from, to, unsafe_ok),
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => all_exist(from.iter(), to, unsafe_ok),
        (Type::Object(from), Type::Map(to)) => all_exist(from.attributes.values(), to, unsafe_ok),
        (Type::Map(from), Type::Object(to)) => {
            unsafe_ok && to.attributes.values().all(|want| conversion_exists(from, want, unsafe_ok))
        }
        _ => false,
    }
}

fn all_exist<'t>(mut from: impl ExactSizeIterator<Item = &'t Type> + Clone, to: &Type, unsafe_ok: bool) -> bool {
    if !to.is_dynamic() {
        return from.all(|f| conversion_exists(f, to, unsafe_ok));
    }
    if from.len() == 0 {
        return true;
    }
    let types: Vec<Type> = from.cloned().collect();
    if unsafe_ok { unify_unsafe(&types) } else { super::unify::unify(&types) }.is_some()
}

enum Failure {
    /// The types do not allow it; the message is made from the outermost types.
    Types,
    AtValue(ConvertError),
}

fn at<T>(path: &Path, message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::AtValue(ConvertError { path: path.clone(), message: message.into() }))
}

fn to(value: &Value, want: &Type, path: &mut Path) -> Result<Value, Failure> {
    if want.is_dynamic() {
        return Ok(value.clone());
    }
    if !value.is_known() || value.is_null() {
        return absent(value, want);
    }
    if want.is_collection() && !value.is_known_tuple() && !value.is_known_object() && value.ty() == want {
        return Ok(value.clone());
    }
    let converted = match (want, value.as_str()) {
        (Type::String, Some(_)) => return Ok(value.clone()),
        (Type::Bool, Some(text)) => string_to_bool(text, path)?,
        (Type::Number, Some(text)) => match Number::parse(text) {
            Some(n) => Value::number(n),
            None => return at(path, "a number is required"),
        },
        (Type::String | Type::Bool | Type::Number, None) => primitive(value, want)?,
        // Where unknown elements may turn out equal, a list has no known length, but a set has its elements.
        (Type::List(element), _) if value.ty().is_set() && !value.length().is_known() => {
            sequence(value, element, path)?;
            Value::unknown(Type::list(fill_element(value.ty(), &element.without_optional_deep())))
        }
        (Type::List(element) | Type::Set(element), _) => sequence(value, element, path)?,
        (Type::Tuple(elements), _) => tuple(value, elements, path)?,
        (Type::Map(element), _) => map(value, element, path)?,
        (Type::Object(object), _) => self::object(value, want, object, path)?,
        (Type::Dynamic, _) => value.clone(),
    };
    let converted = match want {
        Type::Set(_) => {
            let element = converted.ty().element_type().cloned().unwrap_or(Type::Dynamic);
            Value::set(element, converted.elements().to_vec())
        }
        _ => converted,
    };
    Ok(converted.mark(value.marks()))
}

fn primitive(value: &Value, want: &Type) -> Result<Value, Failure> {
    if value.ty() == want {
        return Ok(value.clone());
    }
    match (want, value.as_number(), value.as_bool()) {
        (Type::String, Some(n), _) => Ok(Value::shared_string(Arc::from(n.to_string()))),
        (Type::String, _, Some(b)) => Ok(Value::string(if b { "true" } else { "false" })),
        _ => Err(Failure::Types),
    }
}

fn string_to_bool(text: &str, path: &Path) -> Result<Value, Failure> {
    match text {
        "true" | "1" => Ok(Value::bool(true)),
        "false" | "0" => Ok(Value::bool(false)),
        _ => match text.to_lowercase().as_str() {
            lower @ ("true" | "false") => {
                at(path, format!("a bool is required; to convert from string, use lowercase \"{lower}\""))
            }
            _ => at(path, "a bool is required"),
        },
    }
}

/// Null and unknown values take the type, as far as it says more than their own.
fn absent(value: &Value, want: &Type) -> Result<Value, Failure> {
    if value.ty() == want {
        return Ok(value.clone());
    }
    if !conversion_exists(value.ty(), want, true) {
        return Err(Failure::Types);
    }
    let ty = fill_dynamic(value.ty(), &want.without_optional_deep());
    if value.is_null() {
        return Ok(Value::null(ty).mark(value.marks()));
    }
    let facts = converted_facts(value, &ty);
    Ok(Value::unknown_refined(ty, facts).mark(value.marks()))
}

/// What stays known of an unknown value in another type.
fn converted_facts(value: &Value, ty: &Type) -> Refinement {
    let mut facts = Refinement { not_null: value.is_definitely_not_null(), ..Refinement::default() };
    if value.ty() == ty {
        return value.refinement().cloned().unwrap_or_default();
    }
    let old = value.refinement();
    let length = |n: usize| (n as u64, Some(n as u64));
    let bounds = match (value.ty(), ty) {
        (Type::Object(object), Type::Map(_)) => length(object.attributes.len()),
        (Type::Tuple(elements), Type::List(_)) => length(elements.len()),
        (Type::Tuple(elements), Type::Set(_)) => (elements.len().min(1) as u64, Some(elements.len() as u64)),
        (from, _) if from.is_collection() && ty.is_collection() => {
            let (min, max) = (old.map_or(0, |f| f.length_min), old.and_then(|f| f.length_max));
            (if ty.is_set() && !from.is_set() { min.min(1) } else { min }, max)
        }
        _ => return facts,
    };
    (facts.length_min, facts.length_max) = bounds;
    facts
}

/// The wanted type, with the value's own types where it says "any".
fn fill_dynamic(have: &Type, want: &Type) -> Type {
    if have.is_dynamic() || !want.has_dynamic() {
        return want.clone();
    }
    match (have, want) {
        (_, Type::Dynamic) => have.clone(),
        (Type::Object(h), Type::Object(w)) => Type::object(w.attributes.iter().map(|(name, want)| {
            let ty = h.attributes.get(name).map_or_else(|| want.clone(), |have| fill_dynamic(have, want));
            (name.clone(), ty)
        })),
        (Type::Map(h), Type::Object(w)) => {
            Type::object(w.attributes.iter().map(|(name, want)| (name.clone(), fill_dynamic(h, want))))
        }
        (Type::Tuple(h), Type::Tuple(w)) => Type::tuple(h.iter().zip(w.iter()).map(|(h, w)| fill_dynamic(h, w))),
        (_, Type::List(w)) => Type::list(fill_element(have, w)),
        (_, Type::Set(w)) => Type::set(fill_element(have, w)),
        (_, Type::Map(w)) => Type::map(fill_element(have, w)),
        _ => want.clone(),
    }
}

fn fill_element(have: &Type, want: &Type) -> Type {
    match have {
        Type::List(h) | Type::Set(h) | Type::Map(h) => fill_dynamic(h, want),
        Type::Tuple(elements) => unify_unsafe(elements).map_or_else(|| want.clone(), |h| fill_dynamic(&h, want)),
        Type::Object(object) => {
            let types: Vec<Type> = object.attributes.values().cloned().collect();
            unify_unsafe(&types).map_or_else(|| want.clone(), |h| fill_dynamic(&h, want))
        }
        _ => want.clone(),
    }
}

/// Converts each part. None if no part changed.
fn convert_parts<'v>(
    values: impl Iterator<Item = (&'v Value, PathStepOf<'v>)>,
    want: &Type,
    path: &mut Path,
) -> Result<Option<Vec<Value>>, Failure> {
    let mut changed = false;
    let mut converted = Vec::with_capacity(values.size_hint().0);
    for (value, step) in values {
        let part = part(value, step, want, path)?;
        changed = changed || part.ty() != value.ty();
        converted.push(part);
    }
    Ok(changed.then_some(converted))
}

/// A step that is only made when it is needed.
#[derive(Clone, Copy)]
enum PathStepOf<'v> {
    Index(usize),
    Key(&'v Arc<str>),
    Attr(&'v Arc<str>),
}

fn part(value: &Value, step: PathStepOf<'_>, want: &Type, path: &mut Path) -> Result<Value, Failure> {
    let simple = value.as_str().is_some() && want == &Type::String
        || value.as_number().is_some() && want == &Type::Number
        || value.as_bool().is_some() && want == &Type::Bool;
    if simple || want.is_dynamic() {
        return Ok(value.clone());
    }
    path.push(match step {
        PathStepOf::Index(i) => PathStep::Index(Value::int(i as i64)),
        PathStepOf::Key(key) => PathStep::Index(Value::shared_string(key.clone())),
        PathStepOf::Attr(name) => PathStep::Attr(name.clone()),
    });
    let result = to(value, want, path)?;
    path.pop();
    Ok(result)
}

/// The element type of converted parts: what was wanted, or what all parts have or can become where that left it open.
fn unified_element_type(parts: &mut [Value], want: &Type, path: &Path) -> Result<Type, Failure> {
    if !want.has_dynamic() {
        return Ok(want.without_optional_deep());
    }
    let Some(first) = parts.first() else { return Ok(want.without_optional_deep()) };
    if parts.iter().all(|v| v.ty() == first.ty()) {
        return Ok(first.ty().clone());
    }
    let types: Vec<Type> = parts.iter().map(|v| v.ty().clone()).collect();
    let Some(common) = unify_unsafe(&types) else {
        return if want.is_dynamic() {
            Err(Failure::Types)
        } else {
            at(path, "cannot find a common base type for all elements")
        };
    };
    for part in parts.iter_mut() {
        *part = to(part, &common, &mut path.clone())?;
    }
    Ok(common)
}

/// A list from a list, set or tuple.
fn sequence(value: &Value, element: &Type, path: &mut Path) -> Result<Value, Failure> {
    if value.as_str().is_some() || value.as_number().is_some() || value.as_bool().is_some() {
        return Err(Failure::Types);
    }
    if !value.is_known_tuple() {
        let Some(have) = value.ty().element_type().filter(|_| !value.ty().is_map()) else { return Err(Failure::Types) };
        if have == element || element.is_dynamic() {
            return Ok(Value::list(have.clone(), value.elements().to_vec()));
        }
        if !conversion_exists(have, element, true) {
            return Err(Failure::Types);
        }
        if value.is_empty() {
            return Ok(Value::list(fill_dynamic(have, &element.without_optional_deep()), Vec::new()));
        }
    }
    let steps = value.elements().iter().enumerate().map(|(i, v)| (v, PathStepOf::Index(i)));
    let mut converted = convert_parts(steps, element, path)?.unwrap_or_else(|| value.elements().to_vec());
    let element = unified_element_type(&mut converted, element, path)?;
    Ok(Value::list(element, converted))
}

fn tuple(value: &Value, elements: &Arc<[Type]>, path: &mut Path) -> Result<Value, Failure> {
    if !value.is_known_tuple() || value.len() != elements.len() {
        return Err(Failure::Types);
    }
    let mut converted = Vec::with_capacity(elements.len());
    for (i, (v, want)) in value.elements().iter().zip(elements.iter()).enumerate() {
        converted.push(part(v, PathStepOf::Index(i), want, path)?);
    }
    Ok(Value::tuple(converted))
}

/// A map from a map or object.
fn map(value: &Value, element: &Type, path: &mut Path) -> Result<Value, Failure> {
    if !value.is_known_object() {
        let Type::Map(have) = value.ty() else { return Err(Failure::Types) };
        if **have == *element || element.is_dynamic() {
            return Ok(value.clone());
        }
        if !conversion_exists(have, element, true) {
            return Err(Failure::Types);
        }
        if value.is_empty() {
            let ty = fill_dynamic(have, &element.without_optional_deep());
            return Ok(Value::map(ty, std::iter::empty::<(Arc<str>, Value)>()));
        }
    }
    let entries = value.entries();
    let steps = entries.iter().map(|(k, v)| (v, PathStepOf::Key(k)));
    let mut converted = convert_parts(steps, element, path)?.unwrap_or_else(|| entries.values().cloned().collect());
    let element = unified_element_type(&mut converted, element, path)?;
    Ok(Value::map(element, entries.keys().cloned().zip(converted)))
}

fn object(value: &Value, want: &Type, object: &ObjectType, path: &mut Path) -> Result<Value, Failure> {
    if value.is_known_object() {
        return object_to_object(value, want, object, path);
    }
    let Type::Map(have) = value.ty() else { return Err(Failure::Types) };
    if !object.attributes.values().all(|want| conversion_exists(have, want, true)) {
        return Err(Failure::Types);
    }
    let mut attributes = BTreeMap::new();
    for (name, want) in &object.attributes {
        let converted = match value.get(name) {
            Some(v) => part(v, PathStepOf::Key(name), want, path)?,
            None if object.optional.contains(name) => Value::null(want.without_optional_deep()),
            None => return at(path, format!("map has no element for required attribute {name:?}")),
        };
        attributes.insert(name.clone(), converted);
    }
    Ok(finished_object(want, attributes))
}

fn object_to_object(value: &Value, want: &Type, object: &ObjectType, path: &mut Path) -> Result<Value, Failure> {
    if value.ty() == want && object.optional.is_empty() && !want.has_dynamic() {
        return Ok(value.clone());
    }
    let mut attributes = BTreeMap::new();
    for (name, want) in &object.attributes {
        let converted = match value.get(name) {
            Some(v) => part(v, PathStepOf::Attr(name), want, path)?,
            None if object.optional.contains(name) => Value::null(want.without_optional_deep()),
            None => return Err(Failure::Types),
        };
        attributes.insert(name.clone(), converted);
    }
    Ok(finished_object(want, attributes))
}

fn finished_object(want: &Type, attributes: BTreeMap<Arc<str>, Value>) -> Value {
    // The wanted type is shared by all results where it is exactly theirs.
    if want.has_dynamic() || want.has_optional() {
        Value::object(attributes)
    } else {
        Value::object_of(want.clone(), attributes)
    }
}

/// Why a value of one type is not accepted for another: `string required`, `attribute "x" is required`.
pub fn mismatch_message(got: &Type, want: &Type) -> String {
    let required = || format!("{} required", want.friendly_name_for_constraint());
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => object_mismatch(got, want),
        (Type::Tuple(_), Type::List(t)) if t.is_dynamic() => "all list elements must have the same type".into(),
        (Type::Tuple(_), Type::Set(t)) if t.is_dynamic() => "all set elements must have the same type".into(),
        (Type::Object(_), Type::Map(t)) if t.is_dynamic() => "all map elements must have the same type".into(),
        (Type::Tuple(elements), Type::List(t) | Type::Set(t)) => {
            match elements.iter().enumerate().find(|(_, e)| !conversion_exists(e, t, true)) {
                Some((i, e)) => format!("element {i}: {}", mismatch_message(e, t)),
                None => format!("all elements must be {}", t.friendly_name_for_constraint()),
            }
        }
        (Type::Object(object), Type::Map(t)) => {
            match object.attributes.iter().find(|(_, e)| !conversion_exists(e, t, true)) {
                Some((name, e)) => format!("element {name:?}: {}", mismatch_message(e, t)),
                None => format!("all elements must be {}", t.friendly_name_for_constraint()),
            }
        }
        (Type::List(g) | Type::Set(g), Type::List(w)) => {
            format!("incorrect list element type: {}", mismatch_message(g, w))
        }
        (Type::List(g) | Type::Set(g), Type::Set(w)) => {
            format!("incorrect set element type: {}", mismatch_message(g, w))
        }
        (Type::Map(g), Type::Map(w)) => format!("incorrect map element type: {}", mismatch_message(g, w)),
        _ => required(),
    }
}

fn object_mismatch(got: &ObjectType, want: &ObjectType) -> String {
    let missing: Vec<String> = want
        .attributes
        .keys()
        .filter(|name| !got.attributes.contains_key(*name) && !want.optional.contains(*name))
        .map(|name| format!("{name:?}"))
        .collect();
    match missing.as_slice() {
        [] => {}
        [one] => return format!("attribute {one} is required"),
        [one, two] => return format!("attributes {one} and {two} are required"),
        [most @ .., last] => return format!("attributes {}, and {last} are required", most.join(", ")),
    }
    // What no conversion can mend comes first.
    for unsafe_ok in [true, false] {
        for (name, want) in &want.attributes {
            if let Some(have) = got.attributes.get(name)
                && !conversion_exists(have, want, unsafe_ok)
            {
                return format!("attribute {name:?}: {}", mismatch_message(have, want));
            }
        }
    }
    "incorrect object attributes".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::value::Marks;

    fn ok(value: Value, want: Type, expected: Value) {
        let got = convert(&value, &want).unwrap();
        assert_eq!(got, expected);
        assert_eq!(convert(&got, &want).unwrap(), got, "twice");
    }

    #[test]
    fn conversions() {
        let s = Value::string;
        ok(Value::int(1), Type::String, s("1"));
        ok(s("1.50"), Type::Number, Value::number(1.5));
        ok(s("true"), Type::Bool, Value::bool(true));
        ok(Value::tuple(vec![Value::int(1), s("a")]), Type::list(Type::String), Value::strings(["1", "a"]));
        ok(Value::tuple(vec![Value::int(1), s("a")]), Type::list(Type::Dynamic), Value::strings(["1", "a"]));
        ok(
            Value::tuple(vec![s("b"), s("a"), s("b")]),
            Type::set(Type::String),
            Value::set(Type::String, vec![s("a"), s("b")]),
        );
        ok(Value::object([("a", Value::int(1))]), Type::map(Type::String), Value::map(Type::String, [("a", s("1"))]));
        ok(Value::empty_object(), Type::map(Type::String), Value::map(Type::String, Vec::<(&str, Value)>::new()));
        let wanted = Type::object_with_optional([("a", Type::String), ("b", Type::list(Type::Number))], ["b"]);
        let expected = Value::object([("a", s("x")), ("b", Value::null(Type::list(Type::Number)))]);
        ok(Value::object([("a", s("x")), ("z", s("y"))]), wanted, expected);
        let all_strings = Type::object_with_optional([("a", Type::String), ("b", Type::String)], ["b"]);
        let expected = Value::object([("a", s("x")), ("b", Value::null(Type::String))]);
        ok(Value::map(Type::String, [("a", s("x"))]), all_strings, expected);
        ok(Value::null_dynamic(), Type::String, Value::null(Type::String));
        ok(Value::dynamic().mark(Marks::SENSITIVE), Type::Bool, Value::unknown(Type::Bool).mark(Marks::SENSITIVE));
        ok(s("5").mark(Marks::SENSITIVE), Type::Number, Value::literal_int(5).mark(Marks::SENSITIVE));
        ok(
            Value::tuple(vec![s("x"), Value::null_dynamic()]),
            Type::list(Type::Dynamic),
            Value::list(Type::String, vec![s("x"), Value::null(Type::String)]),
        );
    }

    #[test]
    fn messages() {
        let object = |names: &[&str]| Type::object(names.iter().map(|n| (*n, Type::String)));
        let cases = [
            (Value::string("x"), Type::Number, "", "a number is required"),
            (
                Value::string("True"),
                Type::Bool,
                "",
                "a bool is required; to convert from string, use lowercase \"true\"",
            ),
            (Value::empty_tuple(), Type::String, "", "string required"),
            (Value::empty_object(), object(&["a"]), "", "attribute \"a\" is required"),
            (Value::empty_object(), object(&["a", "b", "c"]), "", "attributes \"a\", \"b\", and \"c\" are required"),
            (Value::object([("a", Value::empty_tuple())]), object(&["a"]), "", "attribute \"a\": string required"),
            (
                Value::tuple(vec![Value::string("1"), Value::empty_tuple()]),
                Type::list(Type::String),
                "",
                "element 1: string required",
            ),
            (Value::tuple(vec![Value::string("q")]), Type::list(Type::Number), "[0]", "a number is required"),
            (
                Value::tuple(vec![Value::int(1), Value::empty_tuple()]),
                Type::list(Type::Dynamic),
                "",
                "all list elements must have the same type",
            ),
            (
                Value::list(Type::list(Type::Bool), vec![]),
                Type::list(Type::Bool),
                "",
                "incorrect list element type: bool required",
            ),
            (
                Value::map(Type::String, Vec::<(&str, Value)>::new()),
                object(&["k"]),
                "",
                "map has no element for required attribute \"k\"",
            ),
        ];
        for (value, want, path, message) in cases {
            let error = convert(&value, &want).unwrap_err();
            assert_eq!((error.path.to_string().as_str(), error.message.as_str()), (path, message));
        }
    }
}
