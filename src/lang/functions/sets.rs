//! Functions of sets.

use std::collections::HashMap;

use terrane_value::convert::convert;
use terrane_value::unify::unify_unsafe;
use terrane_value::{Marks, Refinement, Type, Value, set};

use super::builtin::{Allow, Builtin, Outcome, TypeOutcome, any, fail, fail_argument, p};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let any_set = || Type::set(Type::Dynamic);
    vec![
        Builtin::new("setintersection", vec![p("first_set", any_set()).dynamic()], any_set(), |a, _| {
            combine(a, false, |result, other| keep(result, other, true))
        })
        .variadic(p("other_sets", any_set()).dynamic())
        .typed(common_set)
        .doc("The elements that all sets have."),
        Builtin::new(
            "setsubtract",
            vec![p("a", any_set()).dynamic(), p("b", any_set()).dynamic()],
            any_set(),
            |a, _| combine(a, false, |result, other| keep(result, other, false)),
        )
        .typed(common_set)
        .doc("The elements of one set that another has not."),
        Builtin::new("setunion", vec![p("first_set", any_set()).dynamic()], any_set(), |a, _| {
            combine(a, true, |result, other| result.extend_from_slice(other.elements()))
        })
        .variadic(p("other_sets", any_set()).dynamic())
        .typed(common_set)
        .doc("The elements of all sets."),
        Builtin::new("setproduct", vec![], Type::Dynamic, product)
            .variadic(
                any("sets")
                    .unknown()
                    .marked()
                    .about("The sets to combine; of lists and tuples alone, the result keeps their order."),
            )
            .typed(product_type)
            .doc("All combinations of one element from each."),
    ]
}

/// Keeps the elements that another set has, or those that it has not.
fn keep(elements: &mut Vec<Value>, other: &Value, present: bool) {
    let mut by_key: HashMap<String, Vec<&Value>> = HashMap::new();
    for value in other.elements() {
        by_key.entry(set::hash_key(value)).or_default().push(value);
    }
    elements.retain(|v| by_key.get(&set::hash_key(v)).is_some_and(|same| same.contains(&v)) == present);
}

fn common_set(a: &[Value]) -> TypeOutcome {
    let counts = |v: &&Value| !(v.is_known() && v.is_empty() && v.ty().element_type().is_some_and(Type::is_dynamic));
    let elements: Vec<Type> = a.iter().filter(counts).filter_map(|v| v.ty().element_type()).cloned().collect();
    if elements.is_empty() {
        return Ok(Type::set(Type::Dynamic));
    }
    match unify_unsafe(&elements) {
        Some(element) => Ok(Type::set(element)),
        None => fail(INCOMPATIBLE),
    }
}

const INCOMPATIBLE: &str = "given sets must all have compatible element types";

/// `keeps_unknowns`: whether the result is known even where elements are not.
fn combine(a: &[Value], keeps_unknowns: bool, f: fn(&mut Vec<Value>, &Value)) -> Outcome {
    let ty = common_set(a)?;
    if !keeps_unknowns && a.iter().any(|v| !v.is_wholly_known()) {
        return Ok(Value::unknown_not_null(ty));
    }
    let converted: Result<Vec<Value>, _> = a.iter().map(|v| convert(v, &ty)).collect();
    let converted = converted.map_err(|e| FunctionError::new(e.message))?;
    // What "any" is in the common type may still be different types.
    let element = converted[0].ty().element_type().cloned().unwrap_or(Type::Dynamic);
    if converted[1..].iter().any(|other| other.ty() != converted[0].ty()) {
        return fail(INCOMPATIBLE);
    }
    let mut result = converted[0].elements().to_vec();
    converted[1..].iter().for_each(|other| f(&mut result, other));
    Ok(Value::set(element, result))
}

fn product_type(a: &[Value]) -> TypeOutcome {
    if a.len() < 2 {
        return fail("at least two arguments are required");
    }
    let mut elements = Vec::with_capacity(a.len());
    let mut ordered = true;
    for (i, arg) in a.iter().enumerate() {
        match arg.ty() {
            Type::Set(t) => {
                ordered = false;
                elements.push((**t).clone());
            }
            Type::List(t) => elements.push((**t).clone()),
            Type::Tuple(types) if types.is_empty() => elements.push(Type::Dynamic),
            Type::Tuple(types) => match unify_unsafe(types) {
                Some(common) => elements.push(common),
                None => return fail_argument(i, DIFFERENT),
            },
            _ => return fail_argument(i, "a set or a list is required"),
        }
    }
    let row = Type::tuple(elements);
    Ok(if ordered { Type::list(row) } else { Type::set(row) })
}

const DIFFERENT: &str = "all elements must be of the same type";

fn product(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = product_type(a)?;
    let marks = a.iter().fold(Marks::NONE, |m, v| m | v.marks());
    let lengths: Option<Vec<usize>> = a.iter().map(|v| v.length().as_number()?.as_usize()).collect();
    let Some(lengths) = lengths else { return Ok(Value::unknown_not_null(ty).mark(marks)) };
    let total: Option<usize> = lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length));
    let Some(total) = total.filter(|n| *n <= 2_000_000) else {
        return fail("the result would have too many elements");
    };
    // The length of a tuple, and of some collections, is known while its elements are not.
    if total > 0 && !a.iter().all(Value::is_known) {
        let facts = Refinement::not_null().with_length(1, Some(total as u64));
        return Ok(Value::unknown_refined(ty, facts).mark(marks));
    }
    let row = ty.element_type().cloned().unwrap_or(Type::Dynamic);
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for (i, (arg, element)) in a.iter().zip(row.tuple_elements().unwrap_or_default()).enumerate() {
        let mut parts: Vec<Value> = Vec::with_capacity(arg.len());
        for v in arg.elements() {
            parts.push(convert(v, element).map_err(|e| FunctionError::new(e.message))?);
        }
        if parts.iter().any(|v| v.ty() != parts[0].ty()) {
            return fail_argument(i, DIFFERENT);
        }
        rows = rows
            .iter()
            .flat_map(|row| parts.iter().map(move |v| row.iter().cloned().chain([v.clone()]).collect()))
            .collect();
    }
    let rows: Vec<Value> = rows.into_iter().map(Value::tuple).collect();
    Ok(match ty {
        Type::Set(_) => Value::set(row, rows),
        _ => Value::list(row, rows),
    }
    .mark(marks))
}
