//! `format` and `formatlist`: the language's printf.
//!
//! Owns the verbs. Widths count characters as people see them; numbers print as Go's formatting prints them.

use num_bigint::BigInt;
use num_traits::Signed;
use terrane_value::convert::convert;
use terrane_value::unknown::safe_prefix;
use terrane_value::{Number, Refinement, Type, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::builtin::{Allow, Builtin, Outcome, any, fail, fail_argument, quoted, string, text};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    vec![
        Builtin::new("format", vec![string("format")], Type::Dynamic, format)
            .variadic(any("args").null().unknown().dynamic())
            .typed(|_| Ok(Type::String))
            .doc("A string built from a format and values."),
        Builtin::new("formatlist", vec![string("format")], Type::Dynamic, format_list)
            .variadic(any("args").null().unknown().dynamic())
            .typed(|_| Ok(Type::list(Type::String)))
            .doc("As format, once for each element of the lists among the values."),
    ]
}

fn format(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let pattern = text(a, 0);
    if a[1..].iter().any(|v| !v.is_wholly_known()) {
        let known = pattern.split('%').next().filter(|k| k.len() < pattern.len()).unwrap_or_default();
        return Ok(Value::unknown_refined(Type::String, Refinement::not_null().with_prefix(safe_prefix(known))));
    }
    render(pattern, &a[1..]).map(Value::string)
}

/// One argument of `formatlist`: visited element by element, or the same for all results.
enum ArgumentValues<'v> {
    Each(&'v [Value]),
    Same(&'v Value),
}

fn format_list(a: &[Value], context: &CallContext<'_>) -> Outcome {
    let (pattern, args) = (text(a, 0), &a[1..]);
    if args.is_empty() {
        return Ok(Value::list(Type::String, vec![format(a, context)?]));
    }
    let mut length: Option<(usize, usize)> = None;
    let mut unknown = false;
    let mut sources = Vec::with_capacity(args.len());
    for (i, arg) in args.iter().enumerate() {
        let is_sequence = matches!(arg.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_)) && !arg.is_null();
        if !is_sequence {
            unknown = unknown || (!arg.is_known() && arg.ty().is_dynamic());
            sources.push(ArgumentValues::Same(arg));
            continue;
        }
        let Some(this) = arg.length().as_i64().map(|n| n as usize) else {
            unknown = true;
            continue;
        };
        match length {
            None => length = Some((this, i)),
            Some((other, first)) if other != this => {
                let message = format!(
                    "argument {} has length {this}, which is inconsistent with argument {} of length {other}",
                    i + 1,
                    first + 1
                );
                return fail_argument(i + 1, message);
            }
            Some(_) => {}
        }
        unknown = unknown || !arg.is_known();
        sources.push(ArgumentValues::Each(arg.elements()));
    }
    if unknown {
        return Ok(Value::unknown_not_null(Type::list(Type::String)));
    }
    let mut results = Vec::new();
    let mut bytes = 0;
    for i in 0..length.map_or(1, |(n, _)| n) {
        let row: Vec<Value> = sources
            .iter()
            .map(|s| match s {
                ArgumentValues::Each(elements) => elements[i].clone(),
                ArgumentValues::Same(v) => (*v).clone(),
            })
            .collect();
        if row.iter().any(|v| !v.is_wholly_known()) {
            results.push(Value::unknown_not_null(Type::String));
            continue;
        }
        let result = render(pattern, &row)
            .map_err(|e| FunctionError::new(format!("error on format iteration {i}: {}", e.message)))?;
        bytes += result.len();
        if bytes > MOST_BYTES {
            return fail("the result would be too long");
        }
        results.push(Value::string(result));
    }
    Ok(Value::list(Type::String, results))
}

/// One `%...` of a format.
#[derive(Default)]
struct Verb<'s> {
    raw: &'s str,
    offset: usize,
    /// Counted from one.
    argument: usize,
    mode: char,
    width: Option<usize>,
    precision: Option<usize>,
    zero: bool,
    minus: bool,
    plus: bool,
    space: bool,
    sharp: bool,
}

/// No result is longer. It would only take all memory.
const MOST_BYTES: usize = 256 << 20;

