//! Functions of strings.

use terrane_value::{Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::builtin::{Allow, Builtin, Outcome, TypeOutcome, fail, fail_argument, int, p, string, text};
use super::go_regex::{self, Pattern};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    let texts = Type::list(Type::String);
    let mut all = vec![
        Builtin::new("chomp", vec![string("str")], s.clone(), |a, _| {
            Ok(Value::string(text(a, 0).trim_end_matches(['\n', '\r'])))
        })
        .doc("The string without newlines at its end."),
        Builtin::new(
            "indent",
            vec![p("spaces", Type::Number).about("How many spaces go before each line."), string("str")],
            s.clone(),
            indent,
        )
        .doc("The string with spaces before every line but the first."),
        Builtin::new("join", vec![string("separator").about("What goes between two strings.")], s.clone(), join)
            .variadic(
                p("lists", texts.clone()).unknown().about("Lists whose strings are joined, one list after the other."),
            )
            .doc("All strings of the lists as one, with a separator between them."),
        Builtin::new("split", vec![string("separator"), string("str")], texts, split)
            .doc("The parts of a string between separators."),
        Builtin::new("lower", vec![string("str").dynamic()], s.clone(), |a, _| Ok(Value::string(lower(text(a, 0)))))
            .doc("The string in lower case."),
        Builtin::new("upper", vec![string("str").dynamic()], s.clone(), |a, _| Ok(Value::string(upper(text(a, 0)))))
            .doc("The string in upper case."),
        Builtin::new("title", vec![string("str")], s.clone(), |a, _| Ok(Value::string(title(text(a, 0)))))
            .doc("The string with every word's first letter in upper case."),
        Builtin::new("strrev", vec![string("str").dynamic()], s.clone(), |a, _| {
            Ok(Value::string(text(a, 0).graphemes(true).rev().collect::<String>()))
        })
        .doc("The characters of a string in reverse order."),
        Builtin::new(
            "substr",
            vec![string("str").dynamic(), p("offset", Type::Number).dynamic(), p("length", Type::Number).dynamic()],
            s.clone(),
            substr,
        )
        .doc("Part of a string, by offset and length in characters."),
    ];
    all.extend(trimming());
    all.extend(searching());
    all
}

fn trimming() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new(
            "trim",
            vec![string("str"), string("cutset").about("The characters to remove, in any order.")],
            s.clone(),
            |a, _| {
                let cut = text(a, 1);
                Ok(Value::string(text(a, 0).trim_matches(|c| cut.contains(c))))
            },
        )
        .doc("The string without the given characters at start and end."),
        Builtin::new("trimprefix", vec![string("str"), string("prefix")], s.clone(), |a, _| {
            let whole = text(a, 0);
            Ok(Value::string(whole.strip_prefix(text(a, 1)).unwrap_or(whole)))
        })
        .doc("The string without a prefix, if it has it."),
        Builtin::new("trimsuffix", vec![string("str"), string("suffix")], s.clone(), |a, _| {
            let whole = text(a, 0);
            Ok(Value::string(whole.strip_suffix(text(a, 1)).unwrap_or(whole)))
        })
        .doc("The string without a suffix, if it has it."),
        Builtin::new("trimspace", vec![string("str")], s, |a, _| {
            Ok(Value::string(text(a, 0).trim_matches(char::is_whitespace)))
        })
        .doc("The string without white space at start and end."),
    ]
}

