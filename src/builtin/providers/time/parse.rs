//! Parses RFC 3339 text as Go does: hours may have one digit, fractions may follow a comma, offsets may be 24:00 or
//! have 60 minutes. Errors have Go's text, which refers to the elements of Go's reference time.

use std::fmt;

use super::calendar::{Date, SECONDS_PER_DAY, days_of_month};

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// Fields in the order of the text.
#[derive(Clone, Copy, Default)]
struct DateFields {
    year: i128,
    month: i128,
    day: i128,
    hour: i128,
    minute: i128,
    second: i128,
    nanoseconds: u32,
    offset: i32,
}

/// A local time, and how far it is from UTC.
pub struct LocalTime {
    /// From 1970-01-01 in local time.
    pub seconds: i128,
    pub nanoseconds: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// Why a text is not a timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    /// What is there instead of an element of the layout.
    Unexpected {
        found: String,
        element: &'static str,
    },
    OutOfRange(&'static str),
    /// What follows the timestamp.
    Extra(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parsing time {}", quoted(&self.text))?;
        match &self.problem {
            Problem::Unexpected { found, element } => {
                write!(f, " as {}: cannot parse {} as {}", quoted(LAYOUT), quoted(found), quoted(element))
            }
            Problem::OutOfRange(name) => write!(f, ": {name} out of range"),
            Problem::Extra(text) => write!(f, ": extra text: {}", quoted(text)),
        }
    }
}

impl std::error::Error for ParseError {}

pub fn parse(text: &str) -> Result<LocalTime, ParseError> {
    let mut reader = TimeReader { text, rest: text };
    let fields = reader.fields()?;
    if !reader.rest.is_empty() {
        return Err(reader.error(Problem::Extra(reader.rest.to_owned())));
    }
    if !days_of_month(fields.year, fields.month).contains(&fields.day) {
        return Err(reader.error(Problem::OutOfRange("day")));
    }
    let days = Date { year: fields.year, month: fields.month, day: fields.day }.to_days();
    let seconds = days * SECONDS_PER_DAY + fields.hour * 3600 + fields.minute * 60 + fields.second;
    Ok(LocalTime { seconds, nanoseconds: fields.nanoseconds, offset: fields.offset })
}

struct TimeReader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> TimeReader<'a> {
    fn fields(&mut self) -> Result<DateFields, ParseError> {
        let year = self.year()?;
        self.separator("-")?;
        let month = self.number("01", "month", 12, true)?;
        if month == 0 {
            return Err(self.error(Problem::OutOfRange("month")));
        }
        self.separator("-")?;
        // The day is checked last.
        let day = self.number("02", "day", 99, true)?;
        self.separator("T")?;
        let hour = self.number("15", "hour", 23, false)?;
        self.separator(":")?;
        let minute = self.number("04", "minute", 59, true)?;
        self.separator(":")?;
        let second = self.number("05", "second", 59, true)?;
        let nanoseconds = self.fraction();
        let offset = self.offset()?;
        Ok(DateFields { year, month, day, hour, minute, second, nanoseconds, offset })
    }

    fn year(&mut self) -> Result<i128, ParseError> {
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let year = digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| self.unexpected(self.rest, "2006"))?;
        self.rest = &self.rest[4..];
        Ok(year)
    }

    fn separator(&mut self, expected: &'static str) -> Result<(), ParseError> {
        self.rest = self.rest.strip_prefix(expected).ok_or_else(|| self.unexpected(self.rest, expected))?;
        Ok(())
    }

    /// A number of exactly two digits, or of one or two.
    fn number(
        &mut self,
        layout: &'static str,
        name: &'static str,
        most: i128,
        two_digits: bool,
    ) -> Result<i128, ParseError> {
        let held = self.rest;
        let digits = held.bytes().take(2).take_while(u8::is_ascii_digit).count();
        if digits == 0 || (digits == 1 && two_digits) {
            return Err(self.unexpected(held, layout));
        }
        let (number, rest) = held.split_at(digits);
        self.rest = rest;
        match number.parse() {
            Ok(value) if value <= most => Ok(value),
            _ => Err(self.error(Problem::OutOfRange(name))),
        }
    }

    /// Digits after the ninth are ignored.
    fn fraction(&mut self) -> u32 {
        let Some(after) = self.rest.strip_prefix(['.', ',']) else { return 0 };
        let count = after.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return 0;
        }
        let (digits, rest) = after.split_at(count);
        self.rest = rest;
        digits
            .bytes()
            .chain(std::iter::repeat(b'0'))
            .take(9)
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    }

    /// Seconds east of UTC.
    fn offset(&mut self) -> Result<i32, ParseError> {
        const ELEMENT: &str = "Z07:00";
        let held = self.rest;
        if let Some(rest) = held.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let number = |high: u8, low: u8| {
            let digits = high.is_ascii_digit() && low.is_ascii_digit();
            digits.then(|| i32::from(high - b'0') * 10 + i32::from(low - b'0'))
        };
        let Some([sign, h1, h2, b':', m1, m2]) = held.as_bytes().first_chunk::<6>() else {
            return Err(self.unexpected(held, ELEMENT));
        };
        let (Some(hours), Some(minutes)) = (number(*h1, *h2), number(*m1, *m2)) else {
            return Err(self.unexpected(held, ELEMENT));
        };
        let sign = match sign {
            b'+' => 1,
            b'-' => -1,
            _ => return Err(self.unexpected(held, ELEMENT)),
        };
        // The six bytes are ASCII, so that the text can be cut after them.
        self.rest = &held[6..];
        if hours > 24 {
            return Err(self.error(Problem::OutOfRange("time zone offset hour")));
        }
        if minutes > 60 {
            return Err(self.error(Problem::OutOfRange("time zone offset minute")));
        }
        Ok(sign * (hours * 3600 + minutes * 60))
    }

    fn unexpected(&self, found: &str, element: &'static str) -> ParseError {
        self.error(Problem::Unexpected { found: found.to_owned(), element })
    }

    fn error(&self, problem: Problem) -> ParseError {
        ParseError { text: self.text.to_owned(), problem }
    }
}

/// Quotes a text. All bytes except printable ASCII characters are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out.push('"');
    out
}
