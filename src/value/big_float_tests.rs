//! Tests of numbers at the edges: texts that are none, exponents out of range, many digits.

use super::*;

#[test]
fn texts_that_are_no_numbers_are_refused() {
    for text in ["1é", "1\u{1aa7}5", "é", "1x5", "1e", "1e+", "1p", "-", "", "1.2.3", "1e5é"] {
        assert!(BigFloat::parse(text).is_none(), "{text:?}");
    }
    assert!(BigFloat::parse("1e3").is_some() && BigFloat::parse("1p3").is_some());
    assert!(BigFloat::parse("1e3000000000").is_none());
}

#[test]
fn numbers_out_of_range_are_infinite_or_zero() {
    let parsed = |text: &str| BigFloat::parse(text).unwrap();
    let large = parsed("1e5000000");
    assert!(!large.infinite);
    assert!(large.mul(&large, PARSED).unwrap().infinite);
    assert!(parsed("-1e2000000000").infinite && parsed("-1e2000000000").neg);
    assert!(parsed("1e-2000000000").is_zero() && !large.is_zero());
    assert!(parsed("1").div(&large, PARSED).unwrap().div(&large, PARSED).unwrap().is_zero());
    let long = format!("0.{}1e6000000", "0".repeat(6_000_000));
    assert_eq!(parsed(&long).to_text(), "0.1");
}

#[test]
fn texts_of_many_digits_are_read_in_time() {
    let text = "1234567890".repeat(100_000);
    let begin = std::time::Instant::now();
    let number = BigFloat::parse(&text).unwrap();
    assert_eq!(number.min_prec(), 512);
    assert!(begin.elapsed().as_secs() < 20);
}