fn searching() -> Vec<Builtin> {
    let (s, b) = (Type::String, Type::Bool);
    vec![
        Builtin::new("startswith", vec![string("str").unknown(), string("prefix")], b.clone(), starts_with)
            .doc("Whether a string begins with another."),
        Builtin::new("endswith", vec![string("str"), string("suffix")], b.clone(), |a, _| {
            Ok(Value::bool(text(a, 0).ends_with(text(a, 1))))
        })
        .doc("Whether a string ends with another."),
        Builtin::new("strcontains", vec![string("str"), string("substr")], b, |a, _| {
            Ok(Value::bool(text(a, 0).contains(text(a, 1))))
        })
        .may_be_null()
        .doc("Whether a string contains another."),
        Builtin::new("replace", vec![string("str"), string("substr"), string("replace")], s, replace)
            .doc("Replaces every occurrence of a string, or of a regular expression between slashes."),
        Builtin::new("regex", vec![string("pattern").unknown(), string("string").unknown()], Type::Dynamic, regex)
            .typed(|a| regex_type(a, |t| t))
            .doc("The first match of a regular expression, or its capture groups."),
        Builtin::new(
            "regexall",
            vec![string("pattern").unknown(), string("string").unknown()],
            Type::list(Type::Dynamic),
            regex_all,
        )
        .typed(|a| regex_type(a, Type::list))
        .doc("All matches of a regular expression, or their capture groups."),
    ]
}

/// No result is longer. It would only take all memory.
const MOST_BYTES: usize = 256 << 20;

fn indent(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let Ok(spaces) = usize::try_from(int(a, 0)?) else { return fail("the number of spaces must not be negative") };
    if spaces > 1 << 20 {
        return fail("the number of spaces is too large");
    }
    let lines = text(a, 1).matches('\n').count();
    if lines.saturating_mul(spaces) > MOST_BYTES {
        return fail("the result would be too long");
    }
    Ok(Value::string(text(a, 1).replace('\n', &format!("\n{}", " ".repeat(spaces)))))
}

fn join(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (separator, lists) = (text(a, 0), &a[1..]);
    if lists.is_empty() {
        return fail("at least one list is required");
    }
    if lists.iter().any(|l| !l.is_wholly_known()) {
        return Ok(Value::unknown_refined(Type::String, Refinement::not_null()));
    }
    let mut parts: Vec<&str> = Vec::new();
    for (list_index, list) in lists.iter().enumerate() {
        for (i, element) in list.elements().iter().enumerate() {
            match element.as_str() {
                Some(part) => parts.push(part),
                None if lists.len() > 1 => {
                    let message =
                        format!("element {i} of list {} is null; cannot concatenate null values", list_index + 1);
                    return fail_argument(list_index + 1, message);
                }
                None => {
                    let message = format!("element {i} is null; cannot concatenate null values");
                    return fail_argument(list_index + 1, message);
                }
            }
        }
    }
    Ok(Value::string(parts.join(separator)))
}

fn split(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (separator, whole) = (text(a, 0), text(a, 1));
    if separator.is_empty() {
        return Ok(Value::strings(whole.chars().map(|c| c.to_string())));
    }
    Ok(Value::strings(whole.split(separator)))
}

/// Letter by letter, as the reference does: letters whose other case is not one letter stay.
fn lower(text: &str) -> String {
    text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect()
}

