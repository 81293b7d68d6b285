//! Steps into values: attributes and indices, with the messages for those that lead nowhere.

use terrane_value::convert::convert;
use terrane_value::{Number, Type, Value};

use crate::syntax::ast::{IndexKey, TraversalStep};

/// Summary and detail of what is wrong with a step.
pub type StepError = (&'static str, String);

/// A key that no element can have.
pub const INVALID_INDEX: &str = "Invalid index";
const NO_ELEMENT: &str = "The given key does not identify an element in this collection value";
const UNSUPPORTED: &str = "Unsupported attribute";

/// The value behind one step of a traversal.
pub fn apply_step(value: &Value, step: &TraversalStep) -> Result<Value, StepError> {
    match step {
        TraversalStep::Attr { name, .. } => get_attr(value, &name.name),
        TraversalStep::Index { key: IndexKey::String(key), .. } => index(value, &Value::shared_string(key.clone())),
        TraversalStep::Index { key: IndexKey::Number(text), .. } => {
            let key = Number::parse(text).map_or_else(|| Value::unknown(Type::Number), Value::number);
            index(value, &key)
        }
        TraversalStep::Splat { .. } => Ok(Value::dynamic()),
    }
}

/// `value.name`
pub fn get_attr(value: &Value, name: &str) -> Result<Value, StepError> {
    if value.is_null() {
        let detail = "This value is null, so it does not have any attributes.";
        return Err(("Attempt to get attribute from null value", detail.into()));
    }
    if let Some(found) = value.get(name) {
        return Ok(found.clone().mark(value.marks()));
    }
    let detail = match value.ty() {
        Type::Dynamic => return Ok(Value::dynamic().mark(value.marks())),
        Type::Object(object) => match object.attributes.get(name) {
            Some(ty) => return Ok(Value::unknown(ty.clone()).mark(value.marks())),
            None => format!("This object does not have an attribute named {name:?}."),
        },
        Type::Map(element) if !value.is_known() => return Ok(Value::unknown((**element).clone()).mark(value.marks())),
        Type::Map(_) => {
            let detail = format!("This map does not have an element with the key {name:?}.");
            return Err(("Missing map element", detail));
        }
        Type::List(element) if element.is_object() => match element.attribute(name) {
            Some(_) => format!(
                "Can't access attributes on a list of objects. Did you mean to access attribute {name:?} for a specific element of the list, or across all elements of the list?"
            ),
            None => "Can't access attributes on a list of objects. Did you mean to access an attribute for a specific element of the list, or across all elements of the list?".into(),
        },
        Type::Set(element) if element.is_object() => {
            "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?".into()
        }
        ty if ty.is_primitive() => format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly_name()),
        _ => "This value does not have any attributes.".into(),
    };
    Err((UNSUPPORTED, detail))
}

/// `collection[key]`
pub fn index(collection: &Value, key: &Value) -> Result<Value, StepError> {
    if collection.is_null() {
        let detail = "This value is null, so it does not have any indices.";
        return Err(("Attempt to index null value", detail.into()));
    }
    if key.is_null() {
        return Err((INVALID_INDEX, "Can't use a null value as an indexing key.".into()));
    }
    let ty = collection.ty();
    if ty.is_dynamic() || key.ty().is_dynamic() {
        return Ok(Value::dynamic().mark(collection.marks()));
    }
    match ty {
        Type::List(_) | Type::Tuple(_) => index_sequence(collection, key),
        Type::Map(_) => index_map(collection, key),
        Type::Object(object) => {
            let name = convert(key, &Type::String).map_err(|e| (INVALID_INDEX, format!("{NO_ELEMENT}: {e}.")))?;
            let Some(name) = name.as_str() else { return Ok(Value::dynamic().mark(collection.marks())) };
            if !collection.is_known() {
                let ty = object.attributes.get(name).cloned().unwrap_or(Type::Dynamic);
                return Ok(Value::unknown(ty).mark(collection.marks()));
            }
            let Some(attribute) = object.attributes.get(name) else {
                let hint = match key.ty() {
                    Type::Number => " An object only supports looking up attributes by name, not by numeric index.",
                    _ => "",
                };
                return Err((INVALID_INDEX, format!("{NO_ELEMENT}.{hint}")));
            };
            let found = collection.get(name).cloned().unwrap_or_else(|| Value::unknown(attribute.clone()));
            Ok(found.mark(collection.marks()))
        }
        Type::Set(_) => Err((
            INVALID_INDEX,
            "Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set.".into(),
        )),
        _ => Err((INVALID_INDEX, "This value does not have any indices.".into())),
    }
}

fn index_map(collection: &Value, key: &Value) -> Result<Value, StepError> {
    let key = convert(key, &Type::String).map_err(|e| (INVALID_INDEX, format!("{NO_ELEMENT}: {e}.")))?;
    let element = collection.ty().element_type().cloned().unwrap_or(Type::Dynamic);
    let Some(name) = key.as_str().filter(|_| collection.is_known()) else {
        return Ok(Value::unknown(element).mark(collection.marks()));
    };
    match collection.get(name) {
        Some(found) => Ok(found.clone().mark(collection.marks() | key.marks())),
        None => Err((INVALID_INDEX, format!("{NO_ELEMENT}."))),
    }
}

fn index_sequence(collection: &Value, key: &Value) -> Result<Value, StepError> {
    let key = convert(key, &Type::Number).map_err(|e| (INVALID_INDEX, format!("{NO_ELEMENT}: {e}.")))?;
    let has = collection.has_index(&key);
    match has.as_bool() {
        None => {
            let element = collection.ty().element_type().cloned().unwrap_or(Type::Dynamic);
            Ok(Value::unknown(element).mark(collection.marks()))
        }
        Some(true) => collection.index(&key).ok_or_else(|| (INVALID_INDEX, format!("{NO_ELEMENT}."))),
        Some(false) => Err((INVALID_INDEX, format!("{NO_ELEMENT}{}.", why_not(collection, &key)))),
    }
}

/// What more there is to say about an index that a sequence does not have.
fn why_not(collection: &Value, key: &Value) -> &'static str {
    let Some(number) = key.as_number() else { return "" };
    if !number.is_integer() {
        return ": indexing a sequence requires a whole number, but the given index has a fractional part";
    }
    if number.is_negative() {
        return ": a negative number is not a valid index for a sequence";
    }
    let length = collection.length();
    match (length.as_number(), length.has_marks()) {
        // Beyond the length itself the reference says nothing.
        (Some(length), false) if number <= length => match length.is_zero() {
            true => ": the collection has no elements",
            false => ": the given index is greater than or equal to the length of the collection",
        },
        _ => "",
    }
}
