//! Functions of lists and tuples.

use std::collections::HashMap;

use terrane_value::convert::convert;
use terrane_value::unify::unify_unsafe;
use terrane_value::{Marks, Refinement, Type, Value, set};

use super::builtin::{Allow, Builtin, Outcome, TypeOutcome, any, fail, fail_argument, num, number, p, whole};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let any_list = || Type::list(Type::Dynamic);
    let texts = || Type::list(Type::String);
    let mut all = vec![
        Builtin::new(
            "chunklist",
            vec![
                p("list", any_list()).marked(),
                number("size").marked().about("How many elements a chunk has; the last may have fewer."),
            ],
            Type::list(any_list()),
            chunk,
        )
        .typed(|a| Ok(Type::list(a[0].ty().clone())))
        .doc("A list cut into lists of a size."),
        Builtin::new("coalescelist", vec![], Type::Dynamic, coalesce_list)
            .variadic(
                any("vals")
                    .null()
                    .unknown()
                    .dynamic()
                    .about("Lists or tuples, of which the first with an element is taken."),
            )
            .typed(coalesce_list_type)
            .doc("The first of its arguments that is not empty."),
        Builtin::new("compact", vec![p("list", texts())], texts(), compact)
            .doc("A list of strings without empty and null ones."),
        Builtin::new("concat", vec![], Type::Dynamic, concat)
            .variadic(any("seqs").marked())
            .typed(concat_type)
            .doc("All lists or tuples as one."),
        Builtin::new("distinct", vec![p("list", any_list())], any_list(), distinct)
            .typed(|a| Ok(a[0].ty().clone()))
            .doc("A list without repetitions."),
        Builtin::new("element", vec![any("list").marked(), number("index")], Type::Dynamic, element)
            .typed(element_type)
            .may_be_null()
            .doc("An element by its index, which wraps around at the end."),
        Builtin::new("flatten", vec![any("list").marked()], Type::Dynamic, flatten)
            .typed(|_| Ok(Type::Dynamic))
            .doc("A list in place of lists of lists."),
        Builtin::new("index", vec![any("list"), any("value")], Type::Dynamic, index)
            .typed(|_| Ok(Type::Number))
            .doc("Where in a list a value is."),
        Builtin::new(
            "matchkeys",
            vec![p("values", any_list()), p("keys", any_list()), p("searchset", any_list())],
            any_list(),
            match_keys,
        )
        .typed(|a| match_keys_type(a).map(|_| a[0].ty().clone()))
        .doc("The values whose keys are in a set."),
        Builtin::new("reverse", vec![any("list").marked()], Type::Dynamic, reverse)
            .typed(reverse_type)
            .doc("A list in reverse order."),
    ];
    all.extend([
        Builtin::new(
            "slice",
            vec![any("list").marked(), number("start_index"), number("end_index")],
            Type::Dynamic,
            slice,
        )
        .typed(slice_type)
        .doc("Part of a list, from a start up to, but without, an end."),
        Builtin::new("sort", vec![p("list", texts()).unknown()], texts(), sort).doc("Strings in order."),
        Builtin::new("one", vec![any("list")], Type::Dynamic, one)
            .typed(one_type)
            .may_be_null()
            .doc("The only element, or null where there is none."),
        Builtin::new("alltrue", vec![p("list", Type::list(Type::Bool))], Type::Bool, all_true)
            .doc("Whether all elements are true."),
        Builtin::new("anytrue", vec![p("list", Type::list(Type::Bool))], Type::Bool, any_true)
            .doc("Whether at least one element is true."),
    ]);
    all
}

fn is_sequence(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Tuple(_))
}

fn is_iterable_sequence(ty: &Type) -> bool {
    is_sequence(ty) || ty.is_set()
}

fn chunk(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let marks = a[0].marks() | a[1].marks();
    let size = whole(&num(a, 1)).map_err(|e| FunctionError::new(format!("invalid size: {e}")))?;
    let Ok(size) = usize::try_from(size) else { return fail("the size argument must be positive") };
    let list = &a[0];
    let element = list.ty().element_type().cloned().unwrap_or(Type::Dynamic);
    let size = if size == 0 { list.len().max(1) } else { size };
    let chunks = list.elements().chunks(size).map(|c| Value::list(element.clone(), c.to_vec())).collect();
    Ok(Value::list(list.ty().clone(), chunks).mark(marks))
}

