//! Functions of types and marks: conversion, sensitivity, and what needs the evaluator to know it by name.

use std::convert::Infallible;

use terrane_value::convert::{conversion_exists, convert};
use terrane_value::{Marks, Type, Value};

use super::builtin::{Allow, Builtin, Outcome, TypeOutcome, any, fail, fail_argument, quoted};
use super::signature::FunctionError;

pub(super) fn table() -> Vec<Builtin> {
    let mut all = vec![
        conversion("tobool", Type::Bool, |a| converted_type(a, &Type::Bool), |a, _| to(a, &Type::Bool)),
        conversion("tonumber", Type::Number, |a| converted_type(a, &Type::Number), |a, _| to(a, &Type::Number)),
        conversion("tostring", Type::String, |a| converted_type(a, &Type::String), |a, _| to(a, &Type::String)),
        conversion(
            "tolist",
            Type::list(Type::Dynamic),
            |a| converted_type(a, &Type::list(Type::Dynamic)),
            |a, _| to(a, &Type::list(Type::Dynamic)),
        ),
        conversion(
            "toset",
            Type::set(Type::Dynamic),
            |a| converted_type(a, &Type::set(Type::Dynamic)),
            |a, _| to(a, &Type::set(Type::Dynamic)),
        ),
        conversion(
            "tomap",
            Type::map(Type::Dynamic),
            |a| converted_type(a, &Type::map(Type::Dynamic)),
            |a, _| to(a, &Type::map(Type::Dynamic)),
        ),
    ];
    all.extend(marking());
    // The evaluator knows these by name: their arguments may fail, or are no values.
    all.push(
        Builtin::new("try", vec![], Type::Dynamic, |_, _| fail("at least one argument is required"))
            .variadic(any("expressions"))
            .typed(|_| Ok(Type::Dynamic))
            .may_be_null()
            .doc("The first of its arguments that has no errors."),
    );
    all.push(
        Builtin::new("convert", vec![any("value").everything(), any("type").everything()], Type::Dynamic, |_, _| {
            fail("a type is required")
        })
        .typed(|_| Ok(Type::Dynamic))
        .may_be_null()
        .doc("The value converted to a type, written as in the declaration of a variable."),
    );
    all.push(
        Builtin::new("can", vec![any("expression")], Type::Bool, |_, _| Ok(Value::bool(true)))
            .doc("Whether its argument has no errors."),
    );
    all
}

pub(super) fn removed() -> Vec<Builtin> {
    vec![
        Builtin::new("list", vec![], Type::Dynamic, |_, _| {
            fail("the \"list\" function was deprecated in Terraform v0.12 and is no longer available; use tolist([ ... ]) syntax to write a literal list")
        })
        .variadic(any("vals").everything()),
        Builtin::new("map", vec![], Type::Dynamic, |_, _| {
            fail("the \"map\" function was deprecated in Terraform v0.12 and is no longer available; use tomap({ ... }) syntax to write a literal map")
        })
        .variadic(any("vals").everything()),
    ]
}

fn conversion(
    name: &'static str,
    ty: Type,
    of: fn(&[Value]) -> TypeOutcome,
    body: super::builtin::FunctionBody,
) -> Builtin {
    Builtin::new(name, vec![any("v").everything()], ty, body)
        .typed(of)
        .may_be_null()
        .doc("The value converted to the type that the function is named after.")
}

fn converted_type(a: &[Value], want: &Type) -> TypeOutcome {
    to(a, want).map(|v| v.ty().clone())
}

fn to(a: &[Value], want: &Type) -> Outcome {
    let value = &a[0];
    let bare = value.clone().with_marks(Marks::NONE);
    if !value.is_known() {
        // Nothing else is known of the result, not even the elements' type.
        return match conversion_exists(value.ty(), want, true) {
            true => Ok(Value::unknown(want.clone()).mark(value.marks())),
            false => refuse(value, want),
        };
    }
    match convert(&bare, want) {
        Ok(converted) => Ok(converted.mark(value.marks())),
        Err(_) => refuse(value, want),
    }
}

fn refuse(value: &Value, want: &Type) -> Outcome {
    let (have, wanted) = (value.ty().friendly_name(), want.friendly_name_for_constraint());
    if !conversion_exists(value.ty(), want, true) {
        return fail_argument(0, format!("cannot convert {have} to {wanted}"));
    }
    let shown = || quoted(value.as_str().unwrap_or_default());
    let message = match (value.ty(), want) {
        _ if value.is_sensitive() => format!("cannot convert this sensitive {have} to {wanted}"),
        _ if value.marks().contains(Marks::EPHEMERAL) => format!("cannot convert this ephemeral {have} to {wanted}"),
        (Type::String, Type::Bool) => {
            format!("cannot convert {} to bool; only the strings \"true\" or \"false\" are allowed", shown())
        }
        (Type::String, Type::Number) => {
            format!("cannot convert {} to number; given string must be a decimal representation of a number", shown())
        }
        _ => format!("cannot convert {have} to {wanted}"),
    };
    fail_argument(0, message)
}

fn marking() -> Vec<Builtin> {
    let same_type: fn(&[Value]) -> Result<Type, FunctionError> = |a| Ok(a[0].ty().clone());
    vec![
        Builtin::new("sensitive", vec![any("value").everything()], Type::Dynamic, |a, _| {
            Ok(a[0].clone().mark(Marks::SENSITIVE))
        })
        .typed(same_type)
        .may_be_null()
        .doc("The value, marked as one that must not be shown."),
        Builtin::new("nonsensitive", vec![any("value").everything()], Type::Dynamic, |a, _| {
            Ok(a[0].clone().with_marks(a[0].marks().without(Marks::SENSITIVE)))
        })
        .typed(same_type)
        .may_be_null()
        .doc("The value, which may be shown after all."),
        Builtin::new("issensitive", vec![any("value").everything()], Type::Bool, |a, _| {
            Ok(match (a[0].is_sensitive(), a[0].is_known()) {
                (true, _) => Value::bool(true),
                (false, true) => Value::bool(false),
                // What becomes known later may turn out to be sensitive.
                (false, false) => Value::unknown(Type::Bool),
            })
        })
        .may_be_null()
        .doc("Whether the value is marked as one that must not be shown."),
        Builtin::new("ephemeralasnull", vec![any("value").everything()], Type::Dynamic, |a, _| {
            Ok(without_ephemeral(&a[0]))
        })
        .typed(same_type)
        .may_be_null()
        .doc("The value, with null in place of what must not be saved."),
    ]
}

fn without_ephemeral(value: &Value) -> Value {
    if !value.deep_marks().contains(Marks::EPHEMERAL) {
        return value.clone();
    }
    let replaced = value.transform::<Infallible>(&mut |_, v| {
        let rest = v.marks().without(Marks::EPHEMERAL);
        Ok(if v.marks().contains(Marks::EPHEMERAL) && !v.is_known() {
            // Its final type may say more than its type now, so it cannot be a null of that type.
            Value::unknown(v.ty().clone()).mark(rest)
        } else if v.marks().contains(Marks::EPHEMERAL) {
            Value::null(v.ty().clone()).mark(rest)
        } else {
            v
        })
    });
    match replaced {
        Ok(v) => v,
        Err(never) => match never {},
    }
}
