//! Binary floating point of any precision, as the reference computes with it.
//!
//! Owns the arithmetic: every result is rounded to nearest even at its own precision, which travels with the value.
//! Parsing follows the algorithms of Go's `math/big` step by step, because their rounding is visible in
//! results. Never knows when which precision applies; see `number`.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{ToPrimitive, Zero};

/// Precision of a parsed number.
pub const PARSED: u32 = 512;

/// Numbers from two to this power are infinite, and those below its reciprocal zero. They have five million digits. The
/// reference's limit is 2^31.
const MAX_TOP: i64 = 1 << 24;
/// Exponents in texts beyond this are refused, as the reference does.
const MAX_EXPONENT: i64 = i32::MAX as i64;

/// `(-1)^neg * mant * 2^exp`; the mantissa is odd or zero.
#[derive(Clone, Debug)]
pub struct BigFloat {
    pub neg: bool,
    pub infinite: bool,
    pub mant: BigUint,
    pub exp: i64,
    pub prec: u32,
}

/// Whether digits below the last one were left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    None,
    Some,
}

impl BigFloat {
    pub fn zero(neg: bool, prec: u32) -> BigFloat {
        BigFloat { neg, infinite: false, mant: BigUint::zero(), exp: 0, prec }
    }

    pub fn infinity(neg: bool, prec: u32) -> BigFloat {
        BigFloat { neg, infinite: true, mant: BigUint::zero(), exp: 0, prec }
    }

    /// Rounds `mant * 2^exp` (plus something smaller than its last bit, if there is a rest) to the precision. Infinite or zero
    /// if it is out of range.
    pub fn rounded(neg: bool, mant: BigUint, exp: i64, prec: u32, rest: Rest) -> BigFloat {
        let result = BigFloat::rounded_in_any_range(neg, mant, exp, prec, rest);
        match result.top() {
            _ if result.is_zero() => result,
            top if top > MAX_TOP => BigFloat::infinity(neg, prec),
            top if top < -MAX_TOP => BigFloat::zero(neg, prec),
            _ => result,
        }
    }

    fn rounded_in_any_range(neg: bool, mut mant: BigUint, mut exp: i64, prec: u32, rest: Rest) -> BigFloat {
        let bits = mant.bits();
        if bits > u64::from(prec) {
            let drop = bits - u64::from(prec);
            let half_bit = mant.bit(drop - 1);
            let below = rest == Rest::Some || mant.trailing_zeros().is_some_and(|z| z < drop - 1);
            mant >>= drop;
            exp += drop as i64;
            if half_bit && (below || mant.bit(0)) {
                mant += 1u32;
            }
        }
        match mant.trailing_zeros() {
            None => BigFloat::zero(neg, prec),
            Some(0) => BigFloat { neg, infinite: false, mant, exp, prec },
            Some(zeros) => {
                mant >>= zeros;
                BigFloat { neg, infinite: false, mant, exp: exp + zeros as i64, prec }
            }
        }
    }

    pub fn with_prec(&self, prec: u32) -> BigFloat {
        if self.infinite || self.is_zero() {
            return BigFloat { prec, ..self.clone() };
        }
        BigFloat::rounded(self.neg, self.mant.clone(), self.exp, prec, Rest::None)
    }

    pub fn from_i64(v: i64, prec: u32) -> BigFloat {
        BigFloat::rounded(v < 0, BigUint::from(v.unsigned_abs()), 0, prec, Rest::None)
    }

    pub fn from_bigint(v: &BigInt, prec: u32) -> BigFloat {
        BigFloat::rounded(v.sign() == Sign::Minus, v.magnitude().clone(), 0, prec, Rest::None)
    }

    pub fn from_f64(v: f64) -> BigFloat {
        const PREC: u32 = 53;
        if v.is_infinite() {
            return BigFloat::infinity(v < 0.0, PREC);
        }
        if v == 0.0 || v.is_nan() {
            return BigFloat::zero(v.is_sign_negative() && !v.is_nan(), PREC);
        }
        let bits = v.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i64;
        let fraction = bits & ((1 << 52) - 1);
        let (mant, exp) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        BigFloat::rounded(v < 0.0, BigUint::from(mant), exp, PREC, Rest::None)
    }

    pub fn is_zero(&self) -> bool {
        !self.infinite && self.mant.is_zero()
    }

    pub fn is_integer(&self) -> bool {
        !self.infinite && (self.exp >= 0 || self.mant.is_zero())
    }

    /// Bits that the value needs.
    pub fn min_prec(&self) -> u32 {
        self.mant.bits() as u32
    }

    /// Exponent of the highest bit, plus one: the value is in `[0.5, 1) * 2^top`.
    fn top(&self) -> i64 {
        self.mant.bits() as i64 + self.exp
    }

