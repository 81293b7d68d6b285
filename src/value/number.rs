//! Numbers as the language has them: 512 bits where they are written, fewer where they come from elsewhere.
//!
//! Owns which precision a result has (it is visible: `1/3` and `length(x)/3` print differently) and a fast path for
//! integers of a machine word. Never knows the arithmetic itself; see `big_float`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;

use super::big_float::{BigFloat, PARSED};

/// A number. Two are equal if they are the same integer or print the same: a float that a provider sent is equal to the
/// text that the state keeps of it. Ordered by value; `total_cmp` gives the order for sorting.
#[derive(Clone)]
pub struct Number(Form);

#[derive(Clone)]
enum Form {
    /// Fits the precision exactly, and is not the negative zero.
    Small {
        value: i64,
        prec: u16,
    },
    Big(Arc<BigFloat>),
}

/// Precision of numbers that come from machine integers.
const WORD: u16 = 64;
/// Precision of numbers that come from floats.
const FLOAT: u16 = 53;

impl Number {
    pub fn zero() -> Number {
        Number::small(0, PARSED as u16)
    }

    fn small(value: i64, prec: u16) -> Number {
        Number(Form::Small { value, prec })
    }

    pub(super) fn from_big(big: BigFloat) -> Number {
        // The small form prints all digits, so only integers that fit the precision may have it.
        let small = big.to_i64().filter(|value| big.prec <= PARSED && !(*value == 0 && big.neg));
        small.and_then(|value| Number::word(value, big.prec)).unwrap_or_else(|| Number(Form::Big(Arc::new(big))))
    }

    pub fn infinity(negative: bool) -> Number {
        Number::from_big(BigFloat::infinity(negative, PARSED))
    }

    /// A literal's value: an integer as if it had been written in the configuration (all of 512 bits).
    pub fn literal(value: i64) -> Number {
        Number::small(value, PARSED as u16)
    }

