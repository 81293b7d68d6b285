//! The functions that tell what an unknown value will turn out to be like. What they assume is checked as soon as the
//! value is known. Newer than the reference: texts and rules are OpenTofu's.

use terrane_value::convert::convert;
use terrane_value::unknown::safe_prefix;
use terrane_value::{Marks, Refinement, Type, Value};

use super::builtin::{Allow as _, Builtin, Outcome, any, fail_argument, num, number, p, string, text};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let value = |ty: Type| p("value", ty).null().unknown().dynamic();
    let mut all = vec![
        Builtin::new(
            "assumeequal",
            vec![any("actual_value").everything(), any("expected_value").everything()],
            Type::Dynamic,
            equal,
        )
        .typed(|a| Ok(a[1].ty().clone()))
        .may_be_null()
        .doc("The second value, which the first is assumed to be equal to."),
        Builtin::new("assumenotnull", vec![value(Type::Dynamic)], Type::Dynamic, not_null)
            .typed(|a| Ok(a[0].ty().clone()))
            .may_be_null()
            .doc("The value, assumed not to be null."),
        Builtin::new("assumestringprefix", vec![value(Type::String), string("prefix")], Type::String, prefix)
            .may_be_null()
            .doc("The string, assumed to begin with a prefix."),
    ];
    let list = || Type::list(Type::Dynamic);
    let set = || Type::set(Type::Dynamic);
    let map = || Type::map(Type::Dynamic);
    for (ty, both, least, most) in [
        (list(), "assumelistlength", "assumelistlengthmin", "assumelistlengthmax"),
        (set(), "assumesetlength", "assumesetlengthmin", "assumesetlengthmax"),
        (map(), "assumemaplength", "assumemaplengthmin", "assumemaplengthmax"),
    ] {
        let lengths =
            |name: &'static str, bounds: Vec<super::Param>, body: super::builtin::FunctionBody, doc: &'static str| {
                let params = std::iter::once(value(ty.clone())).chain(bounds).collect();
                Builtin::new(name, params, ty.clone(), body).typed(|a| Ok(a[0].ty().clone())).may_be_null().doc(doc)
            };
        all.push(lengths(
            both,
            vec![number("min_length"), number("max_length")],
            |a, _| length(a, Some(bound(a, 1)?), Some(bound(a, 2)?)),
            "The collection, assumed to have a length within bounds.",
        ));
        all.push(lengths(
            least,
            vec![number("min_length")],
            |a, _| length(a, Some(bound(a, 1)?), None),
            "The collection, assumed to have at least so many elements.",
        ));
        all.push(lengths(
            most,
            vec![number("max_length")],
            |a, _| length(a, None, Some(bound(a, 1)?)),
            "The collection, assumed to have at most so many elements.",
        ));
    }
    all
}

fn refuted<T>() -> Result<T, FunctionError> {
    fail_argument(0, "assumption was not upheld")
}

fn equal(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (actual, expected) = (&a[0], &a[1]);
    let Ok(actual) = convert(actual, expected.ty()) else {
        let (have, want) = (actual.ty().friendly_name(), expected.ty().friendly_name());
        return fail_argument(0, format!("actual value type {have} does not match assumed value type {want}"));
    };
    let (equal, _) = actual.equals(expected).unmark();
    if equal.as_bool() == Some(false) {
        return fail_argument(0, "the actual value does not match the assumed value");
    }
    // Where the value came from does not matter any more: it is the assumed one.
    Ok(expected.clone().mark(actual.marks().without(Marks::SENSITIVE | Marks::EPHEMERAL)))
}

fn not_null(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if a[0].ty().is_dynamic() {
        let message = "given value must have a known type; consider using the \\\"convert\\\" function to specify a type to assume";
        return fail_argument(0, message);
    }
    if a[0].is_null() { refuted() } else { Ok(a[0].refine_not_null()) }
}

fn prefix(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (value, wanted) = (&a[0], text(a, 1));
    if let Some(known) = value.as_str() {
        return if known.starts_with(wanted) { Ok(value.clone()) } else { refuted() };
    }
    if value.is_known() {
        return refuted();
    }
    let mut facts = value.refinement().cloned().unwrap_or_default();
    let old = facts.string_prefix.clone().unwrap_or_default();
    let new = safe_prefix(wanted);
    if old.starts_with(new) {
        return Ok(value.clone());
    }
    if !new.starts_with(&*old) {
        return refuted();
    }
    facts = facts.with_prefix(new);
    Ok(Value::unknown_refined(Type::String, facts))
}

fn bound(a: &[Value], i: usize) -> Result<u64, FunctionError> {
    let largest = i64::MAX;
    match num(a, i).as_i64() {
        Some(n) if n < largest => Ok(u64::try_from(n).unwrap_or(0)),
        _ => fail_argument(i, format!("must be a whole number between 0 and {largest}")),
    }
}

fn length(a: &[Value], min: Option<u64>, max: Option<u64>) -> Outcome {
    let value = &a[0];
    let fits = |n: u64| min.is_none_or(|min| n >= min) && max.is_none_or(|max| n <= max);
    if value.is_null() {
        return refuted();
    }
    if value.is_known() {
        let counted = value.length();
        let known = counted.as_i64().and_then(|n| u64::try_from(n).ok());
        return if known.is_none_or(fits) { Ok(value.clone()) } else { refuted() };
    }
    if !value.ty().is_collection() {
        return Ok(value.clone());
    }
    let facts = value.refinement().cloned().unwrap_or_default();
    let min = min.unwrap_or(0).max(facts.length_min);
    let max = [max, facts.length_max].into_iter().flatten().min();
    if max.is_some_and(|max| max < min) {
        return refuted();
    }
    let facts = Refinement { length_min: min, length_max: max, ..facts };
    Ok(Value::unknown_refined(value.ty().clone(), facts))
}
