//! Conversion of values between types.
//!
//! Owns which conversions exist (`exists`), what they give, and the messages for those that do not exist or fail
//! (`message`). Never knows its callers: they put the message and its path into a diagnostic.

mod absent;
mod collection;
mod exists;
mod message;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use exists::conversion_exists;
pub use message::{mismatch_message, name_given_types};

use super::{Number, ObjectType, Path, PathStep, Type, Value};

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
        return absent::convert(value, want);
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
        (Type::List(element), _) => collection::list(value, element, path)?,
        (Type::Set(element), _) => collection::set(value, element, path)?,
        (Type::Map(element), _) => collection::map(value, element, path)?,
        (Type::Tuple(elements), _) => tuple(value, elements, path)?,
        (Type::Object(object), _) => self::object(value, want, object, path)?,
        (Type::Dynamic, _) => value.clone(),
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

/// A step that is only made when it is needed.
#[derive(Clone, Copy)]
enum PathStepOf<'v> {
    Index(usize),
    Key(&'v Arc<str>),
    Attr(&'v Arc<str>),
}

impl PathStepOf<'_> {
    fn step(self) -> PathStep {
        match self {
            PathStepOf::Index(i) => PathStep::Index(Value::int(i as i64)),
            PathStepOf::Key(key) => PathStep::Index(Value::shared_string(key.clone())),
            PathStepOf::Attr(name) => PathStep::Attr(name.clone()),
        }
    }
}

fn part(value: &Value, step: PathStepOf<'_>, want: &Type, path: &mut Path) -> Result<Value, Failure> {
    let simple = value.as_str().is_some() && want == &Type::String
        || value.as_number().is_some() && want == &Type::Number
        || value.as_bool().is_some() && want == &Type::Bool;
    if simple || want.is_dynamic() {
        return Ok(value.clone());
    }
    path.push(step.step());
    let result = to(value, want, path)?;
    path.pop();
    Ok(result)
}

fn tuple(value: &Value, elements: &[Type], path: &mut Path) -> Result<Value, Failure> {
    if !value.is_known_tuple() || value.len() != elements.len() {
        return Err(Failure::Types);
    }
    let mut converted = Vec::with_capacity(elements.len());
    for (i, (v, want)) in value.elements().iter().zip(elements.iter()).enumerate() {
        converted.push(part(v, PathStepOf::Index(i), want, path)?);
    }
    Ok(Value::tuple(converted))
}

fn object(value: &Value, want: &Type, object: &ObjectType, path: &mut Path) -> Result<Value, Failure> {
    let from_map = !value.is_known_object();
    if from_map {
        let Type::Map(have) = value.ty() else { return Err(Failure::Types) };
        if !exists::map_fits(have, object) {
            return Err(Failure::Types);
        }
    } else if value.ty() == want && object.optional.is_empty() && !want.has_dynamic() {
        return Ok(value.clone());
    }
    let mut attributes = BTreeMap::new();
    for (name, want) in &object.attributes {
        let converted = match value.get(name) {
            Some(v) if from_map => attribute_of_map(v, name, want, path)?,
            Some(v) => part(v, PathStepOf::Attr(name), want, path)?,
            None if object.optional.contains(name) => Value::null(want.without_optional_deep()),
            None if from_map => return at(path, format!("map has no element for required attribute {name:?}")),
            None => return Err(Failure::Types),
        };
        attributes.insert(name.clone(), converted);
    }
    Ok(finished_object(want, attributes))
}

fn attribute_of_map(value: &Value, name: &Arc<str>, want: &Type, path: &mut Path) -> Result<Value, Failure> {
    if conversion_exists(value.ty(), want, true) {
        return part(value, PathStepOf::Key(name), want, path);
    }
    let reason = mismatch_message(value.ty(), want);
    at(path, format!("map element type is incompatible with attribute {name:?}: {reason}"))
}

fn finished_object(want: &Type, attributes: BTreeMap<Arc<str>, Value>) -> Value {
    // The wanted type is shared by all results where it is exactly theirs.
    if want.has_dynamic() || want.has_optional() {
        Value::object(attributes)
    } else {
        Value::object_of(want.clone(), attributes)
    }
}
