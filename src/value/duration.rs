//! Lengths of time as users of the reference write them: `1h30m`, `-1.5s`, `300ms`.

use std::time::Duration;

/// Why a text is no length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurationError {
    Invalid,
    /// A number has no unit.
    MissingUnit,
    UnknownUnit(String),
}

/// The nanoseconds of a length of time. Zero needs no unit.
pub fn nanoseconds(text: &str) -> Result<i64, DurationError> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(DurationError::Invalid);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (part, after) = first_part(rest)?;
        total = total.checked_add(part).ok_or(DurationError::Invalid)?;
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| DurationError::Invalid)
}

/// The nanoseconds of the number and unit that the text begins with, and what follows them.
fn first_part(text: &str) -> Result<(i128, &str), DurationError> {
    let (whole, after) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    let fraction_length = match after.strip_prefix('.') {
        Some(digits) => 1 + digits.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let (fraction, after) = after.split_at(fraction_length);
    let fraction = fraction.trim_start_matches('.');
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError::Invalid);
    }
    let (unit, after) = after.split_at(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()));
    let scale = scale(unit)?;
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i128>().ok() };
    let whole = number(whole).and_then(|whole| whole.checked_mul(scale)).ok_or(DurationError::Invalid)?;
    let fraction: String = fraction.chars().take(18).collect();
    let of_fraction = number(&fraction).ok_or(DurationError::Invalid)? * scale / 10i128.pow(fraction.len() as u32);
    Ok((whole + of_fraction, after))
}

/// The nanoseconds of a unit.
fn scale(unit: &str) -> Result<i128, DurationError> {
    Ok(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => return Err(DurationError::MissingUnit),
        other => return Err(DurationError::UnknownUnit(other.into())),
    })
}

/// A length of time; a negative one is none at all.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    Ok(Duration::from_nanos(nanoseconds(text)?.try_into().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let unknown = |unit: &str| Err(DurationError::UnknownUnit(unit.into()));
        let cases = [
            ("5m", Ok(300_000_000_000)),
            ("1h30m", Ok(5_400_000_000_000)),
            ("-1.5s", Ok(-1_500_000_000)),
            ("+250ms", Ok(250_000_000)),
            (".5us", Ok(500)),
            ("0", Ok(0)),
            ("5", Err(DurationError::MissingUnit)),
            ("5 m", unknown(" m")),
            ("1d", unknown("d")),
            ("", Err(DurationError::Invalid)),
            (".s", Err(DurationError::Invalid)),
            ("9223372036854775807ns", Ok(i64::MAX)),
            ("9223372036854775808ns", Err(DurationError::Invalid)),
            ("99999999999999999999999999999999999999999h", Err(DurationError::Invalid)),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text), expected, "{text}");
        }
        assert_eq!(parse("-3s"), Ok(Duration::ZERO));
        assert_eq!(parse("1.5s"), Ok(Duration::from_millis(1500)));
    }
}
