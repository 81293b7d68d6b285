//! UTCTime and GeneralizedTime.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::read::Reader;
use super::{tag, write};

/// A date and time to the second, with the offset from UTC that it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerTime {
    civil: DateTime,
    offset: Offset,
}

impl DerTime {
    /// The notation of RFC 3339.
    pub fn rfc3339(&self) -> String {
        format!("{}{}", self.civil.strftime("%Y-%m-%dT%H:%M:%S"), zone_text(self.offset))
    }
}

/// `Z`, or the hours and minutes of the offset.
pub fn zone_text(offset: Offset) -> String {
    let minutes = offset.seconds() / 60;
    match offset.seconds() {
        0 => "Z".to_owned(),
        seconds => {
            let sign = if seconds < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        }
    }
}

/// A moment in UTC, without fractions of a second: UTCTime from 1950 to 2049, GeneralizedTime otherwise.
pub fn write_time(at: Timestamp) -> Vec<u8> {
    // Fractions are cut off towards the past, also before 1970.
    let whole = at.as_nanosecond().div_euclid(1_000_000_000);
    let whole = Timestamp::from_second(whole as i64).unwrap_or(at);
    let civil = whole.to_zoned(TimeZone::UTC).datetime();
    if (1950..2050).contains(&civil.year()) {
        let text = format!("{:02}{}", civil.year() % 100, civil.strftime("%m%d%H%M%SZ"));
        return write::element(tag::UTC_TIME, text.as_bytes());
    }
    write::element(tag::GENERALIZED_TIME, civil.strftime("%Y%m%d%H%M%SZ").to_string().as_bytes())
}

/// A time of either kind. The error is Go's.
pub fn read_time(reader: &mut Reader<'_>) -> Result<DerTime, &'static str> {
    if reader.is_next(tag::UTC_TIME) {
        let contents = reader.contents(tag::UTC_TIME);
        return contents.and_then(utc_time).ok_or("x509: malformed UTCTime");
    }
    if reader.is_next(tag::GENERALIZED_TIME) {
        let contents = reader.contents(tag::GENERALIZED_TIME);
        return contents.and_then(generalized_time).ok_or("x509: malformed GeneralizedTime");
    }
    Err("x509: unsupported time format")
}

/// `YYMMDDhhmm[ss]Z`, or an offset in place of `Z`; years are those from 1950 to 2049.
fn utc_time(text: &[u8]) -> Option<DerTime> {
    let (digits, zone) = split_zone(text)?;
    let (year, month, day, hour, minute, second) = match pairs(digits)?[..] {
        [year, month, day, hour, minute] => (year, month, day, hour, minute, 0),
        [year, month, day, hour, minute, second] => (year, month, day, hour, minute, second),
        _ => return None,
    };
    let century = if year < 50 { 2000 } else { 1900 };
    moment(century + i16::from(year), [month, day, hour, minute, second], zone)
}

/// `YYYYMMDDhhmmssZ`, or an offset in place of `Z`.
fn generalized_time(text: &[u8]) -> Option<DerTime> {
    let (digits, zone) = split_zone(text)?;
    let [century, year, month, day, hour, minute, second] = pairs(digits)?[..] else { return None };
    moment(i16::from(century) * 100 + i16::from(year), [month, day, hour, minute, second], zone)
}

fn moment(year: i16, parts: [i8; 5], offset: Offset) -> Option<DerTime> {
    let [month, day, hour, minute, second] = parts;
    let civil = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    Some(DerTime { civil, offset })
}

/// The digits in front of the zone, and the zone.
fn split_zone(text: &[u8]) -> Option<(&[u8], Offset)> {
    if let Some(digits) = text.strip_suffix(b"Z") {
        return Some((digits, Offset::UTC));
    }
    let (digits, zone) = text.split_last_chunk::<5>()?;
    let [hours, minutes] = pairs(&zone[1..])?[..] else { return None };
    let seconds = i32::from(hours) * 3600 + i32::from(minutes) * 60;
    let signed = match zone[0] {
        b'+' => seconds,
        b'-' => -seconds,
        _ => return None,
    };
    // `Z` is the only notation of UTC.
    let is_valid = hours <= 24 && minutes < 60 && seconds != 0;
    is_valid.then(|| Offset::from_seconds(signed).ok()).flatten().map(|offset| (digits, offset))
}

fn pairs(digits: &[u8]) -> Option<Vec<i8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(pairs.iter().map(|[tens, ones]| ((tens - b'0') * 10 + ones - b'0') as i8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_offset() {
        let cases = [
            (tag::UTC_TIME, "700101000000Z", Some("1970-01-01T00:00:00Z")),
            (tag::UTC_TIME, "4912312359Z", Some("2049-12-31T23:59:00Z")),
            (tag::UTC_TIME, "5001010000+0130", Some("1950-01-01T00:00:00+01:30")),
            (tag::UTC_TIME, "500101000000+0000", None),
            (tag::UTC_TIME, "500101000060Z", None),
            (tag::GENERALIZED_TIME, "99991231235959Z", Some("9999-12-31T23:59:59Z")),
            (tag::GENERALIZED_TIME, "20260230000000Z", None),
            (tag::GENERALIZED_TIME, "20260203", None),
            (tag::OCTET_STRING, "20260203000000Z", None),
        ];
        for (kind, text, expected) in cases {
            let der = write::element(kind, text.as_bytes());
            let read = read_time(&mut Reader::new(&der)).ok().map(|moment| moment.rfc3339());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