fn coalesce_list_type(a: &[Value]) -> TypeOutcome {
    if a.is_empty() {
        return fail("at least one argument is required");
    }
    for arg in a {
        if !arg.is_known() {
            return Ok(Type::Dynamic);
        }
        if !is_sequence(arg.ty()) {
            return fail("coalescelist arguments must be lists or tuples");
        }
    }
    let first = a[0].ty();
    Ok(if a.iter().all(|v| v.ty() == first) { first.clone() } else { Type::Dynamic })
}

fn coalesce_list(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = coalesce_list_type(a)?;
    for arg in a {
        if !arg.is_known() {
            return Ok(Value::unknown(ty));
        }
        if !arg.is_null() && !arg.is_empty() {
            return Ok(arg.clone());
        }
    }
    fail("no non-null arguments")
}

fn compact(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if !a[0].is_wholly_known() {
        return Ok(Value::unknown_not_null(Type::list(Type::String)));
    }
    let kept = a[0].elements().iter().filter(|v| v.as_str().is_some_and(|s| !s.is_empty())).cloned();
    Ok(Value::list(Type::String, kept.collect()))
}

fn concat_type(a: &[Value]) -> TypeOutcome {
    if a.is_empty() {
        return fail("at least one argument is required");
    }
    if a.iter().all(|v| v.ty().is_list()) {
        let types: Vec<Type> = a.iter().map(|v| v.ty().clone()).collect();
        if let Some(common @ Type::List(_)) = unify_unsafe(&types) {
            return Ok(common);
        }
    }
    let mut elements = Vec::new();
    for (i, arg) in a.iter().enumerate() {
        match arg.ty() {
            Type::Tuple(types) => elements.extend(types.iter().cloned()),
            Type::List(_) if !arg.is_known() => return Ok(Type::Dynamic),
            Type::List(t) => elements.extend(std::iter::repeat_n((**t).clone(), arg.len())),
            other => {
                let got = other.friendly_name();
                return fail_argument(i, format!("all arguments must be lists or tuples; got {got}"));
            }
        }
    }
    Ok(Type::tuple(elements))
}

fn concat(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = concat_type(a)?;
    let marks = a.iter().fold(Marks::NONE, |m, v| m | v.marks());
    let mut all = Vec::with_capacity(a.iter().map(Value::len).sum());
    for arg in a {
        if !arg.is_known() {
            return Ok(Value::unknown_not_null(ty).mark(marks));
        }
        if let Type::List(_) = ty {
            let converted = convert(arg, &ty).map_err(|e| FunctionError::new(e.message))?;
            all.extend_from_slice(converted.elements());
        } else {
            all.extend_from_slice(arg.elements());
        }
    }
    Ok(match ty {
        Type::List(element) => Value::list((*element).clone(), all),
        _ => Value::tuple(all),
    }
    .mark(marks))
}

fn distinct(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let list = &a[0];
    if !list.is_wholly_known() {
        return Ok(Value::unknown_not_null(list.ty().clone()));
    }
    let mut seen: HashMap<String, Vec<usize>> = HashMap::new();
    let mut kept: Vec<Value> = Vec::new();
    for value in list.elements() {
        let bucket = seen.entry(set::hash_key(value)).or_default();
        if !bucket.iter().any(|i| kept[*i] == *value) {
            bucket.push(kept.len());
            kept.push(value.clone());
        }
    }
    Ok(Value::list(list.ty().element_type().cloned().unwrap_or(Type::Dynamic), kept))
}

/// An index brought into range: it wraps around at both ends.
fn wrapped(index: &Value, length: usize) -> Result<usize, FunctionError> {
    let index = whole(&index.as_number().cloned().unwrap_or_else(terrane_value::Number::zero))
        .map_err(|e| FunctionError::new(format!("invalid index: {e}")))?;
    if length == 0 {
        return fail("cannot use element function with an empty list");
    }
    Ok(index.rem_euclid(length as i64) as usize)
}

fn element_type(a: &[Value]) -> TypeOutcome {
    match a[0].ty() {
        Type::List(t) => Ok((**t).clone()),
        Type::Tuple(_) if !a[1].is_known() => Ok(Type::Dynamic),
        Type::Tuple(types) => Ok(types[wrapped(&a[1], types.len())?].clone()),
        other => fail(format!("cannot read elements from {}", other.friendly_name())),
    }
}

