//! Tests of printing numbers: the fewest digits, quickly.

use super::*;
use crate::big_float::Rest;

/// The digits that are certain lead to the same text as all of them.
#[test]
fn large_exponents_print_as_all_digits_say() {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut quick = 0;
    for round in 0..1_500 {
        let prec = [24, 53, 64, 512, 513, 2_000][round % 6];
        let exp = 2_049 + (next() % 18_000) as i64;
        let exp = if round % 2 == 0 { exp } else { -exp };
        let x = match round % 3 {
            // Numbers next to a short decimal.
            0 => BigFloat::parse(&format!("{}e{}", 1 + next() % 1_000, exp * 3 / 10)).unwrap().with_prec(prec),
            _ => {
                let words: Vec<u32> = (0..prec.div_ceil(32)).map(|_| next() as u32 | 1).collect();
                BigFloat::rounded(false, BigUint::new(words), exp, prec, Rest::None)
            }
        };
        let exact = Decimal::shortest_of(&x, |mant, exp| Some(Decimal::new(mant, exp))).unwrap();
        let count = u64::from(prec) * 302 / 1000 + 10;
        if let Some(found) = Decimal::shortest_of(&x, |mant, exp| Decimal::leading(mant, exp, count)) {
            quick += 1;
            assert_eq!((&found.digits, found.point), (&exact.digits, exact.point), "{prec} bits, exponent {}", x.exp);
        }
        let shortest = Decimal::shortest(&x);
        assert_eq!((&shortest.digits, shortest.point), (&exact.digits, exact.point), "{prec} bits, exponent {}", x.exp);
    }
    assert!(quick > 1_400, "{quick}");
}

#[test]
fn the_largest_numbers_are_printed_in_time() {
    let begin = std::time::Instant::now();
    for (text, start) in [("1e5000000", "1000"), ("-123e5000000", "-12300"), ("7e-5000000", "0.000")] {
        let number = BigFloat::parse(text).unwrap();
        assert!(number.to_text().starts_with(start) && number.to_text().len() > 5_000_000);
        assert!(number.to_exponent_text(None).len() < 20, "{}", number.to_exponent_text(None));
    }
    assert!(begin.elapsed().as_secs() < 10);
}
