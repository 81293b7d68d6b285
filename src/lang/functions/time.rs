//! Functions of time.
//!
//! Owns the form of timestamps that the language reads: RFC 3339 without the freedoms of Go's parser, with errors for people.

use std::fmt;

use gotext::calendar::{Date, MONTH_NAMES, SECONDS_PER_DAY, WEEKDAY_NAMES, days_of_month};
use gotext::timestamp::{Clock, Timestamp};
use terrane_value::duration::{self, DurationError};
use terrane_value::{Type, Value};

use super::builtin::{Builtin, Outcome, fail_argument, quoted, string, text};
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    vec![
        Builtin::new("timestamp", vec![], s.clone(), |_, c| {
            let now = c.scope.machine().filter(|m| !m.pure_only()).map(|m| m.now());
            Ok(now.map_or_else(|| Value::unknown_not_null(Type::String), |(seconds, _)| utc(seconds)))
        })
        .doc("The current time."),
        Builtin::new("plantimestamp", vec![], s.clone(), |_, c| {
            let planned = c.scope.machine().and_then(|m| m.plan_time());
            Ok(planned.map_or_else(|| Value::unknown_not_null(Type::String), |(seconds, _)| utc(seconds)))
        })
        .doc("When the plan was made."),
        Builtin::new("formatdate", vec![string("format"), string("time")], s.clone(), format_date)
            .doc("A timestamp in another format."),
        Builtin::new("timeadd", vec![string("timestamp"), string("duration")], s, time_add)
            .may_be_null()
            .doc("A timestamp with a duration added."),
        Builtin::new("timecmp", vec![string("timestamp_a"), string("timestamp_b")], Type::Number, |a, _| {
            let moment = |i: usize| timestamp(text(a, i)).map_err(|e| FunctionError::argument(i, e.to_string()));
            let (x, y) = (moment(0)?, moment(1)?);
            Ok(Value::int(x.instant().cmp(&y.instant()) as i64))
        })
        .doc("-1, 0 or 1: which of two timestamps is earlier."),
    ]
}

fn utc(seconds: i64) -> Value {
    Value::string(Timestamp::from_unix(seconds).to_rfc3339())
}

