//! The Gregorian calendar, extended to all years.

use std::ops::RangeInclusive;

pub const SECONDS_PER_DAY: i128 = 86400;
/// Of the months, from January on.
pub const MONTH_NAMES: [&str; 12] = [
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
/// Of the days of a week, from Sunday on.
pub const WEEKDAY_NAMES: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAYS_PER_400_YEARS: i128 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH: i128 = 719_468;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i128,
    /// From 1.
    pub month: i128,
    /// From 1.
    pub day: i128,
}

impl Date {
    /// The days from 1970-01-01. A day after the month's last one is of a later month.
    pub fn to_days(self) -> i128 {
        // Years begin in March here: so the leap day is the last day of a year.
        let year = self.year - i128::from(self.month <= 2);
        let month = (self.month + 9) % 12;
        let days_before_year = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        days_before_year + (153 * month + 2) / 5 + self.day - 1 - EPOCH
    }

    pub fn from_days(days: i128) -> Date {
        let days = days + EPOCH;
        let era = days.div_euclid(DAYS_PER_400_YEARS);
        let of_era = days.rem_euclid(DAYS_PER_400_YEARS);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / (DAYS_PER_400_YEARS - 1)) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Date { year: 400 * era + year_of_era + i128::from(month <= 2), month, day }
    }

    /// From 1.
    pub fn day_of_year(self) -> i128 {
        self.to_days() - Date { month: 1, day: 1, ..self }.to_days() + 1
    }

    /// From 0 for Sunday.
    pub fn weekday(self) -> i128 {
        // 1970-01-01 was a Thursday.
        (self.to_days() + 4).rem_euclid(7)
    }

    /// Year and week by ISO 8601: weeks begin on Monday and belong to the year of their Thursday.
    pub fn iso_week(self) -> (i128, i128) {
        let from_monday = (self.weekday() + 6) % 7;
        let thursday = Date::from_days(self.to_days() - from_monday + 3);
        (thursday.year, (thursday.day_of_year() - 1) / 7 + 1)
    }
}

/// The days that a month has.
pub fn days_of_month(year: i128, month: i128) -> RangeInclusive<i128> {
    let next =
        if month == 12 { Date { year: year + 1, month: 1, day: 1 } } else { Date { year, month: month + 1, day: 1 } };
    1..=next.to_days() - Date { year, month, day: 1 }.to_days()
}
