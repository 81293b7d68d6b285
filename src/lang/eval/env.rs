//! The names that an expression binds around a part of itself: variables of `for`, and the element that a splat is at.

use terrane_value::Value;

/// Names that the expression itself binds around a part of it, innermost first.
pub(super) type Env<'e> = Option<&'e Frame<'e>>;

pub(super) struct Frame<'e> {
    pub bound: Bound<'e>,
    pub outer: Env<'e>,
}

pub(super) enum Bound<'e> {
    /// The element that a splat is at.
    Item(&'e Value),
    /// The variables of a `for`.
    Names { key: Option<(&'e str, &'e Value)>, value: (&'e str, &'e Value) },
}

/// The value of a name that the expression binds.
pub(super) fn bound<'e>(mut env: Env<'e>, name: &str) -> Option<&'e Value> {
    while let Some(frame) = env {
        if let Bound::Names { key, value } = &frame.bound {
            if value.0 == name {
                return Some(value.1);
            }
            if let Some((key_name, key)) = key
                && *key_name == name
            {
                return Some(key);
            }
        }
        env = frame.outer;
    }
    None
}

/// The element of the innermost splat.
pub(super) fn item<'e>(mut env: Env<'e>) -> Option<&'e Value> {
    while let Some(frame) = env {
        if let Bound::Item(item) = frame.bound {
            return Some(item);
        }
        env = frame.outer;
    }
    None
}
