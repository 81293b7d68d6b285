//! Functions of time.
//!
//! Owns the calendar that they need: timestamps as RFC 3339 writes them, durations as Go writes them.

use base::moment::Moment;
use terrane_value::duration::{self, DurationError};
use terrane_value::{Type, Value};

use super::builtin::{Builtin, Outcome, fail_argument, quoted, string, text};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new("timestamp", vec![], s.clone(), |_, c| {
            let now = c.scope.machine().filter(|m| !m.pure_only()).map(|m| m.now());
            Ok(now.map_or_else(|| Value::unknown_not_null(Type::String), utc))
        })
        .doc("The current time."),
        Builtin::new("plantimestamp", vec![], s.clone(), |_, c| {
            let planned = c.scope.machine().and_then(|m| m.plan_time());
            Ok(planned.map_or_else(|| Value::unknown_not_null(Type::String), utc))
        })
        .doc("When the plan was made."),
        Builtin::new("formatdate", vec![string("format"), string("time")], s.clone(), format_date)
            .doc("A timestamp in another format."),
        Builtin::new("timeadd", vec![string("timestamp"), string("duration")], s, time_add)
            .may_be_null()
            .doc("A timestamp with a duration added."),
        Builtin::new("timecmp", vec![string("timestamp_a"), string("timestamp_b")], Type::Number, |a, _| {
            let moment = |i: usize| Timestamp::parse(text(a, i)).map_err(|e| FunctionError::argument(i, e));
            let (x, y) = (moment(0)?, moment(1)?);
            Ok(Value::int((x.seconds, x.nanos).cmp(&(y.seconds, y.nanos)) as i64))
        })
        .doc("-1, 0 or 1: which of two timestamps is earlier."),
    ]
}

/// A moment as text, in whole seconds.
fn utc(moment: Moment) -> Value {
    Value::string(Timestamp { seconds: moment.seconds, nanos: 0, offset: 0 }.text())
}

/// A moment and the offset that it is written with.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Timestamp {
    /// Since 1970, in UTC.
    seconds: i64,
    nanos: u32,
    /// Seconds east of UTC.
    offset: i32,
}

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// From Sunday on.
    weekday: usize,
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let next = if month == 12 { days_from_civil(year + 1, 1, 1) } else { days_from_civil(year, month + 1, 1) };
    next - days_from_civil(year, month, 1)
}

impl Timestamp {
    fn civil(&self) -> Civil {
        let local = self.seconds + i64::from(self.offset);
        let (days, rest) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Civil {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: (days + 4).rem_euclid(7) as usize,
        }
    }

    fn offset_text(&self, separator: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    fn text(&self) -> String {
        let c = self.civil();
        let zone = if self.offset == 0 { "Z".to_owned() } else { self.offset_text(":") };
        format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}", c.year, c.month, c.day, c.hour, c.minute, c.second)
    }

    /// The error begins with `not a valid RFC3339 timestamp`.
    fn parse(source: &str) -> Result<Timestamp, String> {
        parse_timestamp(source).map_err(|e| format!("not a valid RFC3339 timestamp: {e}"))
    }
}

struct Cursor<'s>(&'s str);

impl Cursor<'_> {
    fn cannot<T>(&self, what: &str) -> Result<T, String> {
        Err(if self.0.is_empty() {
            format!("end of string before {what}")
        } else {
            format!("cannot use {} as {what}", quoted(self.0))
        })
    }

    fn digits(&mut self, count: usize, what: &str) -> Result<i64, String> {
        match self.0.get(..count).filter(|d| d.bytes().all(|b| b.is_ascii_digit())) {
            Some(digits) => {
                let value = digits.parse().unwrap_or(0);
                self.0 = &self.0[count..];
                Ok(value)
            }
            None => self.cannot(what),
        }
    }

    fn literal(&mut self, expected: &str) -> Result<(), String> {
        if let Some(rest) = self.0.strip_prefix(expected) {
            self.0 = rest;
            return Ok(());
        }
        Err(match (expected, self.0) {
            ("T", _) => "missing required time introducer 'T'".to_owned(),
            (_, "") => format!("end of string where {} is expected", quoted(expected)),
            (_, rest) => format!("found {} where {} is expected", quoted(rest), quoted(expected)),
        })
    }
}

