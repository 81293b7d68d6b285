//! Instance keys: what tells the instances of one block apart.

use std::fmt;
use std::sync::Arc;

use lang::syntax::quote::quoted;

/// The key of an instance: none, a number (`count`) or a string (`for_each`). Sorted none, numbers, strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum InstanceKey {
    #[default]
    None,
    Int(i64),
    Str(Arc<str>),
    /// Any key: which instances there are is not known yet. Only deferred changes have it.
    Wildcard,
}

impl InstanceKey {
    pub fn is_none(&self) -> bool {
        matches!(self, InstanceKey::None)
    }
}

impl From<&str> for InstanceKey {
    fn from(key: &str) -> InstanceKey {
        InstanceKey::Str(key.into())
    }
}

/// As it follows a name: nothing, `[0]` or `["key"]` with the language's escapes.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(n) => write!(f, "[{n}]"),
            InstanceKey::Wildcard => f.write_str("[*]"),
            InstanceKey::Str(s) if is_plain(s) => write!(f, "[\"{s}\"]"),
            InstanceKey::Str(s) => write!(f, "[{}]", quoted(s)),
        }
    }
}

/// True for a text that stands between quotes as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"\"\\$%".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed; control characters of keys must not reach the terminal.
    #[test]
    fn keys_are_quoted_as_strings_of_the_language() {
        let cases = [
            ("a b", r#"["a b"]"#),
            ("\"\\\n\t$ ${x} %{", r#"["\"\\\n\t$ $${x} %%{"]"#),
            ("\u{1b}[31mRED\u{7}\u{9b}", r#"["\u001b[31mRED\u0007\u009b"]"#),
            ("é\u{2028}\u{e0001}", r#"["é\u2028\U000e0001"]"#),
        ];
        for (text, expected) in cases {
            assert_eq!(InstanceKey::Str(text.into()).to_string(), expected);
        }
    }
}
