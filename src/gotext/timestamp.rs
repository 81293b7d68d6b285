//! Points in time with an offset, and their arithmetic, as Go's package `time` has them.
//!
//! Never knows the present moment.

use super::calendar::{Date, SECONDS_PER_DAY};

const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;

/// A moment and the offset that it is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// From 1970-01-01 UTC.
    pub seconds: i64,
    pub nanoseconds: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl Timestamp {
    /// 0001-01-01, Go's zero time.
    pub const ZERO: Timestamp = Timestamp { seconds: -62_135_596_800, nanoseconds: 0, offset: 0 };

    /// A whole second in UTC, from 1970-01-01.
    pub fn from_unix(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanoseconds: 0, offset: 0 }
    }

    /// Takes seconds from 1970-01-01 in local time.
    pub fn from_local(local: i128, nanoseconds: u32, offset: i32) -> Timestamp {
        Timestamp { seconds: (local - i128::from(offset)) as i64, nanoseconds, offset }
    }

    fn local(self) -> i128 {
        i128::from(self.seconds) + i128::from(self.offset)
    }

    /// The date at the offset.
    pub fn date(self) -> Date {
        Date::from_days(self.local().div_euclid(SECONDS_PER_DAY))
    }

    /// The time of day at the offset.
    pub fn clock(self) -> Clock {
        let second = self.second_of_day() as i64;
        Clock { hour: second / 3600, minute: second / 60 % 60, second: second % 60 }
    }

    fn second_of_day(self) -> i128 {
        self.local().rem_euclid(SECONDS_PER_DAY)
    }

    /// Adds to the fields of the date. Days after the end of the month overflow into the next: one month after 31
    /// January is in March.
    pub fn add_date(self, years: i64, months: i64, days: i64) -> Timestamp {
        let date = self.date();
        let months = date.month - 1 + i128::from(months);
        let year = date.year + i128::from(years) + months.div_euclid(12);
        let first = Date { year, month: months.rem_euclid(12) + 1, day: 1 };
        let total = first.to_days() + date.day - 1 + i128::from(days);
        Timestamp::from_local(total * SECONDS_PER_DAY + self.second_of_day(), self.nanoseconds, self.offset)
    }

    pub fn add_nanoseconds(self, nanoseconds: i64) -> Timestamp {
        let total = i128::from(self.nanoseconds) + i128::from(nanoseconds);
        let seconds = i128::from(self.seconds) + total.div_euclid(NANOSECONDS_PER_SECOND);
        let nanoseconds = total.rem_euclid(NANOSECONDS_PER_SECOND) as u32;
        Timestamp { seconds: seconds as i64, nanoseconds, offset: self.offset }
    }

    /// Since 1970-01-01 UTC: what two moments are compared by.
    pub fn instant(self) -> (i64, u32) {
        (self.seconds, self.nanoseconds)
    }

    /// RFC 3339 text, without the fraction.
    pub fn to_rfc3339(self) -> String {
        let zone = if self.offset / 60 == 0 { "Z".to_owned() } else { self.offset_text(":") };
        format!("{}{zone}", self.local_text())
    }

    /// The date and the time of day as RFC 3339 has them, without a fraction and the offset.
    pub fn local_text(self) -> String {
        let Date { year, month, day } = self.date();
        let Clock { hour, minute, second } = self.clock();
        let sign = if year < 0 { "-" } else { "" };
        format!("{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", year.abs())
    }

    /// The offset as a sign, hours and minutes, with a separator between them.
    pub fn offset_text(self, separator: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_at_their_offset() {
        let text = |seconds, offset| Timestamp { seconds, nanoseconds: 5, offset }.to_rfc3339();
        for (found, expected) in [
            (text(0, 0), "1970-01-01T00:00:00Z"),
            (text(951_827_696, 5_400), "2000-02-29T14:04:56+01:30"),
            (text(4_107_542_400, -3_600), "2100-02-28T23:00:00-01:00"),
            (text(-62_198_755_200, 0), "-0001-01-01T00:00:00Z"),
            (Timestamp::ZERO.to_rfc3339(), "0001-01-01T00:00:00Z"),
        ] {
            assert_eq!(found, expected);
        }
        assert_eq!(Timestamp::from_unix(0).add_nanoseconds(-1).instant(), (-1, 999_999_999));
    }
}
