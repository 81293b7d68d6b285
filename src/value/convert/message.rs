//! Why a value of one type is not accepted for another.

use std::sync::atomic::{AtomicBool, Ordering};

use super::conversion_exists;
use crate::{ObjectType, Type};

/// Whether messages also name the type that is given, as since Terraform 1.13.
static NAMES_GIVEN_TYPES: AtomicBool = AtomicBool::new(false);

/// Sets whether messages also name the type that is given.
pub fn name_given_types(on: bool) {
    NAMES_GIVEN_TYPES.store(on, Ordering::Relaxed);
}

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
        _ if NAMES_GIVEN_TYPES.load(Ordering::Relaxed) && is_plain(got, want) => {
            format!("{} required, but have {}", want.friendly_name(), got.friendly_name())
        }
        _ => required(),
    }
}

/// Whether the names of two types say what is wrong. Where a conversion depends on the value, such as from text to a number, they
/// would suggest that the type is wrong. As in the reference.
fn is_plain(got: &Type, want: &Type) -> bool {
    let element = |ty: &Type| match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element.has_dynamic()),
        _ => None,
    };
    match (got, want) {
        _ if got.is_primitive() != want.is_primitive() => true,
        (_, Type::String)
        | (Type::Bool, Type::Number)
        | (Type::Number, Type::Bool)
        | (Type::Tuple(_), Type::Object(_)) => true,
        _ => (element(got), element(want)) == (Some(false), Some(true)),
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

#[cfg(test)]
mod tests {
    use super::is_plain;
    use crate::Type;

    /// Observed with Terraform 1.17.
    #[test]
    fn given_types_are_named_where_they_are_the_problem() {
        let (list, tuple) = (Type::list(Type::String), Type::tuple([Type::String]));
        let object = Type::object([("a", Type::String)]);
        let cases = [
            (Type::String, list.clone(), true),
            (tuple.clone(), Type::String, true),
            (Type::Bool, Type::Number, true),
            (Type::Number, Type::Bool, true),
            (Type::String, Type::Number, false),
            (Type::String, Type::Bool, false),
            (Type::String, object.clone(), true),
            (tuple.clone(), object.clone(), true),
            (object, tuple.clone(), false),
            (list.clone(), Type::map(Type::String), false),
            (list, Type::map(Type::Dynamic), true),
        ];
        for (got, want, expected) in cases {
            assert_eq!(is_plain(&got, &want), expected, "{got:?} for {want:?}");
        }
    }
}