fn render(pattern: &str, args: &[Value]) -> Result<String, FunctionError> {
    let mut out = String::new();
    let (mut at, mut next, mut highest) = (0, 1, 0);
    while let Some(found) = pattern[at..].find('%') {
        out.push_str(&pattern[at..at + found]);
        let start = at + found;
        if pattern[start + 1..].starts_with('%') {
            out.push('%');
            at = start + 2;
            continue;
        }
        let verb = parse_verb(pattern, start, next)?;
        append(&verb, args, &mut out)?;
        if out.len() > MOST_BYTES {
            return fail("the result would be too long");
        }
        highest = highest.max(verb.argument);
        next = verb.argument + 1;
        at = start + verb.raw.len();
    }
    out.push_str(&pattern[at..]);
    if highest < args.len() {
        let message = match highest {
            0 => "too many arguments; no verbs in format string".to_owned(),
            n => format!("too many arguments; only {n} used by format string"),
        };
        return fail_argument(highest + 1, message);
    }
    Ok(out)
}

fn parse_verb(pattern: &str, start: usize, next: usize) -> Result<Verb<'_>, FunctionError> {
    let mut verb = Verb { offset: start, argument: next, ..Verb::default() };
    let bytes = pattern.as_bytes();
    let mut at = start + 1;
    let digits = |at: &mut usize| {
        let from = *at;
        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        // A limit for memory: larger paddings have no use.
        pattern[from..*at].parse::<usize>().ok().map(|n| n.min(1_000_000))
    };
    while let Some(c) = bytes.get(at) {
        match c {
            b'0' => verb.zero = true,
            b'-' => verb.minus = true,
            b'+' => verb.plus = true,
            b' ' => verb.space = true,
            b'#' => verb.sharp = true,
            _ => break,
        }
        at += 1;
    }
    let argument = |at: &mut usize, verb: &mut Verb<'_>| {
        if bytes.get(*at) != Some(&b'[') {
            return Ok(());
        }
        let mut inner = *at + 1;
        let found = if bytes.get(inner) == Some(&b'0') { None } else { digits(&mut inner) };
        match (found, bytes.get(inner)) {
            (Some(n), Some(b']')) => {
                verb.argument = n;
                *at = inner + 1;
                Ok(())
            }
            _ => match pattern[inner..].chars().next() {
                Some(wrong) => fail(format!("unrecognized format character {wrong:?} at offset {inner}")),
                None => fail(format!("invalid format string starting at offset {inner}")),
            },
        }
    };
    argument(&mut at, &mut verb)?;
    verb.width = digits(&mut at);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        verb.precision = Some(digits(&mut at).unwrap_or(0));
    }
    argument(&mut at, &mut verb)?;
    let Some(mode) = pattern[at..].chars().next() else {
        return fail(format!("invalid format string starting at offset {at}"));
    };
    if !mode.is_ascii_alphabetic() {
        return fail(format!("unrecognized format character {mode:?} at offset {at}"));
    }
    verb.mode = mode;
    verb.raw = &pattern[start..=at];
    Ok(verb)
}

