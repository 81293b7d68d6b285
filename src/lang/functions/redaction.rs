//! Values that messages do not show: sensitive and ephemeral ones.

use terrane_value::text::go_quoted;
use terrane_value::{Marks, Value};

use super::signature::FunctionError;

/// What stands in a message for a value with these marks; none: it may be shown.
pub fn placeholder(marks: Marks) -> Option<&'static str> {
    if marks.contains(Marks::SENSITIVE) {
        return Some("(sensitive value)");
    }
    marks.contains(Marks::EPHEMERAL).then_some("(ephemeral value)")
}

/// The error of a function without what it shows of secret arguments, in quotes or not. `secrets`: these arguments, with the marks that they had.
pub fn without_secrets(error: FunctionError, secrets: &[(&Value, Marks)]) -> FunctionError {
    let mut message = String::with_capacity(error.message.len());
    let mut rest = error.message.as_str();
    while let Some((before, quotation, after)) = next_quotation(rest) {
        message.push_str(before);
        let secret = secrets.iter().find(|(value, _)| contains_text(value, quotation));
        message.push_str(secret.and_then(|(_, marks)| placeholder(*marks)).unwrap_or(quotation));
        rest = after;
    }
    message.push_str(rest);
    for (value, marks) in secrets {
        let Some(shown) = placeholder(*marks) else { continue };
        let mut texts = Vec::new();
        collect_texts(value, &mut texts);
        // A longer text may contain a shorter one.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        for text in texts {
            message = message.replace(text, shown);
        }
    }
    FunctionError { message, ..error }
}

/// Texts below this length also stand in words of messages.
const SHORTEST: usize = 4;

/// The texts in a value, keys included, that a message may have without quotes.
fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    texts.extend(value.as_str().filter(|text| text.len() >= SHORTEST));
    value.elements().iter().for_each(|part| collect_texts(part, texts));
    for (key, part) in value.entries().iter() {
        texts.extend(Some(&**key).filter(|key| key.len() >= SHORTEST));
        collect_texts(part, texts);
    }
}

/// The first text in quotes or backquotes with its quotes, and what stands before and after it.
fn next_quotation(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(['"', '`'])?;
    let quote = text[start..].chars().next()?;
    let mut is_escaped = false;
    let is_end = |c: char| {
        let ends = c == quote && !is_escaped;
        is_escaped = c == '\\' && quote == '"' && !is_escaped;
        ends
    };
    let end = start + 1 + text[start + 1..].find(is_end)? + 1;
    Some((&text[..start], &text[start..end], &text[end..]))
}

/// Whether a quotation is a part of a text in a value.
fn contains_text(value: &Value, quotation: &str) -> bool {
    let inner = &quotation[1..quotation.len() - 1];
    if inner.is_empty() {
        return false;
    }
    match value.as_str() {
        Some(text) if quotation.starts_with('"') => go_quoted(text).contains(inner),
        Some(text) => text.contains(inner),
        None => value.elements().iter().chain(value.entries().values()).any(|part| contains_text(part, quotation)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_of_secrets_are_replaced() {
        let text = Value::string("a \"b\" c");
        let list = Value::tuple(vec![Value::int(1), Value::string("deep")]);
        let secrets = [(&text, Marks::SENSITIVE), (&list, Marks::EPHEMERAL)];
        let cases = [
            ("nothing in quotes", "nothing in quotes"),
            ("not \"other\"", "not \"other\""),
            ("all of \"a \\\"b\\\" c\" here", "all of (sensitive value) here"),
            ("a part \"b\\\"\", and `\"b\"`", "a part (sensitive value), and (sensitive value)"),
            ("in a list: \"deep\" and \"x\"", "in a list: (ephemeral value) and \"x\""),
            ("empty \"\" and open \"a", "empty \"\" and open \"a"),
            ("bare: a \"b\" c, deep, deeper", "bare: a (sensitive value) c, (ephemeral value), (ephemeral value)er"),
        ];
        for (message, expected) in cases {
            let error = without_secrets(FunctionError::argument(1, message), &secrets);
            assert_eq!((error.message.as_str(), error.argument), (expected, Some(1)));
        }
    }
}
