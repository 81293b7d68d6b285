//! Texts that no line of a log may have.

use std::borrow::Cow;

/// Secret texts, the longest first: one that contains another is masked as a whole.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    texts: Vec<Box<str>>,
}

impl Masks {
    pub const fn new() -> Masks {
        Masks { texts: Vec::new() }
    }

    /// Adds a text. An empty one would be everywhere, and is left out.
    pub fn add(&mut self, text: &str) {
        if text.is_empty() || self.texts.iter().any(|known| **known == *text) {
            return;
        }
        let at = self.texts.partition_point(|known| known.len() >= text.len());
        self.texts.insert(at, text.into());
    }

    /// The text with `shown` in place of each secret.
    pub fn apply<'t>(&self, text: &'t str, shown: &str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for secret in &self.texts {
            if masked.contains(&**secret) {
                masked = Cow::Owned(masked.replace(&**secret, shown));
            }
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_secrets_are_masked_first() {
        let mut masks = Masks::new();
        for text in ["abc", "xabcx", "", "abc"] {
            masks.add(text);
        }
        assert_eq!(masks.apply("1 xabcx 2 abc 3", "***"), "1 *** 2 *** 3");
        assert!(matches!(masks.apply("none", "***"), Cow::Borrowed(_)));
        assert_eq!(masks.texts.len(), 2);
    }
}
