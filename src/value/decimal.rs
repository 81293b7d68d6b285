//! Numbers as decimal digits: which of them matter, and how they are written.
//!
//! The algorithms are those of Go's `math/big`, whose rounding is visible in results. Never computes.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::big_float::{BigFloat, pow5};

/// Decimal digits `0.d1d2d3... * 10^point`, without trailing zeros.
#[derive(Default)]
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    fn new(mant: &BigUint, exp: i64) -> Decimal {
        let (text, below) = if exp >= 0 {
            ((mant << exp as u64).to_str_radix(10), 0)
        } else {
            let n = exp.unsigned_abs();
            ((mant * BigUint::from(5u32).pow(n as u32)).to_str_radix(10), n as i64)
        };
        let mut digits = text.into_bytes();
        let point = digits.len() as i64 - below;
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let point = if digits.is_empty() { 0 } else { point };
        Decimal { digits, point }
    }

    /// The first digits of a number with a large exponent, where they are certain: at least `count` of them, then a `1` in place
    /// of all others, which are not all zero. Exact digits would take time by the square of the exponent.
    fn leading(mant: &BigUint, exp: i64, count: u64) -> Option<Decimal> {
        /// Digits by which the computed number is longer, so that its error shows in them alone.
        const SPARE: u64 = 20;
        let wanted = (count + SPARE) as i64;
        let point = ((mant.bits() as i64 + exp) as f64 * std::f64::consts::LOG10_2) as i64;
        // The number by ten to the `tens` has the wanted digits before its point. The power's relative error is below 2^30 in
        // its last bit, so that the quotient is off by less than two.
        let tens = point - wanted;
        let power = pow5(tens.unsigned_abs(), (count + SPARE) as u32 * 10 / 3 + 64);
        let (dividend, divisor, shift) = match tens > 0 {
            true => (mant.clone(), power.mant, exp - tens - power.exp),
            false => (mant * power.mant, BigUint::one(), exp - tens + power.exp),
        };
        let quotient = match shift >= 0 {
            true => (dividend << shift as u64) / divisor,
            false => dividend / (divisor << shift.unsigned_abs()),
        };
        let spare = BigUint::from(10u32).pow(SPARE as u32);
        let head = (&quotient - 2u32) / &spare;
        if (&quotient + 2u32) / &spare != head {
            return None;
        }
        let mut digits = head.to_str_radix(10).into_bytes();
        let point = digits.len() as i64 + SPARE as i64 + tens;
        digits.push(b'1');
        Some(Decimal { digits, point })
    }

    fn at(&self, i: usize) -> u8 {
        self.digits.get(i).copied().unwrap_or(b'0')
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    fn round_down(&mut self, n: usize) {
        if n < self.digits.len() {
            self.digits.truncate(n);
            self.trim();
        }
    }

    fn round_up(&mut self, n: usize) {
        if n >= self.digits.len() {
            return;
        }
        let mut n = n;
        while n > 0 && self.digits[n - 1] == b'9' {
            n -= 1;
        }
        if n == 0 {
            self.digits = vec![b'1'];
            self.point += 1;
            return;
        }
        self.digits[n - 1] += 1;
        self.digits.truncate(n);
    }

    fn round(&mut self, n: usize) {
        if n >= self.digits.len() {
            return;
        }
        let up = if self.digits[n] == b'5' && n + 1 == self.digits.len() {
            n > 0 && !(self.digits[n - 1] - b'0').is_multiple_of(2)
        } else {
            self.digits[n] >= b'5'
        };
        if up { self.round_up(n) } else { self.round_down(n) }
    }

    /// `places` digits after the point.
    fn write_fixed(&self, places: i64, out: &mut String) {
        if self.point > 0 {
            out.extend((0..self.point as usize).map(|i| self.at(i) as char));
        } else {
            out.push('0');
        }
        if places > 0 {
            out.push('.');
            for i in 0..places {
                let digit = self.point + i;
                out.push(if digit < 0 { '0' } else { self.at(digit as usize) as char });
            }
        }
    }

    fn write_exponent(&self, places: usize, out: &mut String) {
        out.push(self.at(0) as char);
        if places > 0 {
            out.push('.');
            out.extend((1..=places).map(|i| self.at(i) as char));
        }
        let exp = if self.digits.is_empty() { 0 } else { self.point - 1 };
        out.push_str(if exp < 0 { "e-" } else { "e+" });
        if exp.abs() < 10 {
            out.push('0');
        }
        out.push_str(&exp.unsigned_abs().to_string());
    }

    /// The fewest digits that still denote this value at its precision.
    fn shortest(x: &BigFloat) -> Decimal {
        // Beyond these, exact digits take longer than certain ones.
        const LARGE_EXPONENT: u64 = 2_048;
        const USUAL_PRECISION: u32 = 4_096;
        let quick = if x.exp.unsigned_abs() > LARGE_EXPONENT && x.prec <= USUAL_PRECISION {
            let count = u64::from(x.prec) * 302 / 1000 + 10;
            Decimal::shortest_of(x, |mant, exp| Decimal::leading(mant, exp, count))
        } else {
            None
        };
        quick.or_else(|| Decimal::shortest_of(x, |mant, exp| Some(Decimal::new(mant, exp)))).unwrap_or_default()
    }

    fn shortest_of(x: &BigFloat, decimal: impl Fn(&BigUint, i64) -> Option<Decimal>) -> Option<Decimal> {
        if x.mant.is_zero() {
            return Some(Decimal::default());
        }
        let mut shortest = decimal(&x.mant, x.exp)?;
        let shift = x.mant.bits() as i64 - (i64::from(x.prec) + 1);
        let half_ulps = if shift < 0 { &x.mant << shift.unsigned_abs() } else { &x.mant >> shift as u64 };
        let exp = x.exp + shift;
        let lower = decimal(&(&half_ulps - BigUint::one()), exp)?;
        let upper = decimal(&(&half_ulps + BigUint::one()), exp)?;
        shortest.cut_between(&lower, &upper, !half_ulps.bit(1));
        Some(shortest)
    }

    /// Cuts to the fewest digits of a number between two others, or one of them if these count.
    fn cut_between(&mut self, lower: &Decimal, upper: &Decimal, inclusive: bool) {
        for i in 0..self.digits.len() {
            let (l, m, u) = (lower.at(i), self.digits[i], upper.at(i));
            let down = l != m || inclusive && i + 1 == lower.digits.len();
            let up = m != u && (inclusive || m + 1 < u || i + 1 < upper.digits.len());
            match (down, up) {
                (true, true) => return self.round(i + 1),
                (true, false) => return self.round_down(i + 1),
                (false, true) => return self.round_up(i + 1),
                (false, false) => {}
            }
        }
    }
}

