//! Functions of maps and objects, and those of every collection.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_value::convert::convert;
use terrane_value::unify::unify_unsafe;
use terrane_value::{Marks, Number, Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::builtin::{
    Allow, Builtin, Outcome, TypeOutcome, any, fail, fail_argument, p, quoted, quoted_argument, string,
};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let lists = || Type::map(Type::list(Type::String));
    vec![
        Builtin::new("coalesce", vec![], Type::Dynamic, coalesce)
            .variadic(any("vals").null().unknown().dynamic())
            .typed(coalesce_type)
            .doc("The first of its arguments that is neither null nor an empty string."),
        Builtin::new("contains", vec![any("list"), any("value").null().dynamic()], Type::Dynamic, contains)
            .typed(|a| Ok(if a[1].is_null() || !a[1].ty().is_dynamic() { Type::Bool } else { Type::Dynamic }))
            .doc("Whether a list or set has an element."),
        Builtin::new(
            "keys",
            vec![
                any("inputMap")
                    .unknown()
                    .marked()
                    .about("A map, or an object: then the result is a tuple of its attribute names."),
            ],
            Type::Dynamic,
            keys,
        )
        .typed(keys_type)
        .doc("The keys of a map, in order."),
        Builtin::new("values", vec![any("mapping").marked()], Type::Dynamic, values)
            .typed(values_type)
            .doc("The values of a map, in the order of their keys."),
        Builtin::new("length", vec![any("value").unknown().dynamic().marked()], Type::Number, length)
            .typed(|a| length_type(a).map(|()| Type::Number))
            .doc("How many elements a collection has, or characters a string."),
        Builtin::new(
            "lookup",
            vec![any("inputMap").unknown().marked(), string("key").unknown().marked()],
            Type::Dynamic,
            lookup,
        )
        .variadic(any("default").everything())
        .typed(lookup_type)
        .may_be_null()
        .doc("An element of a map by its key, or a default."),
        Builtin::new("merge", vec![], Type::Dynamic, merge)
            .variadic(any("maps").null().dynamic().marked())
            .typed(merge_type)
            .doc("All maps or objects as one; later ones win."),
        Builtin::new("transpose", vec![p("values", lists())], lists(), transpose)
            .doc("A map of lists of strings with keys and values exchanged."),
        Builtin::new(
            "zipmap",
            vec![p("keys", Type::list(Type::String)).marked(), any("values").marked()],
            Type::Dynamic,
            zipmap,
        )
        .typed(zipmap_type)
        .doc("A map from a list of keys and a list of values."),
    ]
}

fn coalesce_type(a: &[Value]) -> TypeOutcome {
    let types: Vec<Type> = a.iter().map(|v| v.ty().clone()).collect();
    unify_unsafe(&types).ok_or_else(|| FunctionError::new("all arguments must have the same type"))
}

fn coalesce(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = coalesce_type(a)?;
    for arg in a {
        // Observed: values that do not convert are ignored.
        let Ok(arg) = convert(arg, &ty) else { continue };
        if !arg.is_known() {
            return Ok(Value::unknown_not_null(ty));
        }
        if arg.is_null() || arg.as_str() == Some("") {
            continue;
        }
        return Ok(arg);
    }
    fail("no non-null, non-empty-string arguments")
}

fn contains_type(a: &[Value]) -> Result<(), FunctionError> {
    match a[0].ty() {
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Ok(()),
        _ => fail("argument must be list, tuple, or set"),
    }
}

fn contains(a: &[Value], _: &CallContext<'_>) -> Outcome {
    contains_type(a)?;
    // A null may have no type.
    if a[1].is_null() {
        let unknown = a[0].elements().iter().any(|element| !element.is_known());
        return Ok(match a[0].elements().iter().any(Value::is_null) {
            false if unknown => Value::unknown_not_null(Type::Bool),
            found => Value::bool(found),
        });
    }
    let mut unknown = false;
    for element in a[0].elements() {
        let equal = a[1].equals(element);
        if equal.is_true() {
            return Ok(Value::bool(true));
        }
        unknown = unknown || !equal.is_known();
    }
    Ok(if unknown { Value::unknown_not_null(Type::Bool) } else { Value::bool(false) })
}

fn keys_type(a: &[Value]) -> TypeOutcome {
    match a[0].ty() {
        Type::Map(_) => Ok(Type::list(Type::String)),
        Type::Object(object) => Ok(Type::tuple(object.attributes.keys().map(|_| Type::String))),
        Type::Dynamic => Ok(Type::Dynamic),
        _ => fail_argument(0, "must have map or object type"),
    }
}