/// Observed: of a minute and a second beyond 59 the reference says something else than of an hour.
fn too_large(what: &str, limit: i64, rest: &str) -> String {
    match what {
        "minute" => "minute must have exactly two digits".to_owned(),
        "second" => format!("cannot use {} as second", quoted(rest)),
        _ => format!("{what} must be between 0 and {limit} inclusive"),
    }
}

fn parse_timestamp(source: &str) -> Result<Timestamp, String> {
    let mut c = Cursor(source);
    let year = c.digits(4, "year")?;
    c.literal("-")?;
    let month = c.digits(2, "month")?;
    if !(1..=12).contains(&month) {
        return c.cannot("month");
    }
    c.literal("-")?;
    let day = c.digits(2, "day of month")?;
    c.literal("T")?;
    let two_digits = |c: &mut Cursor<'_>, what: &str, limit: i64| -> Result<i64, String> {
        let length = c.0.bytes().take_while(u8::is_ascii_digit).count();
        if length == 1 {
            return Err(format!("{what} must have exactly two digits"));
        }
        let value = c.digits(2, what)?;
        if value > limit { Err(too_large(what, limit, c.0)) } else { Ok(value) }
    };
    let hour = two_digits(&mut c, "hour", 23)?;
    c.literal(":")?;
    let minute = two_digits(&mut c, "minute", 59)?;
    c.literal(":")?;
    let second = two_digits(&mut c, "second", 59)?;
    let mut nanos = 0;
    if let Some(fraction) = c.0.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if length > 0 {
            let digits: String = fraction.chars().take(length.min(9)).collect();
            nanos = format!("{digits:0<9}").parse().unwrap_or(0);
            c.0 = &fraction[length..];
        }
    }
    if c.0.starts_with(',') {
        return Err("cannot use \",\" as timestamp segment".into());
    }
    let offset = parse_offset(&mut c)?;
    if !c.0.is_empty() {
        return c.cannot("timestamp segment");
    }
    if day < 1 || day > days_in_month(year, month) {
        return Err("day out of range".into());
    }
    let local = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Ok(Timestamp { seconds: local - i64::from(offset), nanos, offset })
}

fn parse_offset(c: &mut Cursor<'_>) -> Result<i32, String> {
    if let Some(rest) = c.0.strip_prefix('Z') {
        c.0 = rest;
        return Ok(0);
    }
    let bytes = c.0.as_bytes();
    let shaped = bytes.len() >= 6
        && matches!(bytes[0], b'+' | b'-')
        && bytes[3] == b':'
        && [1, 2, 4, 5].iter().all(|i| bytes[*i].is_ascii_digit());
    if !shaped {
        return c.cannot("UTC offset");
    }
    let number = |from: usize| c.0[from..from + 2].parse::<i32>().unwrap_or(0);
    let (hours, minutes) = (number(1), number(4));
    if hours > 23 || minutes > 59 {
        return Err("end of string before UTC offset".into());
    }
    let seconds = hours * 3600 + minutes * 60;
    let negative = bytes[0] == b'-';
    c.0 = &c.0[6..];
    Ok(if negative { -seconds } else { seconds })
}

