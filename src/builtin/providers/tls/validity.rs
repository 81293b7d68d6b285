//! The time in which a certificate is valid, and when it should be renewed.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use terrane_value::text::go_quoted;

use crate::providers::failure::Failure;
use crate::providers::tls::der::time::zone_text;

/// When a certificate begins and ends to be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub start: Timestamp,
    pub end: Timestamp,
}

const NANOSECONDS_PER_HOUR: i64 = 3_600_000_000_000;

/// A number of hours as Go computes it: past 292 years it starts over from the other side.
fn hours(count: i64) -> SignedDuration {
    SignedDuration::from_nanos(count.wrapping_mul(NANOSECONDS_PER_HOUR))
}

impl Validity {
    /// `validity_period_hours` from a moment on.
    pub fn new(start: Timestamp, period_hours: i64) -> Result<Validity, Failure> {
        let end = start.checked_add(hours(period_hours));
        let end = end.map_err(|error| Failure::new("Failed to serialize validity end time", error.to_string()))?;
        Ok(Validity { start, end })
    }
}

/// The text of `validity_start_time` and `validity_end_time`: RFC 3339, with as many digits of the second as there are.
/// The offset is that of the local time zone at this moment.
pub fn time_text(at: Timestamp, offset: Offset) -> String {
    let local = offset.to_datetime(at);
    let fraction = match local.subsec_nanosecond() {
        0 => String::new(),
        nanoseconds => format!(".{nanoseconds:09}").trim_end_matches('0').to_owned(),
    };
    format!("{}{fraction}{}", local.strftime("%Y-%m-%dT%H:%M:%S"), zone_text(offset))
}

/// Whether a certificate that ends at `validity_end_time` should be renewed now: `early_renewal_hours` before its end.
pub fn is_ready_for_renewal(end: &str, early_hours: i64, now: Timestamp) -> Result<bool, Failure> {
    let at = parse_rfc3339(end).ok_or_else(|| {
        let detail = format!("{} is not a time in RFC 3339", go_quoted(end));
        Failure::new(format!("Failed to parse data from string: {end}"), detail)
    })?;
    let early = hours(early_hours.wrapping_neg()).as_nanos();
    Ok(at + early <= now.as_nanosecond())
}

/// Nanoseconds since 1970. RFC 3339 with `T` and `Z` in capitals; as in Go, hours may have one digit, and fractions may
/// follow a comma.
fn parse_rfc3339(text: &str) -> Option<i128> {
    let mut text = text.to_owned();
    if text.as_bytes().get(12) == Some(&b':') && text.is_char_boundary(11) {
        text.insert(11, '0');
    }
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() >= 20
        && bytes[..19].iter().zip(b"0000-00-00T00:00:00").all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == shape,
        });
    // Leap seconds are not known.
    if !is_shaped || &bytes[17..19] == b"60" {
        return None;
    }
    let (fraction, zone) = split_fraction(&text[19..]);
    let offset = match zone.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] if [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()) => {
            let number = |tens: &u8, ones: &u8| i128::from(tens - b'0') * 10 + i128::from(ones - b'0');
            let (hours, minutes) = (number(h1, h2), number(m1, m2));
            if hours > 24 || minutes >= 60 {
                return None;
            }
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => return None,
    };
    let shortest = fraction.get(..10).unwrap_or(fraction).replace(',', ".");
    let civil: DateTime = format!("{}{shortest}", &text[..19]).parse().ok()?;
    let since = civil.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    Some(since.as_nanos() - offset * 1_000_000_000)
}

/// A point or comma and digits, and what follows them.
fn split_fraction(text: &str) -> (&str, &str) {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return ("", text) };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 { ("", text) } else { text.split_at(length + 1) }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::providers::tls::golden::{cases, text};

    fn now(case: &Value) -> Timestamp {
        let number = |field: &str| case[field].as_i64().expect("number");
        Timestamp::new(number("seconds"), number("nanoseconds") as i32).expect("time")
    }

    #[test]
    fn periods_end_as_in_go() {
        for case in cases("times.json") {
            let offset = Offset::from_seconds(case["offset"].as_i64().expect("number") as i32).expect("offset");
            let validity = Validity::new(now(&case), case["hours"].as_i64().expect("number")).expect("times");
            assert_eq!(time_text(validity.start, offset), text(&case, "start"));
            assert_eq!(time_text(validity.end, offset), text(&case, "end"), "{case}");
        }
    }

    #[test]
    fn certificates_are_renewed_when_go_renews_them() {
        for case in cases("renewals.json") {
            let early = case["early"].as_i64().expect("number");
            match is_ready_for_renewal(text(&case, "end"), early, now(&case)) {
                Ok(is_ready) => assert_eq!((is_ready, ""), (case["ready"] == true, text(&case, "error")), "{case}"),
                Err(failure) => {
                    assert_ne!(text(&case, "error"), "", "{case}");
                    assert_eq!(failure.summary, format!("Failed to parse data from string: {}", text(&case, "end")));
                }
            }
        }
    }
}
