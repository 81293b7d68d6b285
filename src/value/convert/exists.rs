//! Which conversions exist, by the types alone.
//!
//! Observed on cty 1.16.

use crate::unify::{unify, unify_unsafe};
use crate::{ObjectType, Type};

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
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => all_exist(from.iter(), to, Any::AllOrNone, unsafe_ok),
        (Type::Object(from), Type::Map(to)) => all_exist(from.attributes.values(), to, Any::Allowed, unsafe_ok),
        (Type::Map(from), Type::Object(to)) => unsafe_ok && map_fits(from, to),
        _ => false,
    }
}

/// Whether elements of a type can be the attributes of an object. An optional attribute that they cannot be only matters
/// if the map has an element of its name.
pub(super) fn map_fits(element: &Type, object: &ObjectType) -> bool {
    let fits = |(name, want)| object.optional.contains(name) || conversion_exists(element, want, true);
    object.attributes.iter().all(fits)
}

/// What becomes of parts of a yet unknown type beside parts of known types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Any {
    /// In maps, they take the type of the others, if the values allow it.
    Allowed,
    /// In lists and sets, there is no common type.
    AllOrNone,
}

fn all_exist<'t>(from: impl ExactSizeIterator<Item = &'t Type> + Clone, to: &Type, any: Any, unsafe_ok: bool) -> bool {
    if !to.is_dynamic() {
        return from.clone().all(|f| conversion_exists(f, to, unsafe_ok));
    }
    let types: Vec<Type> = from.cloned().collect();
    types.is_empty() || common_type(&types, any, unsafe_ok).is_some()
}

/// The type that parts of these types convert to on the way to a collection of "any".
pub(super) fn common_type(types: &[Type], any: Any, unsafe_ok: bool) -> Option<Type> {
    let common = if unsafe_ok { unify_unsafe(types) } else { unify(types) }?;
    if common.is_dynamic() && any == Any::AllOrNone && !types.iter().all(Type::is_dynamic) {
        return None;
    }
    types.iter().all(|t| conversion_exists(t, &common, unsafe_ok)).then_some(common)
}