impl BigFloat {
    fn sign_or_special(&self, out: &mut String) -> bool {
        if self.neg {
            out.push('-');
        }
        if self.infinite {
            out.push_str(if self.neg { "Inf" } else { "+Inf" });
        }
        self.infinite
    }

    /// Go's `Text('f', -1)`: all digits that matter, never an exponent.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        if self.sign_or_special(&mut out) {
            return out;
        }
        let decimal = Decimal::shortest(self);
        decimal.write_fixed((decimal.digits.len() as i64 - decimal.point).max(0), &mut out);
        out
    }

    /// Go's `Text('f', places)`.
    pub fn to_fixed_text(&self, places: usize) -> String {
        let mut out = String::new();
        if self.sign_or_special(&mut out) {
            return out;
        }
        let mut decimal = Decimal::new(&self.mant, self.exp);
        let keep = decimal.point + places as i64;
        if keep < 0 {
            decimal = Decimal { digits: Vec::new(), point: 0 };
        } else {
            decimal.round(keep as usize);
        }
        decimal.write_fixed(places as i64, &mut out);
        out
    }

    /// Go's `Text('e', places)`; as many as matter where none are given.
    pub fn to_exponent_text(&self, places: Option<usize>) -> String {
        let mut out = String::new();
        if self.sign_or_special(&mut out) {
            return out;
        }
        let (decimal, places) = match places {
            Some(places) => {
                let mut decimal = Decimal::new(&self.mant, self.exp);
                decimal.round(places + 1);
                (decimal, places)
            }
            None => {
                let decimal = Decimal::shortest(self);
                let places = decimal.digits.len().saturating_sub(1);
                (decimal, places)
            }
        };
        decimal.write_exponent(places, &mut out);
        out
    }

    /// Go's `Text('g', digits)`; as many as matter where none are given.
    pub fn to_general_text(&self, digits: Option<usize>) -> String {
        let mut out = String::new();
        if self.sign_or_special(&mut out) {
            return out;
        }
        let shortest = digits.is_none();
        let (decimal, mut digits) = match digits {
            Some(digits) => {
                let mut decimal = Decimal::new(&self.mant, self.exp);
                decimal.round(digits.max(1));
                (decimal, digits.max(1))
            }
            None => {
                let decimal = Decimal::shortest(self);
                let digits = decimal.digits.len();
                (decimal, digits)
            }
        };
        let present = decimal.digits.len();
        let mut limit = digits as i64;
        if digits > present && present as i64 >= decimal.point {
            limit = present as i64;
        }
        // The 'v' of Go's formatting passes the shortest form with a limit of 21; its plain 'g' has 6.
        if shortest {
            limit = 6;
        }
        let exp = decimal.point - 1;
        if exp < -4 || exp >= limit {
            decimal.write_exponent(digits.min(present).saturating_sub(1), &mut out);
            return out;
        }
        if digits as i64 > decimal.point {
            digits = present;
        }
        decimal.write_fixed((digits as i64 - decimal.point).max(0), &mut out);
        out
    }
}

#[cfg(test)]
#[path = "decimal_tests.rs"]
mod tests;
