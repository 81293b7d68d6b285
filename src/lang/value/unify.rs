//! Unification: the one type that all of several types can become.
//!
//! Owns the choice of that type. Whether one type can become another is `convert`'s to say.

use std::sync::Arc;

use super::Type;
use super::convert::conversion_exists;

/// Uses only conversions that cannot fail, except on conversion of what is not yet known.
pub fn unify(types: &[Type]) -> Option<Type> {
    find(types, false)
}

/// Uses conversions that may fail for some values, such as string to number, as well.
pub fn unify_unsafe(types: &[Type]) -> Option<Type> {
    find(types, true)
}

fn find(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|t| t == first) && !first.has_optional() {
        return Some(first.clone());
    }
    let count = |is: fn(&Type) -> bool| types.iter().filter(|t| is(t)).count();
    let total = types.len();
    let (maps, lists, sets) = (count(Type::is_map), count(Type::is_list), count(Type::is_set));
    let (objects, tuples, dynamic) = (count(Type::is_object), count(Type::is_tuple), count(Type::is_dynamic));
    if maps > 0 && maps + dynamic == total {
        return collections(Type::map, types, dynamic, unsafe_ok);
    }
    if maps > 0 && maps + objects + dynamic == total {
        if let Some(found) = objects_as_maps(types, unsafe_ok) {
            return Some(found);
        }
    } else if lists > 0 && lists + dynamic == total {
        return collections(Type::list, types, dynamic, unsafe_ok);
    } else if lists > 0 && lists + tuples + dynamic == total {
        if let Some(found) = tuples_as_lists(types, unsafe_ok) {
            return Some(found);
        }
    } else if sets > 0 && sets + dynamic == total {
        return collections(Type::set, types, dynamic, unsafe_ok);
    } else if objects > 0 && objects + dynamic == total {
        return object_types(types, dynamic, unsafe_ok);
    } else if tuples > 0 && tuples + dynamic == total {
        return tuple_types(types, dynamic, unsafe_ok);
    } else if objects > 0 && tuples > 0 {
        return None;
    }
    first_that_fits(types, unsafe_ok)
}

fn first_that_fits(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let mut candidates: Vec<&Type> = types.iter().collect();
    // A string can hold every primitive, a list what a set or tuple holds, and anything is better than "any".
    candidates.sort_by_key(|t| match t {
        Type::String => 0,
        Type::Dynamic => 9,
        Type::List(_) | Type::Map(_) => 1,
        Type::Set(_) => 2,
        Type::Tuple(_) | Type::Object(_) => 3,
        Type::Bool | Type::Number => 4,
    });
    candidates.dedup();
    let fits = |want: &Type| types.iter().all(|t| t == want || conversion_exists(t, want, unsafe_ok));
    candidates.into_iter().find(|want| fits(want)).cloned()
}

fn collections(of: fn(Type) -> Type, types: &[Type], dynamic: usize, unsafe_ok: bool) -> Option<Type> {
    if dynamic > 0 {
        return Some(Type::Dynamic);
    }
    let elements: Vec<Type> = types.iter().filter_map(Type::element_type).cloned().collect();
    find(&elements, unsafe_ok).map(of)
}

fn all_convert(types: &[Type], want: Type, unsafe_ok: bool) -> Option<Type> {
    types.iter().all(|t| *t == want || conversion_exists(t, &want, unsafe_ok)).then_some(want)
}

fn objects_as_maps(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let mut elements: Vec<Type> = Vec::new();
    for ty in types {
        match ty {
            Type::Map(t) => elements.push((**t).clone()),
            Type::Object(object) => elements.extend(object.attributes.values().cloned()),
            _ => return Some(Type::Dynamic),
        }
    }
    all_convert(types, Type::map(find(&elements, unsafe_ok)?), unsafe_ok)
}

fn tuples_as_lists(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let mut elements: Vec<Type> = Vec::new();
    for ty in types {
        match ty {
            Type::List(t) => elements.push((**t).clone()),
            Type::Tuple(parts) => elements.extend(parts.iter().cloned()),
            _ => return Some(Type::Dynamic),
        }
    }
    all_convert(types, Type::list(find(&elements, unsafe_ok)?), unsafe_ok)
}

/// Objects with the same names unify attribute by attribute; others become a map, if all attributes allow it.
fn object_types(types: &[Type], dynamic: usize, unsafe_ok: bool) -> Option<Type> {
    if dynamic > 0 {
        return Some(Type::Dynamic);
    }
    let objects: Vec<_> = types.iter().filter_map(Type::object_type).collect();
    let first = objects.first()?;
    let same_names = objects.iter().all(|o| o.attributes.keys().eq(first.attributes.keys()));
    if !same_names {
        return objects_as_maps(types, unsafe_ok);
    }
    let mut attributes = Vec::with_capacity(first.attributes.len());
    for name in first.attributes.keys() {
        let across: Vec<Type> = objects.iter().filter_map(|o| o.attributes.get(name)).cloned().collect();
        attributes.push((name.clone(), find(&across, unsafe_ok)?));
    }
    all_convert(types, Type::object(attributes), unsafe_ok).or_else(|| objects_as_maps(types, unsafe_ok))
}

/// Tuples of one length unify element by element; others become a list, if all elements allow it.
fn tuple_types(types: &[Type], dynamic: usize, unsafe_ok: bool) -> Option<Type> {
    if dynamic > 0 {
        return Some(Type::Dynamic);
    }
    let tuples: Vec<&[Type]> = types.iter().filter_map(Type::tuple_elements).collect();
    let length = tuples.first()?.len();
    if tuples.iter().any(|t| t.len() != length) {
        return tuples_as_lists(types, unsafe_ok);
    }
    let elements: Option<Arc<[Type]>> =
        (0..length).map(|i| find(&tuples.iter().map(|t| t[i].clone()).collect::<Vec<_>>(), unsafe_ok)).collect();
    all_convert(types, Type::Tuple(elements?), unsafe_ok).or_else(|| tuples_as_lists(types, unsafe_ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        let (s, n, b) = (Type::String, Type::Number, Type::Bool);
        let cases: Vec<(Vec<Type>, Option<Type>)> = vec![
            (vec![], None),
            (vec![n.clone(), s.clone()], Some(s.clone())),
            (vec![n.clone(), b.clone()], None),
            (vec![n.clone(), b.clone(), s.clone()], Some(s.clone())),
            (vec![Type::list(n.clone()), Type::list(s.clone())], Some(Type::list(s.clone()))),
            (vec![Type::list(n.clone()), Type::tuple([s.clone()])], Some(Type::list(s.clone()))),
            (vec![Type::tuple([n.clone()]), Type::tuple([s.clone()])], Some(Type::tuple([s.clone()]))),
            (vec![Type::tuple([n.clone()]), Type::tuple([s.clone(), s.clone()])], Some(Type::list(s.clone()))),
            (vec![Type::object([("a", n.clone())]), Type::object([("b", s.clone())])], Some(Type::map(s.clone()))),
            (
                vec![Type::object([("a", n.clone())]), Type::object([("a", s.clone())])],
                Some(Type::object([("a", s.clone())])),
            ),
            (vec![Type::object([("a", n.clone())]), Type::tuple([n.clone()])], None),
            (vec![Type::list(s.clone()), s.clone()], None),
        ];
        for (types, expected) in cases {
            assert_eq!(unify(&types), expected, "{types:?}");
        }
        assert_eq!(unify_unsafe(&[n, Type::Dynamic]), Some(Type::Number));
    }
}
