//! Unification: the one type that all of several types can become.
//!
//! Owns the choice of that type. Whether one type can become another is `convert`'s to say.

use std::cmp::Ordering;
use std::collections::HashSet;
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
        if let Some(found) = objects_beside_maps(types, unsafe_ok) {
            return Some(found);
        }
    } else if lists > 0 && lists + dynamic == total {
        return collections(Type::list, types, dynamic, unsafe_ok);
    } else if lists > 0 && lists + tuples + dynamic == total {
        if let Some(found) = tuples_beside_lists(types, unsafe_ok) {
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

/// The most general of the types that all others convert to.
fn first_that_fits(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let distinct: Vec<&Type> = {
        let mut seen = HashSet::new();
        types.iter().filter(|t| seen.insert(*t)).collect()
    };
    let fits = |want: &Type| distinct.iter().all(|t| conversion_exists(t, want, unsafe_ok));
    general_first(&distinct).into_iter().find(|want| fits(want)).cloned()
}

/// The types in an order in which none comes behind one that it is more general than.
fn general_first<'t>(types: &[&'t Type]) -> Vec<&'t Type> {
    let mut above: Vec<usize> = vec![0; types.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    for (i, a) in types.iter().enumerate() {
        for (j, b) in types.iter().enumerate().skip(i + 1) {
            let (upper, lower) = match generality(a, b) {
                Ordering::Less => (i, j),
                Ordering::Greater => (j, i),
                Ordering::Equal => continue,
            };
            below[upper].push(lower);
            above[lower] += 1;
        }
    }
    let mut order: Vec<usize> = (0..types.len()).filter(|i| above[*i] == 0).collect();
    let mut next = 0;
    while let Some(&i) = order.get(next) {
        next += 1;
        for &j in &below[i] {
            above[j] -= 1;
            if above[j] == 0 {
                order.push(j);
            }
        }
    }
    order.into_iter().map(|i| types[i]).collect()
}

/// Less where the first type is preferred as the common one, equal where no type is preferred. A preference only: whether the
/// conversions exist is another question.
fn generality(a: &Type, b: &Type) -> Ordering {
    match (a, b) {
        (Type::Dynamic, _) | (_, Type::Dynamic) => a.is_dynamic().cmp(&b.is_dynamic()),
        (Type::String, Type::Number | Type::Bool) => Ordering::Less,
        (Type::Number | Type::Bool, Type::String) => Ordering::Greater,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            generality(a, b)
        }
        (Type::List(_) | Type::Tuple(_), Type::Set(_)) | (Type::List(_), Type::Tuple(_)) => Ordering::Less,
        (Type::Set(_), Type::List(_) | Type::Tuple(_)) | (Type::Tuple(_), Type::List(_)) => Ordering::Greater,
        (Type::Map(_), Type::Object(_)) => Ordering::Less,
        (Type::Object(_), Type::Map(_)) => Ordering::Greater,
        (Type::Object(a), Type::Object(b)) if a.attributes.keys().eq(b.attributes.keys()) => {
            agreed(a.attributes.values().zip(b.attributes.values()))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => agreed(a.iter().zip(b.iter())),
        _ => Ordering::Equal,
    }
}

/// The order that holds for some of the pairs and is contradicted by none.
fn agreed<'t>(pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> Ordering {
    let mut found = Ordering::Equal;
    for (a, b) in pairs {
        let order = generality(a, b);
        if found == Ordering::Equal {
            found = order;
        } else if order == found.reverse() {
            return Ordering::Equal;
        }
    }
    found
}

fn collections(of: fn(Type) -> Type, types: &[Type], dynamic: usize, unsafe_ok: bool) -> Option<Type> {
    if dynamic > 0 {
        return Some(Type::Dynamic);
    }
    let elements: Vec<Type> = types.iter().filter_map(Type::element_type).cloned().collect();
    all_convert(types, of(find(&elements, unsafe_ok)?), unsafe_ok)
}

fn all_convert(types: &[Type], want: Type, unsafe_ok: bool) -> Option<Type> {
    types.iter().all(|t| *t == want || conversion_exists(t, &want, unsafe_ok)).then_some(want)
}

/// One map type for all: that of the maps and of what the objects, taken alone, become as maps.
fn objects_beside_maps(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let objects: Vec<Type> = types.iter().filter(|t| t.is_object()).cloned().collect();
    let as_map = objects_as_map(&objects, unsafe_ok)?;
    let maps: Vec<Type> = types.iter().map(|t| if t.is_object() { as_map.clone() } else { t.clone() }).collect();
    find(&maps, unsafe_ok).filter(Type::is_map)
}

fn objects_as_map(objects: &[Type], unsafe_ok: bool) -> Option<Type> {
    let attributes = objects.iter().filter_map(Type::object_type).flat_map(|o| o.attributes.values().cloned());
    let element = find(&attributes.collect::<Vec<_>>(), unsafe_ok)?;
    all_convert(objects, Type::map(element), unsafe_ok)
}

/// As `objects_beside_maps`.
fn tuples_beside_lists(types: &[Type], unsafe_ok: bool) -> Option<Type> {
    let tuples: Vec<Type> = types.iter().filter(|t| t.is_tuple()).cloned().collect();
    let as_list = tuples_as_list(&tuples, unsafe_ok)?;
    let lists: Vec<Type> = types.iter().map(|t| if t.is_tuple() { as_list.clone() } else { t.clone() }).collect();
    find(&lists, unsafe_ok).filter(Type::is_list)
}

fn tuples_as_list(tuples: &[Type], unsafe_ok: bool) -> Option<Type> {
    let elements = tuples.iter().filter_map(Type::tuple_elements).flat_map(|parts| parts.iter().cloned());
    let element = find(&elements.collect::<Vec<_>>(), unsafe_ok)?;
    all_convert(tuples, Type::list(element), unsafe_ok)
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
        return objects_as_map(types, unsafe_ok);
    }
    let mut attributes = Vec::with_capacity(first.attributes.len());
    for name in first.attributes.keys() {
        let across: Vec<Type> = objects.iter().filter_map(|o| o.attributes.get(name)).cloned().collect();
        attributes.push((name.clone(), find(&across, unsafe_ok)?));
    }
    all_convert(types, Type::object(attributes), unsafe_ok).or_else(|| objects_as_map(types, unsafe_ok))
}

/// Tuples of one length unify element by element; others become a list, if all elements allow it.
fn tuple_types(types: &[Type], dynamic: usize, unsafe_ok: bool) -> Option<Type> {
    if dynamic > 0 {
        return Some(Type::Dynamic);
    }
    let tuples: Vec<&[Type]> = types.iter().filter_map(Type::tuple_elements).collect();
    let length = tuples.first()?.len();
    if tuples.iter().any(|t| t.len() != length) {
        return tuples_as_list(types, unsafe_ok);
    }
    let elements: Option<Vec<Type>> =
        (0..length).map(|i| find(&tuples.iter().map(|t| t[i].clone()).collect::<Vec<_>>(), unsafe_ok)).collect();
    all_convert(types, Type::Tuple(Arc::new(elements?)), unsafe_ok).or_else(|| tuples_as_list(types, unsafe_ok))
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
