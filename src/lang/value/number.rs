//! Numbers (for now over f64; the exact form follows).

use std::cmp::Ordering;
use std::fmt;

#[derive(Clone, Debug)]
pub struct Number(f64);

impl Number {
    pub fn zero() -> Number {
        Number(0.0)
    }
    /// Reads a decimal text as the language's literals are written: `12`, `-1.5`, `1e9`.
    pub fn parse(text: &str) -> Option<Number> {
        text.parse().ok().map(Number)
    }
    pub fn as_i64(&self) -> Option<i64> {
        (self.0.fract() == 0.0).then_some(self.0 as i64)
    }
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i64().and_then(|v| u64::try_from(v).ok())
    }
    pub fn as_usize(&self) -> Option<usize> {
        self.as_i64().and_then(|v| usize::try_from(v).ok())
    }
    /// The nearest float.
    pub fn as_f64(&self) -> f64 {
        self.0
    }
    pub fn is_integer(&self) -> bool {
        self.0.fract() == 0.0
    }
    pub fn is_infinite(&self) -> bool {
        self.0.is_infinite()
    }
    pub fn is_negative(&self) -> bool {
        self.0 < 0.0
    }
    pub fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
    /// Go's `Text('g', digits)`.
    pub fn to_general_text(&self, _digits: usize) -> String {
        self.to_string()
    }
}

impl From<i64> for Number {
    fn from(v: i64) -> Number {
        Number(v as f64)
    }
}
impl From<i32> for Number {
    fn from(v: i32) -> Number {
        Number(v.into())
    }
}
impl From<u32> for Number {
    fn from(v: u32) -> Number {
        Number(v.into())
    }
}
impl From<u64> for Number {
    fn from(v: u64) -> Number {
        Number(v as f64)
    }
}
impl From<usize> for Number {
    fn from(v: usize) -> Number {
        Number(v as f64)
    }
}
impl From<f64> for Number {
    fn from(v: f64) -> Number {
        Number(v)
    }
}
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Number {}
impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
