//! Paths: where a nested value sits within a larger one.
//!
//! Owns the path type and its text form. Never knows the value that a path is applied to, except to step into it.

use std::fmt;
use std::sync::Arc;

use super::Value;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// An attribute of an object.
    Attr(Arc<str>),
    /// An element of a list or tuple (a number), of a map (a string), or of a set (the element itself).
    Index(Value),
}

/// Steps from the outside inwards.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Path(pub Vec<PathStep>);

impl Path {
    pub fn new() -> Path {
        Path(Vec::new())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    pub fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    pub fn pop(&mut self) -> Option<PathStep> {
        self.0.pop()
    }

    #[must_use]
    pub fn attr(mut self, name: impl Into<Arc<str>>) -> Path {
        self.0.push(PathStep::Attr(name.into()));
        self
    }

    #[must_use]
    pub fn index(mut self, key: Value) -> Path {
        self.0.push(PathStep::Index(key));
        self
    }

    #[must_use]
    pub fn index_int(self, i: usize) -> Path {
        self.index(Value::int(i as i64))
    }

    #[must_use]
    pub fn index_str(self, key: &str) -> Path {
        self.index(Value::string(key))
    }

    /// The nested value at this path; nothing when some step does not exist, or is inside a null or an unknown.
    pub fn apply<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |v, step| v.step(step))
    }
}

impl From<Vec<PathStep>> for Path {
    fn from(steps: Vec<PathStep>) -> Path {
        Path(steps)
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Attr(name) => write!(f, ".{name}"),
            PathStep::Index(key) => match (key.as_str(), key.as_number()) {
                (Some(text), _) => write!(f, "[{text:?}]"),
                (_, Some(n)) => write!(f, "[{n}]"),
                _ if key.is_null() => f.write_str("[null]"),
                _ if !key.is_known() => f.write_str("[(not yet known)]"),
                _ => f.write_str("[...]"),
            },
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| step.fmt(f))
    }
}