    pub fn to_i64(&self) -> Option<i64> {
        if !self.is_integer() || self.top() > 64 {
            return None;
        }
        let magnitude = (&self.mant << self.exp.max(0) as u64).to_i128()?;
        i64::try_from(if self.neg { -magnitude } else { magnitude }).ok()
    }

    /// The integer part; infinity has none.
    pub fn truncated(&self) -> Option<BigInt> {
        if self.infinite {
            return None;
        }
        let magnitude =
            if self.exp >= 0 { &self.mant << self.exp as u64 } else { &self.mant >> self.exp.unsigned_abs() };
        Some(BigInt::from_biguint(if self.neg { Sign::Minus } else { Sign::Plus }, magnitude))
    }

    pub fn to_f64(&self) -> f64 {
        let sign = if self.neg { -1.0 } else { 1.0 };
        if self.infinite {
            return sign * f64::INFINITY;
        }
        if self.mant.is_zero() {
            return sign * 0.0;
        }
        // Subnormal results have fewer bits to round to.
        let available = (self.top() + 1074).clamp(0, 53) as u32;
        if available == 0 {
            return if self.top() == -1074 && self.min_prec() > 1 { sign * f64::from_bits(1) } else { sign * 0.0 };
        }
        let short = BigFloat::rounded(false, self.mant.clone(), self.exp, available, Rest::None);
        if short.top() > 1024 {
            return sign * f64::INFINITY;
        }
        let mant = short.mant.to_u64().unwrap_or(0) as f64;
        let exp = short.exp.clamp(-2200, 2200) as i32;
        let half = exp / 2;
        sign * mant * 2f64.powi(half) * 2f64.powi(exp - half)
    }

    pub fn cmp(&self, other: &BigFloat) -> Ordering {
        let sign = |f: &BigFloat| match (f.is_zero(), f.neg) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (a, b) = (sign(self), sign(other));
        if a != b || a == 0 {
            return a.cmp(&b);
        }
        let magnitudes = match (self.infinite, other.infinite) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => self.top().cmp(&other.top()).then_with(|| {
                let low = self.exp.min(other.exp);
                (&self.mant << (self.exp - low) as u64).cmp(&(&other.mant << (other.exp - low) as u64))
            }),
        };
        if a < 0 { magnitudes.reverse() } else { magnitudes }
    }

    pub fn neg(&self) -> BigFloat {
        BigFloat { neg: !self.neg, ..self.clone() }
    }

    /// Nothing for infinities of opposite signs.
    pub fn add(&self, other: &BigFloat, prec: u32) -> Option<BigFloat> {
        if self.infinite || other.infinite {
            return match (self.infinite, other.infinite) {
                (true, true) if self.neg != other.neg => None,
                (true, _) => Some(BigFloat::infinity(self.neg, prec)),
                _ => Some(BigFloat::infinity(other.neg, prec)),
            };
        }
        if self.is_zero() && other.is_zero() {
            return Some(BigFloat::zero(self.neg && other.neg, prec));
        }
        if self.is_zero() || other.is_zero() {
            return Some(if self.is_zero() { other } else { self }.with_prec(prec));
        }
        // A much smaller operand can only matter as a sticky bit; aligning it exactly could take all memory.
        let (large, small) = if self.top() >= other.top() { (self, other) } else { (other, self) };
        let distance = large.top() - small.top();
        if distance > i64::from(prec) + large.mant.bits() as i64 + 64 {
            return Some(add_tiny(large, large.neg == small.neg, prec));
        }
        let low = self.exp.min(other.exp);
        let signed = |f: &BigFloat| {
            let magnitude = &f.mant << (f.exp - low) as u64;
            BigInt::from_biguint(if f.neg { Sign::Minus } else { Sign::Plus }, magnitude)
        };
        let (sign, magnitude) = (signed(self) + signed(other)).into_parts();
        Some(BigFloat::rounded(sign == Sign::Minus, magnitude, low, prec, Rest::None))
    }

    /// Nothing for zero times infinity.
    pub fn mul(&self, other: &BigFloat, prec: u32) -> Option<BigFloat> {
        let neg = self.neg != other.neg;
        if self.infinite || other.infinite {
            return if self.is_zero() || other.is_zero() { None } else { Some(BigFloat::infinity(neg, prec)) };
        }
        Some(BigFloat::rounded(neg, &self.mant * &other.mant, self.exp + other.exp, prec, Rest::None))
    }

    /// Nothing for zero by zero and infinity by infinity.
    pub fn div(&self, other: &BigFloat, prec: u32) -> Option<BigFloat> {
        let neg = self.neg != other.neg;
        if self.infinite && other.infinite || self.is_zero() && other.is_zero() {
            return None;
        }
        if self.infinite || other.is_zero() {
            return Some(BigFloat::infinity(neg, prec));
        }
        if other.infinite || self.is_zero() {
            return Some(BigFloat::zero(neg, prec));
        }
        let wanted = i64::from(prec) + 2 + other.mant.bits() as i64 - self.mant.bits() as i64;
        let shift = wanted.max(0);
        let (quotient, rest) = num_integer::Integer::div_rem(&(&self.mant << shift as u64), &other.mant);
        // One more bit holds what the remainder says about the rest.
        let quotient = (quotient << 1u32) + u32::from(!rest.is_zero());
        Some(BigFloat::rounded(neg, quotient, self.exp - other.exp - shift - 1, prec, Rest::None))
    }

    /// Reads a decimal text: digits with at most one point, then an exponent (of ten after `e`, of two after `p`), or
    /// `Inf`.
    pub fn parse(text: &str) -> Option<BigFloat> {
        let (neg, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "Inf" || rest == "inf" {
            return Some(BigFloat::infinity(neg, PARSED));
        }
        let end = rest.bytes().position(|b| !b.is_ascii_digit() && b != b'.').unwrap_or(rest.len());
        let (mantissa, exponent) = rest.split_at(end);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if fraction.contains('.') || whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (mut exp2, mut exp5) = (0i64, 0i64);
        if !exponent.is_empty() {
            let mut rest = exponent.chars();
            let letter = rest.next()?;
            if !matches!(letter, 'e' | 'E' | 'p' | 'P') {
                return None;
            }
            let value = parse_exponent(rest.as_str())?;
            exp2 = value;
            if matches!(letter, 'e' | 'E') {
                exp5 = value;
            }
        }
        let digits = integer(format!("{whole}{fraction}").as_bytes())?;
        if digits.is_zero() {
            return Some(BigFloat::zero(neg, PARSED));
        }
        let places = fraction.len() as i64;
        (exp2, exp5) = (exp2 - places, exp5 - places);
        if exp2.abs() > MAX_EXPONENT {
            return None;
        }
        let exact = BigFloat { neg, infinite: false, mant: digits, exp: exp2, prec: PARSED };
        match exp5.cmp(&0) {
            Ordering::Equal => Some(BigFloat::rounded(neg, exact.mant, exact.exp, PARSED, Rest::None)),
            Ordering::Less => exact.div(&pow5(exp5.unsigned_abs(), PARSED + 64), PARSED),
            Ordering::Greater => exact.mul(&pow5(exp5.unsigned_abs(), PARSED + 64), PARSED),
        }
    }
}

