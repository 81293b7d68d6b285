//! Texts that no line of a log may have.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Shorter lines of a text are not masked alone: they are parts of common words.
const SHORTEST_LINE: usize = 6;

/// Secret texts, also as they look in quotes.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    texts: BTreeSet<Box<str>>,
}

impl Masks {
    pub const fn new() -> Masks {
        Masks { texts: BTreeSet::new() }
    }

    /// Adds a text and its lines. An empty one would be everywhere, and is left out.
    pub fn add(&mut self, text: &str) {
        self.insert(text);
        self.add_lines(text);
    }

    /// Adds each line of a text, because keys are often shown line by line. Short lines and marks such as `-----BEGIN` are left out.
    pub fn add_lines(&mut self, text: &str) {
        let lines =
            text.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"));
        lines.for_each(|line| self.insert(line));
    }

    fn insert(&mut self, text: &str) {
        if text.is_empty() || self.texts.contains(text) {
            return;
        }
        // Values are shown with the escape sequences of Rust and of JSON too.
        let rust = format!("{text:?}");
        let json = serde_json::Value::from(text).to_string();
        for form in [text, inside(&rust), inside(&json)] {
            self.texts.insert(form.into());
        }
    }

    /// Where a text has secrets, overlapping ones included.
    fn places(&self, text: &str, places: &mut Vec<Range<usize>>) {
        for secret in &self.texts {
            let mut from = 0;
            while let Some(at) = text[from..].find(&**secret) {
                let start = from + at;
                places.push(start..start + secret.len());
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
    }
}

/// The text with `shown` in place of everything that secrets of these sets cover.
pub fn masked<'t, 'm>(sets: impl IntoIterator<Item = &'m Masks>, text: &'t str, shown: &str) -> Cow<'t, str> {
    let mut places = Vec::new();
    sets.into_iter().for_each(|set| set.places(text, &mut places));
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    places.sort_unstable_by_key(|place| (place.start, place.end));
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for place in places {
        if place.start >= end {
            masked.push_str(&text[end..place.start]);
            masked.push_str(shown);
        }
        end = end.max(place.end);
    }
    masked.push_str(&text[end..]);
    Cow::Owned(masked)
}

/// A text in quotes without them.
fn inside(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masks(texts: &[&str]) -> Masks {
        let mut masks = Masks::new();
        texts.iter().for_each(|text| masks.add(text));
        masks
    }

    #[test]
    fn everything_that_secrets_cover_is_masked() {
        for (secrets, text, expected) in [
            (&["abc", "xabcx", ""][..], "1 xabcx 2 abc 3", "1 *** 2 *** 3"),
            (&["abcdefgh", "ghijkl"], "=abcdefghijkl=", "=***="),
            (&["aba"], "=ababa=", "=***="),
            (&["é1"], "aé1é1b", "a******b"),
            (&["a\"b\\c"], r#"{"k":"a\"b\\c"} a"b\c"#, r#"{"k":"***"} ***"#),
            (&["none"], "all of it", "all of it"),
        ] {
            assert_eq!(masked([&masks(secrets)], text, "***"), expected);
        }
    }

    #[test]
    fn sets_are_masked_together() {
        let (outer, inner) = (masks(&["postgres://acme:hunter2@db"]), masks(&["acme"]));
        for sets in [[&outer, &inner], [&inner, &outer]] {
            assert_eq!(masked(sets, "at postgres://acme:hunter2@db", "***"), "at ***");
        }
    }

    #[test]
    fn keys_are_masked_line_by_line_and_in_quotes() {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END KEY-----\n";
        let masks = masks(&[key]);
        for text in
            [key.to_owned(), format!("{key:?}"), serde_json::Value::from(key).to_string(), "is MIIEvQIBADAN".into()]
        {
            let shown = masked([&masks], &text, "***");
            assert!(!shown.contains("MIIEvQIBADAN") && !shown.contains("BgkqhkiG9w0B"), "{shown}");
        }
        let mut lines = Masks::new();
        lines.add_lines("short\nlong enough\n-----BEGIN KEY-----");
        assert_eq!(
            masked([&lines], "short, long enough, -----BEGIN KEY-----", "***"),
            "short, ***, -----BEGIN KEY-----"
        );
    }
}
