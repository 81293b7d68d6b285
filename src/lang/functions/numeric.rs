//! Functions of numbers.

use num_bigint::BigInt;
use terrane_value::convert::convert;
use terrane_value::{Number, Type, Value};

use super::builtin::{
    Allow, Builtin, Outcome, any, fail, fail_argument, int, int_argument, num, number, p, quoted, text,
};
use super::go_math;
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let n = Type::Number;
    vec![
        Builtin::new("abs", vec![number("num").dynamic().marked()], n.clone(), |a, _| {
            Ok(Value::number(num(a, 0).abs()).mark(a[0].marks()))
        })
        .doc("The number without its sign."),
        Builtin::new("ceil", vec![number("num")], n.clone(), |a, _| Ok(Value::number(num(a, 0).ceil())))
            .doc("The nearest whole number that is not less."),
        Builtin::new("floor", vec![number("num")], n.clone(), |a, _| Ok(Value::number(num(a, 0).floor())))
            .doc("The nearest whole number that is not greater."),
        Builtin::new("log", vec![number("num"), number("base")], n.clone(), log)
            .doc("The logarithm of a number in a base."),
        Builtin::new("pow", vec![number("num"), number("power")], n.clone(), |a, _| {
            float(go_math::pow(num(a, 0).as_f64(), num(a, 1).as_f64()))
        })
        .doc("A number raised to a power."),
        Builtin::new("signum", vec![number("num")], n.clone(), |a, _| Ok(Value::int(int(a, 0)?.signum())))
            .doc("-1, 0 or 1: the sign of a number."),
        Builtin::new("max", vec![], n.clone(), |a, _| extreme(a, |a, b| a < b))
            .variadic(number("numbers").dynamic())
            .doc("The greatest of the numbers."),
        Builtin::new("min", vec![], n.clone(), |a, _| extreme(a, |a, b| a > b))
            .variadic(number("numbers").dynamic())
            .doc("The least of the numbers."),
        Builtin::new("parseint", vec![any("number"), number("base")], Type::Dynamic, parse_int)
            .typed(|a| match a[0].ty() {
                Type::String => Ok(Type::Number),
                other => fail_argument(0, format!("first argument must be a string, not {}", other.friendly_name())),
            })
            .doc("Reads a whole number written in a base from 2 to 62."),
        Builtin::new("sum", vec![any("list")], Type::Dynamic, sum)
            .typed(|_| Ok(Type::Number))
            .doc("The sum of the numbers of a list, set or tuple."),
        Builtin::new("range", vec![], Type::list(n.clone()), range)
            .variadic(p("params", n))
            .doc("Numbers from a start up to, but without, a limit."),
    ]
}

fn float(f: f64) -> Outcome {
    if f.is_nan() { fail("result is not a number") } else { Ok(Value::number(f)) }
}

fn log(a: &[Value], _: &CallContext<'_>) -> Outcome {
    float(go_math::log(num(a, 0).as_f64()) / go_math::log(num(a, 1).as_f64()))
}

fn extreme(args: &[Value], replace: fn(&Number, &Number) -> bool) -> Outcome {
    let Some(first) = args.first() else { return fail("must pass at least one number") };
    let mut best = first;
    for candidate in &args[1..] {
        if let (Some(a), Some(b)) = (best.as_number(), candidate.as_number())
            && replace(a, b)
        {
            best = candidate;
        }
    }
    Ok(best.clone())
}

fn parse_int(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let source = text(a, 0);
    if a[0].as_str().is_none() {
        return fail_argument(0, format!("first argument must be a string, not {}", a[0].ty().friendly_name()));
    }
    let base = match int_argument(a, 1) {
        Ok(base @ 2..=62) => base as u32,
        Ok(_) => return fail_argument(1, "base must be a whole number between 2 and 62 inclusive"),
        Err(e) => return Err(e),
    };
    let bad = || FunctionError::argument(0, format!("cannot parse {} as a base {base} integer", quoted(source)));
    let (negative, digits) = match source.as_bytes().first() {
        Some(b'-') => (true, &source[1..]),
        Some(b'+') => (false, &source[1..]),
        _ => (false, source),
    };
    if digits.is_empty() {
        return Err(bad());
    }
    let mut values = Vec::with_capacity(digits.len());
    for c in digits.chars() {
        let digit = match c {
            '0'..='9' => c as u32 - '0' as u32,
            'a'..='z' => c as u32 - 'a' as u32 + 10,
            'A'..='Z' if base <= 36 => c as u32 - 'A' as u32 + 10,
            'A'..='Z' => c as u32 - 'A' as u32 + 36,
            _ => return Err(bad()),
        };
        if digit >= base {
            return Err(bad());
        }
        values.push(digit as u8);
    }
    let value = BigInt::from_radix_be(num_bigint::Sign::Plus, &values, base).ok_or_else(bad)?;
    Ok(Value::number(Number::from_bigint(&if negative { -value } else { value })))
}

fn sum(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let list = &a[0];
    if !list.can_iterate() {
        return fail_argument(0, "cannot sum noniterable");
    }
    if list.is_empty() {
        return fail_argument(0, "cannot sum an empty list");
    }
    if !matches!(list.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_)) {
        let got = list.ty().friendly_name();
        return fail_argument(0, format!("argument must be list, set, or tuple. Received {got}"));
    }
    if !list.is_wholly_known() {
        return Ok(Value::unknown_not_null(Type::Number));
    }
    let mut total: Option<Value> = None;
    for element in list.elements() {
        let n = match convert(element, &Type::Number) {
            Ok(n) if !n.is_null() => n,
            _ => return fail_argument(0, "argument must be list, set, or tuple of number values"),
        };
        total = Some(match total {
            None => n,
            Some(total) => total.add(&n).map_err(|_| FunctionError::new("can't compute sum of opposing infinities"))?,
        });
    }
    Ok(total.unwrap_or_else(|| Value::int(0)))
}

fn range(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let zero = Number::zero();
    let one = Number::literal(1);
    let step_to = |start: &Number, end: &Number| if end < start { one.neg() } else { one.clone() };
    let (start, end, step) = match a.len() {
        1 => (zero.clone(), num(a, 0), step_to(&zero, &num(a, 0))),
        2 => (num(a, 0), num(a, 1), step_to(&num(a, 0), &num(a, 1))),
        3 => (num(a, 0), num(a, 1), num(a, 2)),
        _ => return fail("must have one, two, or three arguments"),
    };
    let down = step.is_negative();
    if down && end > start {
        return fail_argument(2, "end must be less than start when step is negative");
    }
    if !down && end < start {
        return fail_argument(2, "end must be greater than start when step is positive");
    }
    let mut values = Vec::new();
    let mut current = start;
    while if down { current > end } else { current < end } {
        if values.len() >= 1024 {
            return fail(
                "more than 1024 values were generated; either decrease the difference between start and end or use a smaller step",
            );
        }
        values.push(Value::number(current.clone()));
        match current.add(&step) {
            Some(next) => current = next,
            None => break,
        }
    }
    Ok(Value::list(Type::Number, values))
}