    /// Reads a decimal text as literals are written: `12`, `-1.5`, `1e9`.
    pub fn parse(text: &str) -> Option<Number> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit()) {
            let value: i64 = text.parse().ok()?;
            if value != 0 || digits.len() == text.len() {
                return Some(Number::small(value, PARSED as u16));
            }
        }
        BigFloat::parse(text).map(Number::from_big)
    }

    /// An integer with as many bits as it needs, but at least a word.
    pub fn from_bigint(value: &BigInt) -> Number {
        Number::from_big(BigFloat::from_bigint(value, (value.bits() as u32).max(u32::from(WORD))))
    }

    /// An integer at the precision of this number.
    pub fn with_integer(&self, value: &BigInt) -> Number {
        Number::from_big(BigFloat::from_bigint(value, self.prec()))
    }

    pub fn prec(&self) -> u32 {
        match &self.0 {
            Form::Small { prec, .. } => u32::from(*prec),
            Form::Big(big) => big.prec,
        }
    }

    fn big(&self) -> BigFloat {
        match &self.0 {
            Form::Small { value, prec } => BigFloat::from_i64(*value, u32::from(*prec)),
            Form::Big(big) => (**big).clone(),
        }
    }

    /// The value, if it is an integer of that size.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Form::Small { value, .. } => Some(*value),
            Form::Big(big) => big.to_i64(),
        }
    }

    pub fn as_u64(&self) -> Option<u64> {
        match self.as_i64() {
            Some(v) => u64::try_from(v).ok(),
            None if self.is_integer() => self.truncated()?.try_into().ok(),
            None => None,
        }
    }

    pub fn as_usize(&self) -> Option<usize> {
        self.as_i64().and_then(|v| usize::try_from(v).ok())
    }

    /// The nearest float.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Form::Small { value, .. } => *value as f64,
            Form::Big(big) => big.to_f64(),
        }
    }

    /// The float that is exactly this number, if there is one.
    pub fn as_exact_f64(&self) -> Option<f64> {
        let f = self.as_f64();
        self.total_cmp(&Number::from(f)).is_eq().then_some(f)
    }

    /// The integer part; infinity has none.
    pub fn truncated(&self) -> Option<BigInt> {
        match &self.0 {
            Form::Small { value, .. } => Some(BigInt::from(*value)),
            Form::Big(big) => big.truncated(),
        }
    }

    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Form::Small { .. } => true,
            Form::Big(big) => big.is_integer(),
        }
    }

    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, Form::Big(big) if big.infinite)
    }

    /// Below zero, or the negative zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small { value, .. } => *value < 0,
            Form::Big(big) => big.neg,
        }
    }

    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Form::Small { value, .. } => *value == 0,
            Form::Big(big) => big.is_zero(),
        }
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i64 {
        match (self.is_zero(), self.is_negative()) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

/// Arithmetic. Nothing comes back where the reference says "not a number".
impl Number {
    /// The result of a machine operation, if it fits the precision that it must have.
    fn word(value: i64, prec: u32) -> Option<Number> {
        let bits = 64 - value.unsigned_abs().leading_zeros();
        (bits <= prec).then(|| Number::small(value, prec as u16))
    }

    pub fn add(&self, other: &Number) -> Option<Number> {
        let prec = self.prec().max(other.prec());
        if let (Form::Small { value: a, .. }, Form::Small { value: b, .. }) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b).and_then(|sum| Number::word(sum, prec))
        {
            return Some(sum);
        }
        self.big().add(&other.big(), prec).map(Number::from_big)
    }

    pub fn sub(&self, other: &Number) -> Option<Number> {
        let prec = self.prec().max(other.prec());
        if let (Form::Small { value: a, .. }, Form::Small { value: b, .. }) = (&self.0, &other.0)
            && let Some(difference) = a.checked_sub(*b).and_then(|d| Number::word(d, prec))
        {
            return Some(difference);
        }
        self.big().add(&other.big().neg(), prec).map(Number::from_big)
    }

    /// Computed with 512 bits, then cut to what the operands have or the product needs.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        let prec = self.prec().max(other.prec());
        if let (Form::Small { value: a, .. }, Form::Small { value: b, .. }) = (&self.0, &other.0)
            && *a != 0
            && *b != 0
            && let Some(product) = a.checked_mul(*b).and_then(|p| Number::word(p, prec))
        {
            return Some(product);
        }
        let product = self.big().mul(&other.big(), PARSED)?;
        let prec = prec.max(product.min_prec());
        Some(Number::from_big(product.with_prec(prec)))
    }

    pub fn div(&self, other: &Number) -> Option<Number> {
        let prec = self.prec().max(other.prec());
        if let (Form::Small { value: a, .. }, Form::Small { value: b, .. }) = (&self.0, &other.0)
            && *a != 0
            && a.checked_rem(*b) == Some(0)
            && let Some(quotient) = Number::word(a / b, prec)
        {
            return Some(quotient);
        }
        self.big().div(&other.big(), prec).map(Number::from_big)
    }

    /// What the division towards zero leaves; dividing by zero leaves all. Infinity has no remainder and is none.
    pub fn rem(&self, other: &Number) -> Option<Number> {
        if let (Form::Small { value: a, prec }, Form::Small { value: b, .. }) = (&self.0, &other.0)
            && let Some(rest) = a.checked_rem(*b).and_then(|r| Number::word(r, u32::from(*prec)))
        {
            return Some(rest);
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        if self.is_infinite() || other.is_infinite() {
            return None;
        }
        let prec = self.prec();
        let times = BigFloat::from_bigint(&self.div(other)?.truncated()?, prec);
        let product = times.mul(&other.big(), prec)?;
        self.big().add(&product.neg(), prec).map(Number::from_big)
    }

    #[must_use]
    pub fn neg(&self) -> Number {
        match &self.0 {
            Form::Small { value, prec } if *value != 0 && *value != i64::MIN => Number::small(-value, *prec),
            _ => Number::from_big(self.big().neg()),
        }
    }

    #[must_use]
    pub fn abs(&self) -> Number {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// The next integer not below, at this number's precision.
    #[must_use]
    pub fn ceil(&self) -> Number {
        self.rounded_to_integer(1)
    }

    /// The next integer not above, at this number's precision.
    #[must_use]
    pub fn floor(&self) -> Number {
        self.rounded_to_integer(-1)
    }

    fn rounded_to_integer(&self, direction: i64) -> Number {
        match self.truncated() {
            Some(_) if self.is_integer() => self.clone(),
            None => self.clone(),
            Some(whole) => {
                let away = (direction < 0) == self.is_negative();
                self.with_integer(&if away { whole + direction } else { whole })
            }
        }
    }

    /// Go's `Text('f', places)`.
    pub fn to_fixed_text(&self, places: usize) -> String {
        self.big().to_fixed_text(places)
    }

    /// Go's `Text('e', places)`; as many digits as matter where none are asked for.
    pub fn to_exponent_text(&self, places: Option<usize>) -> String {
        self.big().to_exponent_text(places)
    }

    /// Go's `Text('g', digits)`.
    pub fn to_general_text(&self, digits: usize) -> String {
        self.big().to_general_text(Some(digits))
    }

    /// Go's `Text('g', -1)`.
    pub fn to_shortest_general_text(&self) -> String {
        self.big().to_general_text(None)
    }
}

impl From<i64> for Number {
    fn from(v: i64) -> Number {
        Number::small(v, WORD)
    }
}

impl From<i32> for Number {
    fn from(v: i32) -> Number {
        Number::from(i64::from(v))
    }
}

impl From<u32> for Number {
    fn from(v: u32) -> Number {
        Number::from(i64::from(v))
    }
}

impl From<u64> for Number {
    fn from(v: u64) -> Number {
        i64::try_from(v).map_or_else(|_| Number::from_bigint(&BigInt::from(v)), Number::from)
    }
}

impl From<usize> for Number {
    fn from(v: usize) -> Number {
        Number::from(v as u64)
    }
}

/// Not-a-number becomes zero: the language has no such value.
impl From<f64> for Number {
    fn from(v: f64) -> Number {
        if v.fract() == 0.0 && v.abs() < (1u64 << FLOAT) as f64 && !(v == 0.0 && v.is_sign_negative()) {
            return Number::small(v as i64, FLOAT);
        }
        Number::from_big(BigFloat::from_f64(v))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (&self.0, &other.0) {
            (Form::Small { value: a, .. }, Form::Small { value: b, .. }) => a == b,
            (Form::Big(a), Form::Big(b)) if a.prec != b.prec && !a.is_integer() && !b.is_integer() => {
                a.neg == b.neg && a.to_text() == b.to_text()
            }
            _ => self.total_cmp(other).is_eq(),
        }
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(if self == other { Ordering::Equal } else { self.total_cmp(other) })
    }
}

impl Number {
    /// The order of the values themselves, digits that are not printed included.
    pub fn total_cmp(&self, other: &Number) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Small { value: a, .. }, Form::Small { value: b, .. }) => a.cmp(b),
            (Form::Big(a), Form::Big(b)) => a.cmp(b),
            _ => self.big().cmp(&other.big()),
        }
    }
}

