//! The log of a provider: JSON lines on standard error, which hosts read and filter.
//!
//! The level is that of TF_LOG_PROVIDER_NAME, TF_LOG_PROVIDER or TF_LOG, in this order; without them nothing is written.

use std::io::Write as _;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Trace = 1,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

impl Level {
    /// The level that a variable's text means, in any case; None if it is no level.
    fn parse(text: &str) -> Option<Level> {
        Some(match text.to_ascii_uppercase().as_str() {
            "TRACE" | "JSON" => Level::Trace,
            "DEBUG" => Level::Debug,
            "INFO" => Level::Info,
            "WARN" => Level::Warn,
            "ERROR" => Level::Error,
            "OFF" => Level::Off,
            _ => return None,
        })
    }
}

struct Log {
    level: Level,
    module: String,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Reads the level from the environment, by `variable`; `address` is the provider's source address.
#[doc(hidden)]
pub fn start(variable: impl Fn(&str) -> Option<String>, address: &str) {
    let name = address.rsplit('/').next().unwrap_or(address);
    let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
    let level = [own.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|text| !text.is_empty()));
    let level = level.map_or(Level::Off, |text| Level::parse(&text).unwrap_or(Level::Trace));
    // The first start counts.
    let _ = LOG.set(Log { level, module: name.to_owned() });
}

/// Writes a message with fields at the level "trace".
///
/// ```
/// terrane_sdk::log::trace("connected", &[("host", "localhost")]);
/// ```
pub fn trace(message: &str, fields: &[(&str, &str)]) {
    write(Level::Trace, "trace", message, fields);
}

/// As [`trace`], at the level "debug".
///
/// ```
/// terrane_sdk::log::debug("request sent", &[("method", "GET"), ("path", "/notes")]);
/// ```
pub fn debug(message: &str, fields: &[(&str, &str)]) {
    write(Level::Debug, "debug", message, fields);
}

/// As [`trace`], at the level "info".
///
/// ```
/// terrane_sdk::log::info("note created", &[("id", "7")]);
/// ```
pub fn info(message: &str, fields: &[(&str, &str)]) {
    write(Level::Info, "info", message, fields);
}

/// As [`trace`], at the level "warn".
///
/// ```
/// terrane_sdk::log::warn("request is retried", &[("status", "503")]);
/// ```
pub fn warn(message: &str, fields: &[(&str, &str)]) {
    write(Level::Warn, "warn", message, fields);
}

/// As [`trace`], at the level "error".
///
/// ```
/// terrane_sdk::log::error("request failed", &[("status", "500")]);
/// ```
pub fn error(message: &str, fields: &[(&str, &str)]) {
    write(Level::Error, "error", message, fields);
}

fn write(level: Level, name: &str, message: &str, fields: &[(&str, &str)]) {
    let Some(log) = LOG.get().filter(|log| level >= log.level) else { return };
    let _ = writeln!(std::io::stderr().lock(), "{}", line(&log.module, name, message, fields));
}

/// One line, as go-hclog writes it.
fn line(module: &str, level: &str, message: &str, fields: &[(&str, &str)]) -> String {
    let mut line = serde_json::Map::new();
    line.insert("@level".into(), level.into());
    line.insert("@message".into(), message.into());
    line.insert("@module".into(), format!("provider.{module}").into());
    line.insert("@timestamp".into(), timestamp().into());
    for (name, value) in fields {
        line.insert((*name).to_owned(), (*value).into());
    }
    serde_json::Value::Object(line).to_string()
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
        let line = super::line("todo", "info", "created \"a\"", &[("id", "7")]);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["@level"], &read["@message"]), (&"info".into(), &"created \"a\"".into()));
        assert_eq!((&read["@module"], &read["id"]), (&"provider.todo".into(), &"7".into()));
        assert!(!line.contains('\n'));
    }
}