fn element(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = element_type(a)?;
    let list = &a[0];
    let found = match list.is_known() {
        true => list.elements()[wrapped(&a[1], list.len())?].clone(),
        false => Value::unknown(ty),
    };
    Ok(found.mark(list.marks()))
}

/// The elements of nested sequences; nothing where unknowns leave their number open. Collects marks on the way.
fn flattened(list: &Value, marks: &mut Marks, out: &mut Vec<Value>) -> bool {
    *marks |= list.marks();
    if !list.is_known() || !list.length().is_known() {
        return false;
    }
    let mut known = true;
    for value in list.elements().iter().chain(list.entries().values()) {
        if !value.is_null() && is_iterable_sequence(value.ty()) {
            known = flattened(value, marks, out) && known;
        } else {
            if value.ty().is_dynamic() && !value.is_known() {
                // It may turn out to be a list, whose marks the result gets.
                *marks |= value.marks();
                known = false;
            }
            out.push(value.clone());
        }
    }
    known
}

fn flatten(a: &[Value], _: &CallContext<'_>) -> Outcome {
    // Observed: maps and objects are refused only once all that is in them is known.
    if a[0].is_wholly_known() && !is_iterable_sequence(a[0].ty()) {
        return fail("can only flatten lists, sets and tuples");
    }
    let (mut marks, mut out) = (Marks::NONE, Vec::new());
    Ok(if flattened(&a[0], &mut marks, &mut out) { Value::tuple(out) } else { Value::dynamic() }.mark(marks))
}

fn sequence_only(a: &[Value]) -> Result<(), FunctionError> {
    if is_sequence(a[0].ty()) { Ok(()) } else { fail("argument must be a list or tuple") }
}

fn index(a: &[Value], _: &CallContext<'_>) -> Outcome {
    sequence_only(a)?;
    if a[0].is_empty() {
        return fail("cannot search an empty list");
    }
    for (i, value) in a[0].elements().iter().enumerate() {
        let equal = value.equals(&a[1]);
        if !equal.is_known() {
            return Ok(Value::unknown_not_null(Type::Number));
        }
        if equal.is_true() {
            return Ok(Value::int(i as i64));
        }
    }
    fail("item not found")
}

fn match_keys_type(a: &[Value]) -> TypeOutcome {
    unify_unsafe(&[a[1].ty().clone(), a[2].ty().clone()])
        .ok_or_else(|| FunctionError::new("keys and searchset must be of the same type"))
}

fn match_keys(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let common = match_keys_type(a)?;
    let ty = a[0].ty().clone();
    let element = ty.element_type().cloned().unwrap_or(Type::Dynamic);
    if a[0].len() != a[1].len() {
        return fail("length of keys and values should be equal");
    }
    let converted = |v: &Value| convert(v, &common).map_err(|e| FunctionError::new(e.message));
    let (keys, wanted) = (converted(&a[1])?, converted(&a[2])?);
    if wanted.is_empty() {
        return Ok(Value::list(element, Vec::new()));
    }
    if !a[0].is_wholly_known() || !keys.is_wholly_known() {
        return Ok(Value::unknown_not_null(ty));
    }
    let mut buckets: HashMap<String, Vec<&Value>> = HashMap::new();
    for value in wanted.elements() {
        if !value.is_wholly_known() {
            // Observed: one unknown to search for, and nothing is found.
            return Ok(Value::list(element, Vec::new()));
        }
        buckets.entry(set::hash_key(value)).or_default().push(value);
    }
    let is_wanted = |key: &Value| buckets.get(&set::hash_key(key)).is_some_and(|b| b.contains(&key));
    let pairs = keys.elements().iter().zip(a[0].elements());
    let kept = pairs.filter(|(key, _)| is_wanted(key)).map(|(_, v)| v.clone());
    Ok(Value::list(element, kept.collect()))
}

fn reverse_type(a: &[Value]) -> TypeOutcome {
    match a[0].ty() {
        Type::Tuple(types) => Ok(Type::tuple(types.iter().rev().cloned())),
        Type::List(t) | Type::Set(t) => Ok(Type::List(t.clone())),
        other => fail_argument(0, format!("can only reverse list or tuple values, not {}", other.friendly_name())),
    }
}

fn reverse(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = reverse_type(a)?;
    if !a[0].is_known() {
        return Ok(Value::unknown_not_null(ty).mark(a[0].marks()));
    }
    let reversed = a[0].elements().iter().rev().cloned().collect();
    Ok(match ty {
        Type::List(t) => Value::list((*t).clone(), reversed),
        _ => Value::tuple(reversed),
    }
    .mark(a[0].marks()))
}

