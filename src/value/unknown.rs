//! Refinements: what is known about an unknown value.
//!
//! Owns the facts and how they collapse into a known value. Never knows where an unknown came from.

use std::sync::Arc;

use super::{Number, Type, Value};

/// Facts about an unknown value. The default says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Refinement {
    pub not_null: bool,
    pub string_prefix: Option<Arc<str>>,
    /// Lower bound of a number, and whether the bound itself is possible.
    pub number_min: Option<(Number, bool)>,
    pub number_max: Option<(Number, bool)>,
    /// Bounds of the length of a list, set or map.
    pub length_min: u64,
    pub length_max: Option<u64>,
}

impl Refinement {
    pub fn not_null() -> Refinement {
        Refinement { not_null: true, ..Refinement::default() }
    }

    pub fn is_empty(&self) -> bool {
        *self == Refinement::default()
    }

    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<Arc<str>>) -> Refinement {
        let prefix = prefix.into();
        if !prefix.is_empty() {
            self.string_prefix = Some(prefix);
        }
        self
    }

    #[must_use]
    pub fn with_length(mut self, min: u64, max: Option<u64>) -> Refinement {
        self.length_min = min;
        self.length_max = max;
        self
    }

    #[must_use]
    pub fn with_number_min(mut self, min: Number, inclusive: bool) -> Refinement {
        self.number_min = Some((min, inclusive));
        self
    }

    #[must_use]
    pub fn with_number_max(mut self, max: Number, inclusive: bool) -> Refinement {
        self.number_max = Some((max, inclusive));
        self
    }

    /// The known value that these facts leave no alternative to.
    pub(super) fn collapse(&self, ty: &Type) -> Option<Value> {
        if !self.not_null {
            return None;
        }
        match ty {
            Type::Number => match (&self.number_min, &self.number_max) {
                (Some((min, true)), Some((max, true))) if min == max => Some(Value::number(min.clone())),
                _ => None,
            },
            Type::List(elem) if self.length_max == Some(self.length_min) && self.length_min <= 1024 => {
                Some(Value::list((**elem).clone(), vec![Value::unknown((**elem).clone()); self.length_min as usize]))
            }
            Type::Set(elem) if self.length_max == Some(self.length_min) && self.length_min <= 1 => {
                Some(Value::set((**elem).clone(), vec![Value::unknown((**elem).clone()); self.length_min as usize]))
            }
            Type::Map(elem) if self.length_max == Some(0) => {
                Some(Value::map((**elem).clone(), std::iter::empty::<(Arc<str>, Value)>()))
            }
            _ => None,
        }
    }
}

/// The part of a known prefix that any continuation keeps: without the last character if a following one can combine with it.
pub fn safe_prefix(text: &str) -> &str {
    use unicode_segmentation::UnicodeSegmentation;
    match text.grapheme_indices(true).next_back() {
        Some((start, last)) => {
            let delimits = last.len() == 1 && last.bytes().all(|b| b.is_ascii_punctuation() || b == b' ' || b == b'\n');
            if delimits { text } else { &text[..start] }
        }
        None => text,
    }
}