fn append(verb: &Verb<'_>, args: &[Value], out: &mut String) -> Result<(), FunctionError> {
    let (raw, offset) = (quoted(verb.raw), verb.offset);
    let Some(arg) = verb.argument.checked_sub(1).and_then(|i| args.get(i)) else {
        let (need, have) = (verb.argument, args.len());
        return fail(format!("not enough arguments for {raw} at {offset}: need index {need} but have {have} total"));
    };
    let unsupported = |why: &str| FunctionError::new(format!("unsupported value for {raw} at {offset}: {why}"));
    if arg.is_null() && verb.mode != 'v' {
        return Err(unsupported("null value cannot be formatted"));
    }
    let as_type = |ty: &Type| convert(arg, ty).map_err(|e| unsupported(&e.message));
    match verb.mode {
        'v' => {
            let plain = if verb.sharp {
                None
            } else {
                arg.as_str().map(str::to_owned).or_else(|| arg.as_number().map(Number::to_shortest_general_text))
            };
            let shown = match plain {
                Some(plain) => plain,
                None => json::to_simple_json(arg).map_err(|e| unsupported(&e.message))?,
            };
            pad(verb, &shown, out);
        }
        't' => out.push_str(if as_type(&Type::Bool)?.is_true() { "true" } else { "false" }),
        'b' | 'd' | 'o' | 'x' | 'X' => {
            let number = as_type(&Type::Number)?;
            let whole = number.as_number().filter(|n| n.is_integer()).and_then(Number::truncated);
            append_integer(verb, &whole.ok_or_else(|| unsupported("an integer is required"))?, out);
        }
        'e' | 'E' | 'f' | 'g' | 'G' => {
            let number = as_type(&Type::Number)?;
            append_float(verb, number.as_number().unwrap_or(&Number::zero()), out);
        }
        's' | 'q' => {
            let converted = as_type(&Type::String)?;
            let mut shown = converted.as_str().unwrap_or_default().to_owned();
            if let Some(limit) = verb.precision.filter(|p| *p > 0) {
                shown = shown.graphemes(true).take(limit).collect();
            }
            if verb.mode == 'q' {
                let mut quoted = String::new();
                json::write_string(&shown, &mut quoted);
                shown = quoted;
            }
            pad(verb, &shown, out);
        }
        mode => return fail(format!("unsupported format verb {mode:?} in {raw} at offset {offset}")),
    }
    Ok(())
}

fn pad(verb: &Verb<'_>, shown: &str, out: &mut String) {
    let missing = verb.width.unwrap_or(0).saturating_sub(shown.graphemes(true).count());
    let padding = if verb.zero { "0" } else { " " }.repeat(missing);
    if verb.minus {
        out.push_str(shown);
        out.push_str(&padding);
    } else {
        out.push_str(&padding);
        out.push_str(shown);
    }
}

fn sign_of(verb: &Verb<'_>, negative: bool) -> &'static str {
    match () {
        () if negative => "-",
        () if verb.plus => "+",
        () if verb.space => " ",
        () => "",
    }
}

fn append_integer(verb: &Verb<'_>, n: &BigInt, out: &mut String) {
    let (radix, prefix) = match verb.mode {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let prefix = if verb.sharp { prefix } else { "" };
    let mut digits = n.abs().to_str_radix(radix);
    if verb.mode == 'X' {
        digits = digits.to_uppercase();
    }
    let sign = sign_of(verb, n.is_negative());
    if let Some(precision) = verb.precision {
        digits = format!("{}{digits}", "0".repeat(precision.saturating_sub(digits.len())));
    }
    let length = sign.len() + prefix.len() + digits.len();
    let missing = verb.width.unwrap_or(0).saturating_sub(length);
    let (left, zeros, right) = match () {
        () if verb.minus => (0, 0, missing),
        () if verb.zero && verb.precision.is_none() => (0, missing, 0),
        () => (missing, 0, 0),
    };
    out.push_str(&" ".repeat(left));
    out.push_str(sign);
    out.push_str(prefix);
    out.push_str(&"0".repeat(zeros));
    out.push_str(&digits);
    out.push_str(&" ".repeat(right));
}

fn append_float(verb: &Verb<'_>, n: &Number, out: &mut String) {
    let mut shown = match verb.mode {
        'e' | 'E' => n.to_exponent_text(Some(verb.precision.unwrap_or(6))),
        'f' => n.to_fixed_text(verb.precision.unwrap_or(6)),
        _ => verb.precision.map_or_else(|| n.to_shortest_general_text(), |digits| n.to_general_text(digits)),
    };
    if verb.mode.is_ascii_uppercase() && !n.is_infinite() {
        shown = shown.to_uppercase();
    }
    let magnitude = shown.trim_start_matches(['-', '+']);
    let sign = match sign_of(verb, n.is_negative()) {
        "" if n.is_infinite() => "+",
        sign => sign,
    };
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + magnitude.len());
    let (left, zeros, right) = match () {
        () if verb.zero && !n.is_infinite() => (0, missing, 0),
        () if verb.minus => (0, 0, missing),
        () => (missing, 0, 0),
    };
    out.push_str(&" ".repeat(left));
    out.push_str(sign);
    out.push_str(&"0".repeat(zeros));
    out.push_str(magnitude);
    out.push_str(&" ".repeat(right));
}
