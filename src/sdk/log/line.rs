//! Lines as go-hclog writes them.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// One line without its end. Fields with the names of the first four are left out.
pub fn line(module: &str, level: &str, message: &str, fields: Map<String, Value>) -> String {
    let mut line = fields;
    line.insert("@level".into(), level.into());
    line.insert("@message".into(), message.into());
    line.insert("@module".into(), module.into());
    line.insert("@timestamp".into(), timestamp().into());
    Value::Object(line).to_string()
}

/// The present moment in UTC, with microseconds: 2026-11-28T15:21:24.000000Z.
fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    moment(now.as_secs(), now.subsec_micros())
}

/// Seconds since 1970 as a date and a time of day.
fn moment(seconds: u64, micros: u32) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Counted from the first of March in the year 0, so that a leap day is the last day of its year.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let (of_month, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    #[test]
    fn moments_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000007Z"),
            (951_827_696, "2000-02-29T12:34:56.000007Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000007Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000007Z"),
        ] {
            assert_eq!(super::moment(seconds, 7), expected);
        }
    }

    #[test]
    fn lines_are_objects_with_the_fields_that_hosts_read() {
        let fields = serde_json::Map::from_iter([("id".to_owned(), "7".into()), ("@level".to_owned(), "9".into())]);
        let line = super::line("provider.todo", "info", "created \"a\"", fields);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["@level"], &read["@message"]), (&"info".into(), &"created \"a\"".into()));
        assert_eq!((&read["@module"], &read["id"]), (&"provider.todo".into(), &"7".into()));
        assert!(!line.contains('\n'));
    }
}