fn keys(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let result = match a[0].ty() {
        Type::Object(object) => {
            Value::tuple(object.attributes.keys().map(|k| Value::shared_string(k.clone())).collect())
        }
        _ if !a[0].is_known() => Value::unknown_not_null(keys_type(a)?),
        _ => {
            keys_type(a)?;
            let keys = a[0].entries().keys().map(|k| Value::shared_string(k.clone()));
            Value::list(Type::String, keys.collect())
        }
    };
    Ok(result.mark(a[0].marks()))
}

fn values_type(a: &[Value]) -> TypeOutcome {
    match a[0].ty() {
        Type::Map(t) => Ok(Type::List(t.clone())),
        Type::Object(object) => Ok(Type::tuple(object.attributes.values().cloned())),
        _ => fail("values() requires a map as the first argument"),
    }
}

fn values(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = values_type(a)?;
    let values = a[0].entries().values().cloned().collect();
    let result = match ty {
        _ if !a[0].is_known() => Value::unknown_not_null(ty),
        Type::List(t) => Value::list((*t).clone(), values),
        _ => Value::tuple(values),
    };
    Ok(result.mark(a[0].marks()))
}

fn length_type(a: &[Value]) -> Result<(), FunctionError> {
    match a[0].ty() {
        Type::Bool | Type::Number => fail("argument must be a string, a collection type, or a structural type"),
        _ => Ok(()),
    }
}

fn length(a: &[Value], _: &CallContext<'_>) -> Outcome {
    length_type(a)?;
    let value = &a[0];
    if value.ty().is_dynamic() {
        return Ok(Value::unknown_not_null(Type::Number).mark(value.marks()));
    }
    if value.ty() != &Type::String {
        let length = value.length();
        return Ok(match length.refinement() {
            // No collection has more elements than its index can count.
            Some(facts) if facts.number_max.is_none() => {
                let facts = facts.clone().with_number_max(Number::from(i64::MAX), true);
                Value::unknown_refined(Type::Number, facts).mark(length.marks())
            }
            _ => length,
        });
    }
    let result = match value.as_str() {
        Some(text) => Value::number(text.graphemes(true).count()),
        None => {
            let known = value.refinement().and_then(|f| f.string_prefix.as_deref()).unwrap_or_default();
            let at_least = Number::from(known.graphemes(true).count());
            Value::unknown_refined(Type::Number, Refinement::not_null().with_number_min(at_least, true))
        }
    };
    Ok(result.mark(value.marks()))
}

fn lookup_type(a: &[Value]) -> TypeOutcome {
    if a.len() > 3 {
        return fail(format!("lookup() takes two or three arguments, got {}", a.len()));
    }
    match a[0].ty() {
        Type::Object(object) => {
            let Some(key) = a[1].as_str() else { return Ok(Type::Dynamic) };
            match (object.attributes.get(key), a.get(2)) {
                (Some(ty), _) => Ok(ty.clone()),
                (None, Some(default)) => Ok(default.ty().clone()),
                (None, None) => {
                    fail_argument(0, format!("the given object has no attribute {}", quoted_argument(&a[1])))
                }
            }
        }
        Type::Map(element) => {
            if let Some(default) = a.get(2)
                && convert(default, element).is_err()
            {
                return fail_argument(2, "the default value must have the same type as the map elements");
            }
            Ok((**element).clone())
        }
        _ => fail_argument(0, "lookup() requires a map as the first argument"),
    }
}

fn lookup(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = lookup_type(a)?;
    let (map, key) = (&a[0], &a[1]);
    let marks = map.marks() | key.marks();
    let Some(name) = key.as_str().filter(|_| map.is_known()) else { return Ok(Value::unknown(ty).mark(marks)) };
    if let Some(found) = map.get(name) {
        return Ok(found.clone().mark(marks));
    }
    match a.get(2) {
        Some(default) => {
            let default = convert(default, &ty).map_err(|e| FunctionError::new(e.message))?;
            Ok(default.mark(marks))
        }
        None => fail(format!("lookup failed to find key {}", quoted_argument(key))),
    }
}

