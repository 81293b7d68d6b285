//! Conversion of null and unknown values, which have a type and no parts.

use super::{Failure, conversion_exists};
use crate::unify::unify_unsafe;
use crate::{Refinement, Type, Value};

/// Null and unknown values take the type, as far as it says more than their own.
pub(super) fn convert(value: &Value, want: &Type) -> Result<Value, Failure> {
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
    let old = value.refinement();
    let length = |n: usize| (n as u64, Some(n as u64));
    let bounds = match (value.ty(), ty) {
        (Type::Object(object), Type::Map(_)) => length(object.attributes.len()),
        (Type::Tuple(elements), Type::List(_)) => length(elements.len()),
        (Type::Tuple(elements), Type::Set(_)) => (elements.len().min(1) as u64, Some(elements.len() as u64)),
        (from, _) if from.is_collection() && ty.is_collection() => {
            let (min, max) = (old.map_or(0, |f| f.length_min), old.and_then(|f| f.length_max));
            (if ty.is_set() { min.min(1) } else { min }, max)
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

/// As `fill_dynamic`, for the elements of a collection that is made from a type.
pub(super) fn fill_element(have: &Type, want: &Type) -> Type {
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
