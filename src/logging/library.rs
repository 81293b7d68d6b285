//! What of a library's event is shown.
//!
//! Libraries log requests, responses and headers, so their events are reduced to what cannot hold a secret: the words of the message
//! before its first value, numbers, and the kinds of a few known values. This is a list of what may be shown, not of what may not.

use serde_json::Value;

use crate::Entry;

/// Fields that name a kind or a place of the protocol, such as the frame `Headers { .. }` or the stream `StreamId(1)`.
const SHOWN: &[&str] = &["frame", "kind", "state", "stream.id", "stream_id"];
/// A message with one of these words is not shown at all, nor a field with one in its name.
const SECRETS: &[&str] = &[
    "authorization",
    "basic",
    "bearer",
    "cookie",
    "credential",
    "key",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "signature",
    "token",
];
/// Longer words are values.
const WORD_LIMIT: usize = 20;

/// The crate of an event's target: "h2" of "h2::codec::framed_read".
pub fn crate_of(target: &str) -> &str {
    target.split("::").next().unwrap_or(target)
}

/// The entry without what may be secret; None if nothing of it may be shown.
pub fn reduced(entry: Entry) -> Option<Entry> {
    if is_about_secrets(&entry.message) {
        return None;
    }
    let fields = entry.fields.into_iter().filter(|(name, _)| !is_about_secrets(name));
    let fields = fields.filter_map(|(name, value)| Some((name, reduced_value(name, value)?)));
    Some(Entry { message: reduced_message(&entry.message), fields: fields.collect() })
}

fn is_about_secrets(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    SECRETS.iter().any(|word| lower.contains(word))
}

/// The words before the first mark that a value follows; words that look like values are left out.
fn reduced_message(message: &str) -> String {
    let is_end = |c: char| !c.is_ascii() || c.is_ascii_control() || "\"'`:=?&@%$#{}[]()<>\\|~*".contains(c);
    let text = message.split(is_end).next().unwrap_or_default();
    text.split_whitespace().filter(|word| is_plain(word)).collect::<Vec<_>>().join(" ")
}

/// A word of a language, a number or a numeric address.
fn is_plain(word: &str) -> bool {
    let has_letters = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_digits = word.bytes().any(|byte| byte.is_ascii_digit());
    word.len() <= WORD_LIMIT && !(has_letters && has_digits && word.len() > 4)
}

fn reduced_value(name: &str, value: Value) -> Option<Value> {
    match value {
        Value::Number(_) | Value::Bool(_) => Some(value),
        Value::String(text) if SHOWN.contains(&name) => Some(kind_of(&text)?.into()),
        _ => None,
    }
}

/// The name of a variant, with its number if it has nothing else: "Headers" of `Headers { stream_id: StreamId(1) }`.
fn kind_of(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (kind, rest) = text.split_at(end);
    if kind.is_empty() || kind.len() > WORD_LIMIT {
        return None;
    }
    let number = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_number = number.is_some_and(|digits| digits.len() < 11 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    match rest.is_empty() || rest.starts_with([' ', '(']) {
        true => Some(if is_number { text } else { kind }),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str) -> Option<String> {
        reduced(Entry { message: message.to_owned(), fields: Vec::new() }).map(|entry| entry.message)
    }

    #[test]
    fn messages_are_the_words_before_their_values() {
        for (message, expected) in [
            ("received", "received"),
            ("connecting to 10.0.0.1:443", "connecting to 10.0.0.1"),
            ("encoding SETTINGS; len=18", "encoding SETTINGS; len"),
            ("pooling idle connection for (\"http\", me:pw@localhost)", "pooling idle connection for"),
            ("request for https://me:s3cret@h/a?sig=abc", "request for https"),
            ("read b\"\\x00\\x01GET / HTTP/1.1\"", "read b"),
            ("sent AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPL to it", "sent and to it"),
            ("header x-vault-header: hvs.CAESIJ", "header x-vault-header"),
            ("café s3cret", "caf"),
        ] {
            assert_eq!(shown(message).as_deref(), Some(expected), "{message}");
        }
    }

    #[test]
    fn messages_about_secrets_are_not_shown() {
        for message in [
            "authorization: Basic bWU6cHc=",
            "Proxy-Authorization sent",
            "got Bearer abcdef",
            "set-cookie a",
            "x-ms-signature",
            "PRIVATE-TOKEN abcdef",
            "api key abcdef",
            "X-Amz-Security-Token abcdef",
        ] {
            assert_eq!(shown(message), None, "{message}");
        }
    }

    #[test]
    fn fields_are_numbers_and_known_kinds() {
        let fields: Vec<(&'static str, Value)> = vec![
            ("len", 18.into()),
            ("token", 123_456.into()),
            ("last", true.into()),
            ("frame", "Headers { stream_id: StreamId(1), fields: {\"authorization\": \"Basic bWU6cHc=\"} }".into()),
            ("stream.id", "StreamId(3)".into()),
            ("kind", "Data(\"s3cret\")".into()),
            ("state", "s3cret".into()),
            ("headers", "{\"authorization\": \"Basic bWU6cHc=\"}".into()),
            ("uri", "https://me:pw@h".into()),
            ("bytes", "[104, 105]".into()),
        ];
        let entry = reduced(Entry { message: "send".to_owned(), fields }).unwrap();
        let expected: Vec<(&'static str, Value)> = vec![
            ("len", 18.into()),
            ("last", true.into()),
            ("frame", "Headers".into()),
            ("stream.id", "StreamId(3)".into()),
            ("kind", "Data".into()),
        ];
        assert_eq!(entry.fields, expected);
    }

    #[test]
    fn crates_are_the_beginning_of_targets() {
        assert_eq!((crate_of("h2::codec::framed_read"), crate_of("h2")), ("h2", "h2"));
    }
}