/// Why a text is not a timestamp, in the words of the reference.
enum TimestampError {
    /// The text ends before a part of it.
    EndBefore(&'static str),
    /// What is there cannot be the part.
    Unusable(String, &'static str),
    MissingTime,
    /// What is there instead of a separator; nothing at the end of the text.
    Separator(String, &'static str),
    TwoDigits(&'static str),
    Above(&'static str, i64),
    DayOutOfRange,
}

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a valid RFC3339 timestamp: ")?;
        match self {
            TimestampError::EndBefore(what) => write!(f, "end of string before {what}"),
            TimestampError::Unusable(found, what) => write!(f, "cannot use {} as {what}", quoted(found)),
            TimestampError::MissingTime => f.write_str("missing required time introducer 'T'"),
            TimestampError::Separator(found, expected) if found.is_empty() => {
                write!(f, "end of string where {} is expected", quoted(expected))
            }
            TimestampError::Separator(found, expected) => {
                write!(f, "found {} where {} is expected", quoted(found), quoted(expected))
            }
            TimestampError::TwoDigits(what) => write!(f, "{what} must have exactly two digits"),
            TimestampError::Above(what, limit) => write!(f, "{what} must be between 0 and {limit} inclusive"),
            TimestampError::DayOutOfRange => f.write_str("day out of range"),
        }
    }
}

struct Cursor<'s>(&'s str);

impl Cursor<'_> {
    fn cannot<T>(&self, what: &'static str) -> Result<T, TimestampError> {
        Err(match self.0 {
            "" => TimestampError::EndBefore(what),
            rest => TimestampError::Unusable(rest.to_owned(), what),
        })
    }

    fn digits(&mut self, count: usize, what: &'static str) -> Result<i64, TimestampError> {
        match self.0.get(..count).filter(|d| d.bytes().all(|b| b.is_ascii_digit())) {
            Some(digits) => {
                let value = digits.parse().unwrap_or(0);
                self.0 = &self.0[count..];
                Ok(value)
            }
            None => self.cannot(what),
        }
    }

    fn literal(&mut self, expected: &'static str) -> Result<(), TimestampError> {
        if let Some(rest) = self.0.strip_prefix(expected) {
            self.0 = rest;
            return Ok(());
        }
        Err(match expected {
            "T" => TimestampError::MissingTime,
            separator => TimestampError::Separator(self.0.to_owned(), separator),
        })
    }
}

/// Observed: of a minute and a second beyond 59 the reference says something else than of an hour.
fn too_large(what: &'static str, limit: i64, rest: &str) -> TimestampError {
    match what {
        "minute" => TimestampError::TwoDigits(what),
        "second" => TimestampError::Unusable(rest.to_owned(), what),
        _ => TimestampError::Above(what, limit),
    }
}

fn timestamp(source: &str) -> Result<Timestamp, TimestampError> {
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
    let two_digits = |c: &mut Cursor<'_>, what: &'static str, limit: i64| -> Result<i64, TimestampError> {
        let length = c.0.bytes().take_while(u8::is_ascii_digit).count();
        if length == 1 {
            return Err(TimestampError::TwoDigits(what));
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
        return Err(TimestampError::Unusable(",".to_owned(), "timestamp segment"));
    }
    let offset = parse_offset(&mut c)?;
    if !c.0.is_empty() {
        return c.cannot("timestamp segment");
    }
    let date = Date { year: year.into(), month: month.into(), day: day.into() };
    if !days_of_month(date.year, date.month).contains(&date.day) {
        return Err(TimestampError::DayOutOfRange);
    }
    let local = date.to_days() * SECONDS_PER_DAY + i128::from(hour * 3600 + minute * 60 + second);
    Ok(Timestamp::from_local(local, nanos, offset))
}

fn parse_offset(c: &mut Cursor<'_>) -> Result<i32, TimestampError> {
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
        return Err(TimestampError::EndBefore("UTC offset"));
    }
    let seconds = hours * 3600 + minutes * 60;
    let negative = bytes[0] == b'-';
    c.0 = &c.0[6..];
    Ok(if negative { -seconds } else { seconds })
}

fn format_date(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let pattern = text(a, 0);
    let moment = timestamp(text(a, 1)).map_err(|e| FunctionError::argument(1, e.to_string()))?;
    let (date, clock) = (moment.date(), moment.clock());
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = quoted_literal(rest, &mut out)?;
        } else if c.is_ascii_alphabetic() {
            let length = rest.bytes().take_while(|b| *b == c as u8).count();
            out.push_str(&date_verb(&rest[..length], moment, date, clock)?);
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

fn date_verb(verb: &str, moment: Timestamp, date: Date, clock: Clock) -> Result<String, FunctionError> {
    let half_day = if clock.hour % 12 == 0 { 12 } else { clock.hour % 12 };
    let month = MONTH_NAMES[(date.month - 1).clamp(0, 11) as usize];
    let weekday = WEEKDAY_NAMES[date.weekday() as usize];
    let afternoon = clock.hour >= 12;
    Ok(match verb {
        "YYYY" => format!("{:04}", date.year),
        "YY" => format!("{:02}", date.year % 100),
        "MMMM" => month.into(),
        "MMM" => month[..3].into(),
        "MM" => format!("{:02}", date.month),
        "M" => date.month.to_string(),
        "DD" => format!("{:02}", date.day),
        "D" => date.day.to_string(),
        "EEEE" => weekday.into(),
        "EEE" => weekday[..3].into(),
        "hh" => format!("{:02}", clock.hour),
        "h" => clock.hour.to_string(),
        "HH" => format!("{half_day:02}"),
        "H" => half_day.to_string(),
        "AA" => if afternoon { "PM" } else { "AM" }.into(),
        "aa" => if afternoon { "pm" } else { "am" }.into(),
        "mm" => format!("{:02}", clock.minute),
        "m" => clock.minute.to_string(),
        "ss" => format!("{:02}", clock.second),
        "s" => clock.second.to_string(),
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
    let moment = timestamp(text(a, 0)).map_err(|e| FunctionError::new(e.to_string()))?;
    let nanoseconds = duration::nanoseconds(text(a, 1)).map_err(|why| bad_duration(text(a, 1), &why))?;
    Ok(Value::string(moment.add_nanoseconds(nanoseconds).to_rfc3339()))
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
    timestamp(source).ok().map(Timestamp::to_rfc3339)
}
