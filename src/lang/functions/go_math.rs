//! `pow` and `log` to the last bit.
//!
//! Owns these two because results are printed in full: the algorithms follow those of Go's `math` package (which
//! follow FreeBSD's), where another library may differ in the last digit.

/// Fraction in `[0.5, 1)` and exponent.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || x.is_infinite() || x.is_nan() {
        return (x, 0);
    }
    let (x, shift) = if x.abs() < f64::MIN_POSITIVE { (x * (1u64 << 52) as f64, -52) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | (1022 << 52)), exponent + shift)
}

fn ldexp(fraction: f64, exponent: i64) -> f64 {
    if fraction == 0.0 || fraction.is_infinite() || fraction.is_nan() {
        return fraction;
    }
    let (fraction, shift) = frexp(fraction);
    let exponent = exponent + i64::from(shift);
    if exponent < -1075 {
        return 0f64.copysign(fraction);
    }
    if exponent > 1024 {
        return f64::INFINITY.copysign(fraction);
    }
    let half = (exponent / 2) as i32;
    fraction * 2f64.powi(half) * 2f64.powi(exponent as i32 - half)
}

pub fn log(x: f64) -> f64 {
    const LN2_HI: f64 = 6.931_471_803_691_238e-1;
    const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
    const L: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut f1, mut ki) = frexp(x);
    if f1 < std::f64::consts::SQRT_2 / 2.0 {
        f1 *= 2.0;
        ki -= 1;
    }
    let f = f1 - 1.0;
    let k = f64::from(ki);
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let t1 = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let t2 = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let r = t1 + t2;
    let half_square = 0.5 * f * f;
    k * LN2_HI - ((half_square - (s * (half_square + r) + k * LN2_LO)) - f)
}

fn is_odd_integer(x: f64) -> bool {
    x.abs() < (1u64 << 53) as f64 && x.fract() == 0.0 && (x as i64) & 1 == 1
}

fn pow_special(x: f64, y: f64) -> Option<f64> {
    let magnitude_grows = x.abs() > 1.0;
    let special = if y == 0.0 || x == 1.0 {
        1.0
    } else if y == 1.0 {
        x
    } else if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == 0.0 {
        let sign = if is_odd_integer(y) { x } else { 1.0 };
        if y < 0.0 { f64::INFINITY.copysign(sign) } else { 0f64.copysign(sign) }
    } else if y.is_infinite() {
        match () {
            () if x == -1.0 => 1.0,
            () if magnitude_grows == (y > 0.0) => f64::INFINITY,
            () => 0.0,
        }
    } else if x.is_infinite() {
        if x < 0.0 {
            return Some(if y < 0.0 { pow(1.0 / x, -y) } else { neg_infinity_to(y) });
        }
        if y < 0.0 { 0.0 } else { f64::INFINITY }
    } else if y == 0.5 {
        x.sqrt()
    } else if y == -0.5 {
        1.0 / x.sqrt()
    } else {
        return None;
    };
    Some(special)
}

fn neg_infinity_to(y: f64) -> f64 {
    if is_odd_integer(y) { f64::NEG_INFINITY } else { f64::INFINITY }
}

pub fn pow(x: f64, y: f64) -> f64 {
    if let Some(special) = pow_special(x, y) {
        return special;
    }
    let (mut yi, mut yf) = (y.abs().trunc(), y.abs().fract());
    if yf != 0.0 && x < 0.0 {
        return f64::NAN;
    }
    if yi >= 9.223_372_036_854_776e18 {
        return match () {
            () if x == -1.0 => 1.0,
            () if (x.abs() < 1.0) == (y > 0.0) => 0.0,
            () => f64::INFINITY,
        };
    }
    let (mut a1, mut ae) = (1.0f64, 0i64);
    if yf != 0.0 {
        if yf > 0.5 {
            yf -= 1.0;
            yi += 1.0;
        }
        a1 = (yf * log(x)).exp();
    }
    let (mut x1, xe) = frexp(x);
    let mut xe = i64::from(xe);
    let mut i = yi as i64;
    while i != 0 {
        if !(-(1 << 12)..=1 << 12).contains(&xe) {
            ae += xe;
            break;
        }
        if i & 1 == 1 {
            a1 *= x1;
            ae += xe;
        }
        x1 *= x1;
        xe <<= 1;
        if x1 < 0.5 {
            x1 += x1;
            xe -= 1;
        }
        i >>= 1;
    }
    if y < 0.0 {
        a1 = 1.0 / a1;
        ae = -ae;
    }
    ldexp(a1, ae)
}