fn upper_letter(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

fn upper(text: &str) -> String {
    text.chars().map(upper_letter).collect()
}

fn title(text: &str) -> String {
    let mut previous = ' ';
    let is_separator = |c: char| match c {
        '_' => false,
        c if c.is_alphanumeric() => false,
        c if c.is_ascii() => true,
        c => c.is_whitespace(),
    };
    text.chars()
        .map(|c| {
            let starts = is_separator(previous);
            previous = c;
            if starts { upper_letter(c) } else { c }
        })
        .collect()
}

fn substr(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let whole: Vec<&str> = text(a, 0).graphemes(true).collect();
    let (mut offset, mut length) = (int(a, 1)?, int(a, 2)?);
    if offset < 0 {
        offset = offset.saturating_add(whole.len() as i64);
        if length == 0 {
            // Observed: from the end, no length means all that follows.
            length = -1;
        }
    }
    let start = usize::try_from(offset).unwrap_or(0).min(whole.len());
    let rest = &whole[start..];
    let taken = if length < 0 { rest } else { &rest[..rest.len().min(length as usize)] };
    Ok(Value::string(taken.concat()))
}

fn starts_with(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let prefix = text(a, 1);
    if !a[0].is_known() {
        let known = a[0].refinement().and_then(|f| f.string_prefix.as_deref()).unwrap_or_default();
        if known.starts_with(prefix) {
            return Ok(Value::bool(true));
        }
        if known.len() >= prefix.len() {
            return Ok(Value::bool(false));
        }
        return Ok(Value::unknown_not_null(Type::Bool));
    }
    Ok(Value::bool(text(a, 0).starts_with(prefix)))
}

fn replace(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let (whole, find, with) = (text(a, 0), text(a, 1), text(a, 2));
    let pattern = find.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let Some(pattern) = pattern else {
        if whole.matches(find).count().saturating_mul(with.len()) > MOST_BYTES {
            return fail("the result would be too long");
        }
        return Ok(Value::string(replace_plain(whole, find, with)));
    };
    let pattern =
        Pattern::new(pattern).map_err(|e| FunctionError::new(format!("error parsing regexp: {}", e.go_text())))?;
    match pattern.replace_all(whole, with, MOST_BYTES) {
        Some(replaced) => Ok(Value::string(replaced)),
        None => fail("the result would be too long"),
    }
}

/// An empty string to find is found between all characters.
fn replace_plain(whole: &str, find: &str, with: &str) -> String {
    whole.replace(find, with)
}

fn pattern_of(source: &Value) -> Result<Pattern, FunctionError> {
    let source = source.as_str().unwrap_or_default();
    let pattern = Pattern::new(source)
        .map_err(|e| FunctionError::argument(0, format!("invalid regexp pattern: {}", e.short_text())))?;
    let groups = pattern.groups();
    if groups.iter().any(Option::is_some) && groups.iter().any(Option::is_none) {
        return fail_argument(0, "invalid regexp pattern: cannot mix both named and unnamed capture groups");
    }
    Ok(pattern)
}

fn match_type(pattern: &Pattern) -> Type {
    let groups = pattern.groups();
    if groups.is_empty() {
        Type::String
    } else if groups[0].is_some() {
        Type::object(groups.iter().flatten().map(|name| (name.as_str(), Type::String)))
    } else {
        Type::tuple(groups.iter().map(|_| Type::String))
    }
}

fn regex_type(a: &[Value], wrap: fn(Type) -> Type) -> TypeOutcome {
    if !a[0].is_known() {
        return Ok(if wrap(Type::Dynamic).is_dynamic() { Type::Dynamic } else { wrap(Type::Dynamic) });
    }
    Ok(wrap(match_type(&pattern_of(&a[0])?)))
}

fn match_value(pattern: &Pattern, found: &go_regex::Match<'_>) -> Value {
    let groups = pattern.groups();
    let captured = |i: usize| found.group(i + 1).map_or_else(|| Value::null(Type::String), Value::string);
    if groups.is_empty() {
        Value::string(found.group(0).unwrap_or_default())
    } else if groups[0].is_some() {
        Value::object(groups.iter().enumerate().filter_map(|(i, name)| Some((name.as_deref()?, captured(i)))))
    } else {
        Value::tuple((0..groups.len()).map(captured).collect())
    }
}

fn regex(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if !a[0].is_known() {
        return Ok(Value::dynamic());
    }
    let pattern = pattern_of(&a[0])?;
    if !a[1].is_known() {
        return Ok(Value::unknown(match_type(&pattern)));
    }
    match pattern.find_all(text(a, 1), Some(1)).first() {
        Some(found) => Ok(match_value(&pattern, found)),
        None => fail("pattern did not match any part of the given string"),
    }
}

fn regex_all(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if !a[0].is_known() {
        return Ok(Value::unknown_not_null(Type::list(Type::Dynamic)));
    }
    let pattern = pattern_of(&a[0])?;
    let element = match_type(&pattern);
    if !a[1].is_known() {
        return Ok(Value::unknown_not_null(Type::list(element)));
    }
    let matches = pattern.find_all(text(a, 1), None);
    Ok(Value::list(element, matches.iter().map(|m| match_value(&pattern, m)).collect()))
}