fn merge_type(a: &[Value]) -> TypeOutcome {
    let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
    let mut known = true;
    for arg in a {
        match arg.ty() {
            Type::Dynamic => return Ok(Type::Dynamic),
            Type::Object(_) if arg.is_null() => {}
            Type::Object(object) => {
                attributes.extend(object.attributes.iter().map(|(name, ty)| (name.clone(), ty.clone())));
            }
            Type::Map(_) if arg.is_null() => {}
            Type::Map(_) if !arg.is_known() => known = false,
            Type::Map(element) => attributes.extend(arg.entries().keys().map(|k| (k.clone(), (**element).clone()))),
            other => {
                let got = quoted(&other.friendly_name());
                return fail(format!("arguments must be maps or objects, got {got}"));
            }
        }
    }
    match a.first() {
        None => Ok(Type::empty_object()),
        Some(first) if a.iter().all(|v| v.ty() == first.ty()) => Ok(first.ty().clone()),
        _ if !known => Ok(Type::Dynamic),
        _ => Ok(Type::object(attributes)),
    }
}

/// Which way a merge goes, told without deriving types that the result would not need.
fn merged_map_element(a: &[Value]) -> Result<Option<Type>, FunctionError> {
    if a.iter().all(Value::is_known_object) {
        return Ok(None);
    }
    match merge_type(a)? {
        Type::Map(element) => Ok(Some((*element).clone())),
        _ => Ok(None),
    }
}

fn merge(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let element = merged_map_element(a)?;
    let mut marks = Marks::NONE;
    let mut merged: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    for arg in a.iter().filter(|v| !v.is_null()) {
        marks |= arg.marks();
        if !arg.is_known() {
            return Ok(Value::unknown_not_null(merge_type(a)?).mark(marks));
        }
        if merged.is_empty() {
            merged = arg.entries().to_map();
        } else {
            merged.extend(arg.entries().iter().map(|(k, v)| (k.clone(), v.clone())));
        }
    }
    Ok(match element {
        Some(element) => Value::map(element, merged),
        None => Value::object(merged),
    }
    .mark(marks))
}

fn transpose(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = Type::map(Type::list(Type::String));
    if !a[0].is_wholly_known() {
        return Ok(Value::unknown_not_null(ty));
    }
    let mut out: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
    for (key, list) in a[0].entries() {
        if list.is_null() {
            return fail("input must not contain null list");
        }
        for element in list.elements() {
            let Some(text) = element.as_arc_str() else { return fail("input list must not contain null string") };
            out.entry(text).or_default().push(key.clone());
        }
    }
    let entries = out.into_iter().map(|(k, keys)| (k, Value::strings(keys)));
    Ok(Value::map(Type::list(Type::String), entries))
}

fn zipmap_type(a: &[Value]) -> TypeOutcome {
    match a[1].ty() {
        Type::List(t) => Ok(Type::Map(t.clone())),
        Type::Tuple(types) => {
            if !a[0].is_wholly_known() {
                return Ok(Type::Dynamic);
            }
            let keys = zipmap_keys(a, types.len())?;
            Ok(Type::object(keys.into_iter().zip(types.iter().cloned())))
        }
        _ => fail("values argument must be a list or tuple value"),
    }
}

fn zipmap_keys(a: &[Value], values: usize) -> Result<Vec<Arc<str>>, FunctionError> {
    let keys = a[0].elements();
    if keys.len() != values {
        let message = format!("number of keys ({}) does not match number of values ({values})", keys.len());
        return fail(message);
    }
    keys.iter()
        .enumerate()
        .map(|(i, k)| {
            k.as_arc_str().ok_or_else(|| FunctionError::new(format!("keys list has null value at index {i}")))
        })
        .collect()
}

fn zipmap(a: &[Value], _: &CallContext<'_>) -> Outcome {
    // A single key cannot have a mark.
    let marks = a[0].deep_marks() | a[1].marks();
    if !a[0].is_wholly_known() || !a[1].is_known() {
        return Ok(Value::unknown_not_null(zipmap_type(a)?).mark(marks));
    }
    let pairs = |keys: Vec<Arc<str>>| keys.into_iter().zip(a[1].elements().iter().cloned());
    let result = match a[1].ty() {
        Type::List(t) => Value::map((**t).clone(), pairs(zipmap_keys(a, a[1].len())?)),
        Type::Tuple(_) => Value::object(pairs(zipmap_keys(a, a[1].len())?)),
        _ => return fail("values argument must be a list or tuple value"),
    };
    Ok(result.mark(marks))
}
