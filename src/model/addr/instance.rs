//! Instance keys: what tells the instances of one block apart.

use std::fmt;
use std::sync::Arc;

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
            InstanceKey::Str(s) => {
                f.write_str("[\"")?;
                write_escaped(f, s)?;
                f.write_str("\"]")
            }
        }
    }
}

/// Writes the inside of a quoted string: backslashes, quotes, newlines, and template introducers escaped.
pub fn write_escaped(f: &mut impl fmt::Write, s: &str) -> fmt::Result {
    let mut rest = s.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '$' | '%' if rest.peek() == Some(&'{') => {
                f.write_char(c)?;
                f.write_char(c)?;
            }
            c => f.write_char(c)?,
        }
    }
    Ok(())
}