/// Decimal digits as an integer, in less time than the square of their count.
fn integer(digits: &[u8]) -> Option<BigUint> {
    const PIECE: usize = 1000;
    let pieces: Option<Vec<BigUint>> = digits.rchunks(PIECE).map(|piece| BigUint::parse_bytes(piece, 10)).collect();
    let (mut pieces, mut scale) = (pieces?, BigUint::from(10u32).pow(PIECE as u32));
    while pieces.len() > 1 {
        pieces =
            pieces.chunks(2).map(|pair| pair.get(1).map_or(BigUint::ZERO, |high| high * &scale) + &pair[0]).collect();
        if pieces.len() > 1 {
            scale = &scale * &scale;
        }
    }
    pieces.pop()
}

fn parse_exponent(text: &str) -> Option<i64> {
    let (neg, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let value: i64 = digits.parse().ok().filter(|v| *v <= MAX_EXPONENT)?;
    Some(if neg { -value } else { value })
}

/// `large` plus or minus something below its last bit, rounded.
fn add_tiny(large: &BigFloat, same_sign: bool, prec: u32) -> BigFloat {
    let extra = u64::from(prec) + 2;
    let mut mant = &large.mant << extra;
    if !same_sign {
        mant -= 1u32;
    }
    BigFloat::rounded(large.neg, mant, large.exp - extra as i64, prec, Rest::Some)
}

/// A power of five, rounded along the way exactly where Go rounds it.
pub(super) fn pow5(n: u64, prec: u32) -> BigFloat {
    const TABLE_MAX: u64 = 27;
    let small = |n: u64| BigFloat::rounded_in_any_range(false, BigUint::from(5u32).pow(n as u32), 0, prec, Rest::None);
    if n <= TABLE_MAX {
        return small(n);
    }
    let mut result = small(TABLE_MAX);
    let mut factor = BigFloat::rounded_in_any_range(false, BigUint::from(5u32), 0, prec + 64, Rest::None);
    let mut rest = n - TABLE_MAX;
    while rest > 0 {
        if rest & 1 != 0 {
            result = BigFloat::rounded_in_any_range(
                false,
                &result.mant * &factor.mant,
                result.exp + factor.exp,
                prec,
                Rest::None,
            );
        }
        factor =
            BigFloat::rounded_in_any_range(false, &factor.mant * &factor.mant, factor.exp * 2, prec + 64, Rest::None);
        rest >>= 1;
    }
    result
}

#[cfg(test)]
#[path = "big_float_tests.rs"]
mod tests;
