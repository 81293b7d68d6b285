//! Why a value of one type is not accepted for another.

use super::conversion_exists;
use crate::lang::value::{ObjectType, Type};

/// Why types do not convert: `string required`, `attribute "x" is required`.
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
    // What no conversion can fix comes first.
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