fn format_date(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let pattern = text(a, 0);
    let moment = Timestamp::parse(text(a, 1)).map_err(|e| FunctionError::argument(1, e))?;
    let civil = moment.civil();
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = quoted_literal(rest, &mut out)?;
        } else if c.is_ascii_alphabetic() {
            let length = rest.bytes().take_while(|b| *b == c as u8).count();
            out.push_str(&date_verb(&rest[..length], &moment, &civil)?);
            rest = &rest[length..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(Value::string(out))
}

/// Text in single quotes, where two of them stand for one; answers what follows.
fn quoted_literal<'s>(source: &'s str, out: &mut String) -> Result<&'s str, FunctionError> {
    let mut rest = &source[1..];
    if let Some(after) = rest.strip_prefix('\'') {
        // Nothing between two quotes: they stand for one.
        out.push('\'');
        return Ok(after);
    }
    loop {
        let Some((before, after)) = rest.split_once('\'') else {
            return fail_argument(0, "unterminated literal '");
        };
        out.push_str(before);
        match after.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                rest = after;
            }
            None => return Ok(after),
        }
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn date_verb(verb: &str, moment: &Timestamp, c: &Civil) -> Result<String, FunctionError> {
    let half_day = if c.hour % 12 == 0 { 12 } else { c.hour % 12 };
    let month = MONTHS[(c.month - 1).clamp(0, 11) as usize];
    let afternoon = c.hour >= 12;
    Ok(match verb {
        "YYYY" => format!("{:04}", c.year),
        "YY" => format!("{:02}", c.year % 100),
        "MMMM" => month.into(),
        "MMM" => month[..3].into(),
        "MM" => format!("{:02}", c.month),
        "M" => c.month.to_string(),
        "DD" => format!("{:02}", c.day),
        "D" => c.day.to_string(),
        "EEEE" => DAYS[c.weekday].into(),
        "EEE" => DAYS[c.weekday][..3].into(),
        "hh" => format!("{:02}", c.hour),
        "h" => c.hour.to_string(),
        "HH" => format!("{half_day:02}"),
        "H" => half_day.to_string(),
        "AA" => if afternoon { "PM" } else { "AM" }.into(),
        "aa" => if afternoon { "pm" } else { "am" }.into(),
        "mm" => format!("{:02}", c.minute),
        "m" => c.minute.to_string(),
        "ss" => format!("{:02}", c.second),
        "s" => c.second.to_string(),
        "ZZZZZ" => moment.offset_text(":"),
        "ZZZZ" => moment.offset_text(""),
        "ZZZ" if moment.offset == 0 => "UTC".into(),
        "ZZZ" => moment.offset_text(""),
        "Z" if moment.offset == 0 => "Z".into(),
        "Z" => moment.offset_text(":"),
        _ => return bad_verb(verb),
    })
}

fn bad_verb<T>(verb: &str) -> Result<T, FunctionError> {
    let why = match verb.as_bytes()[0] {
        b'Y' => "year must either be \"YY\" or \"YYYY\"",
        b'M' => "month must be \"M\", \"MM\", \"MMM\", or \"MMMM\"",
        b'D' => "day of month must either be \"D\" or \"DD\"",
        b'E' => "day of week must either be \"EEE\" or \"EEEE\"",
        b'h' => "24-hour must either be \"h\" or \"hh\"",
        b'H' => "12-hour must either be \"H\" or \"HH\"",
        b'A' => "must be \"AA\"",
        b'a' => "must be \"aa\"",
        b'm' => "minute must either be \"m\" or \"mm\"",
        b's' => "second must either be \"s\" or \"ss\"",
        b'Z' => "timezone must be Z, ZZZ, ZZZZ, or ZZZZZ",
        _ => return fail_argument(0, format!("invalid date format verb {}", quoted(verb))),
    };
    fail_argument(0, format!("invalid date format verb {}: {why}", quoted(verb)))
}

fn time_add(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let mut moment = Timestamp::parse(text(a, 0)).map_err(FunctionError::new)?;
    let nanos = duration::nanoseconds(text(a, 1)).map_err(|why| bad_duration(text(a, 1), &why))?;
    let total = i64::from(moment.nanos) + nanos % 1_000_000_000;
    moment.seconds += nanos / 1_000_000_000 + total.div_euclid(1_000_000_000);
    moment.nanos = total.rem_euclid(1_000_000_000) as u32;
    Ok(Value::string(moment.text()))
}

fn bad_duration(source: &str, why: &DurationError) -> FunctionError {
    let source = quoted(source);
    FunctionError::new(match why {
        DurationError::Invalid => format!("time: invalid duration {source}"),
        DurationError::MissingUnit => format!("time: missing unit in duration {source}"),
        DurationError::UnknownUnit(unit) => format!("time: unknown unit {} in duration {source}", quoted(unit)),
    })
}

/// A timestamp as `timeadd` would write it, without fractions of a second; nothing if it is none.
pub(super) fn normalised(source: &str) -> Option<String> {
    Timestamp::parse(source).ok().map(|t| t.text())
}