/// All digits that matter, never an exponent: what a conversion to string gives.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small { value, .. } => value.fmt(f),
            Form::Big(big) => f.write_str(&big.to_text()),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    /// Recorded from `terraform console` 1.11.4.
    #[test]
    fn arithmetic_prints_as_recorded() {
        let third = "0.33333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333333335";
        let cases = [
            (n("0.1").add(&n("0.2")), "0.3"),
            (n("1").div(&n("3")), third),
            (Number::from(1i64).div(&Number::from(3i64)), "0.33333333333333333334"),
            (Number::from(1i64).div(&n("3")), third),
            (n("2").div(&n("3")).unwrap().mul(&n("3")), "2"),
            (n("1").div(&n("0")), "+Inf"),
            (n("-1").div(&n("0")), "-Inf"),
            (n("5").rem(&n("0")), "5"),
            (n("-7").rem(&n("3")), "-1"),
            (n("0").mul(&n("-1")), "-0"),
            (Some(n("0").neg()), "-0"),
            (Some(n("1e20")), "100000000000000000000"),
            (Some(n("1p3")), "8"),
            (Some(Number::from(0.1)), "0.1"),
            (Some(Number::from(1_152_921_504_606_846_976.0)), "1152921504606847000"),
            (Some(Number::from(-9_007_199_254_740_992.0)), "-9007199254740992"),
        ];
        for (result, expected) in cases {
            assert_eq!(result.unwrap().to_string(), expected);
        }
        let rest = n("10").rem(&n("3.3")).unwrap().to_string();
        assert!(rest.starts_with("0.1000000") && rest.ends_with("48"), "{rest}");
        assert!(n("0").div(&n("0")).is_none());
        let infinity = Number::infinity(false);
        assert!(n("1").rem(&infinity).is_none() && infinity.rem(&n("2")).is_none());
        assert_eq!(infinity.rem(&n("0")).unwrap(), infinity);
        for bad in ["", "-", "1.2.3", "0x1", "1e", "abc", "1_000", " 1"] {
            assert!(Number::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn compares_across_forms() {
        assert_eq!(n("0.5").add(&n("0.5")).unwrap(), n("1"));
        assert!(n("1e100") > n("99") && n("-1e100") < n("0.5") && Number::infinity(false) > n("1e300"));
        assert_eq!(n("-0"), n("0"));
        assert_eq!(n("2.5").ceil(), n("3"));
        assert_eq!(n("-2.5").ceil(), n("-2"));
        assert_eq!(n("-2.5").floor(), n("-3"));
        assert_eq!((n("1.5").as_exact_f64(), n("0.1").as_exact_f64()), (Some(1.5), None));
        for f in [5e-324, 1.7976931348623157e308, 0.1, -2.2250738585072014e-308, 1e22] {
            assert_eq!(Number::from(f).as_f64(), f);
            assert_eq!(n(&Number::from(f).to_string()).as_f64(), f);
        }
        assert_eq!(n("12345678901234").to_general_text(10), "1.23456789e+13");
    }

    /// Recorded from the reference: what it calls equal is what it writes alike, and integers that are the same.
    #[test]
    fn equality_follows_the_text() {
        let two_to_the_64 = Number::from(18_446_744_073_709_551_616.0);
        let cases = [
            (Number::from(1.23), n("1.23"), true),
            (Number::from(0.1), n("0.1"), true),
            (Number::from(0.1), n("0.1000000000000000055511151231257827021181583404541015625"), false),
            (n("0.1"), n("0.1000000000000000055511151231257827021181583404541015625"), false),
            (Number::from(-1.23), n("1.23"), false),
            (two_to_the_64, n("18446744073709551616"), true),
            (Number::from(1e23), n("100000000000000000000000"), false),
            (Number::from(1e23), n("99999999999999991611392"), true),
            (Number::from(0.5), n("0.5"), true),
            (Number::from(-0.0), n("0"), true),
            (Number::from(f64::INFINITY), Number::infinity(false), true),
            (Number::from(9_223_372_036_854_775_808u64), n("9223372036854775808"), true),
        ];
        for (a, b, equal) in cases {
            assert_eq!((a == b, b == a), (equal, equal), "{a} {b}");
        }
        assert_eq!(n("100000").to_general_text(10), "100000");
    }
}