/// Both bounds, as far as they are known, checked against the length, as far as that is known.
fn slice_bounds(a: &[Value]) -> Result<Option<(usize, usize)>, FunctionError> {
    let length = match a[0].ty() {
        Type::Tuple(types) => Some(types.len()),
        _ if a[0].is_known() => Some(a[0].len()),
        _ => None,
    };
    let bound = |i: usize, name: &str| -> Result<Option<usize>, FunctionError> {
        let Some(n) = a[i].as_number() else { return Ok(None) };
        let n = whole(n).map_err(|e| FunctionError::argument(i, format!("invalid {name} index: {e}")))?;
        let Ok(n) = usize::try_from(n) else {
            return fail_argument(i, format!("{name} index must not be less than zero"));
        };
        if length.is_some_and(|length| n > length) {
            return fail_argument(i, format!("{name} index must not be greater than the length of the list"));
        }
        Ok(Some(n))
    };
    match (bound(1, "start")?, bound(2, "end")?) {
        (Some(start), Some(end)) if start > end => fail_argument(1, "start index must not be greater than end index"),
        (Some(start), Some(end)) => Ok(Some((start, end))),
        _ => Ok(None),
    }
}

fn slice_type(a: &[Value]) -> TypeOutcome {
    if a[0].ty().is_set() {
        return fail_argument(
            0,
            "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of the result is not important",
        );
    }
    if !is_sequence(a[0].ty()) {
        return fail_argument(0, "must be a list or tuple value");
    }
    let bounds = slice_bounds(a)?;
    Ok(match (a[0].ty(), bounds) {
        (Type::Tuple(types), Some((start, end))) => Type::tuple(types[start..end].iter().cloned()),
        (Type::Tuple(_), None) => Type::Dynamic,
        (ty, _) => ty.clone(),
    })
}

fn slice(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = slice_type(a)?;
    let Some((start, end)) = slice_bounds(a)? else { return Ok(Value::unknown_not_null(ty).mark(a[0].marks())) };
    if !a[0].is_known() {
        return Ok(Value::unknown_not_null(ty).mark(a[0].marks()));
    }
    let part = a[0].elements()[start..end].to_vec();
    Ok(match ty {
        Type::List(t) => Value::list((*t).clone(), part),
        _ => Value::tuple(part),
    }
    .mark(a[0].marks()))
}

fn sort(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let list = &a[0];
    if !list.is_wholly_known() {
        let length = list.length().as_i64().map(|n| n as u64);
        let facts = Refinement::not_null().with_length(length.unwrap_or(0), length);
        return Ok(Value::unknown_refined(Type::list(Type::String), facts));
    }
    if let Some(i) = list.elements().iter().position(Value::is_null) {
        return fail(format!("given list element {i} is null; a null string cannot be sorted"));
    }
    let mut sorted = list.elements().to_vec();
    sorted.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Ok(Value::list(Type::String, sorted))
}

fn one_type(a: &[Value]) -> TypeOutcome {
    match a[0].ty() {
        Type::List(t) | Type::Set(t) => Ok((**t).clone()),
        Type::Tuple(types) if types.is_empty() => Ok(Type::Dynamic),
        Type::Tuple(types) if types.len() == 1 => Ok(types[0].clone()),
        _ => not_one(),
    }
}

fn not_one<T>() -> Result<T, FunctionError> {
    fail_argument(0, "must be a list, set, or tuple value with either zero or one elements")
}

fn one(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let ty = one_type(a)?;
    match a[0].elements() {
        [] => Ok(Value::null(ty)),
        [only] => Ok(only.clone()),
        _ if !a[0].length().is_known() => Ok(Value::unknown(ty)),
        _ => not_one(),
    }
}

fn all_true(a: &[Value], _: &CallContext<'_>) -> Outcome {
    for value in a[0].elements() {
        if !value.is_known() {
            return Ok(Value::unknown_not_null(Type::Bool));
        }
        if !value.is_true() {
            return Ok(Value::bool(false));
        }
    }
    Ok(Value::bool(true))
}

fn any_true(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if a[0].elements().iter().any(Value::is_true) {
        return Ok(Value::bool(true));
    }
    let unknown = a[0].elements().iter().any(|v| !v.is_known());
    Ok(if unknown { Value::unknown_not_null(Type::Bool) } else { Value::bool(false) })
}
