//! The log of a provider: JSON lines on standard error, which hosts read and filter.
//!
//! The level is that of TF_LOG_PROVIDER_NAME, TF_LOG_PROVIDER or TF_LOG, in this order; without them nothing is written.

use std::io::Write as _;
use std::sync::OnceLock;

use crate::base::env::{self, Environment};
use crate::base::log::{Level, timestamp};

struct Log {
    level: Level,
    module: String,
}

static LOG: OnceLock<Log> = OnceLock::new();

/// Reads the level from the environment; `address` is the provider's source address.
pub(super) fn start(environment: &Environment, address: &str) {
    let name = address.rsplit('/').next().unwrap_or(address);
    let own = format!("{}{}", env::TF_LOG_PROVIDER_, name.to_uppercase().replace('-', "_"));
    let level =
        [own.as_str(), env::TF_LOG_PROVIDER, env::TF_LOG].into_iter().find_map(|name| environment.non_empty(name));
    let level = level.map_or(Level::Off, |text| Level::parse(text).unwrap_or(Level::Trace));
    // The first start counts.
    let _ = LOG.set(Log { level, module: name.to_owned() });
}

/// Writes a message with fields at the level "trace".
///
/// ```
/// terrane::sdk::log::trace("connected", &[("host", "localhost")]);
/// ```
pub fn trace(message: &str, fields: &[(&str, &str)]) {
    write(Level::Trace, "trace", message, fields);
}

/// As [`trace`], at the level "debug".
///
/// ```
/// terrane::sdk::log::debug("request sent", &[("method", "GET"), ("path", "/notes")]);
/// ```
pub fn debug(message: &str, fields: &[(&str, &str)]) {
    write(Level::Debug, "debug", message, fields);
}

/// As [`trace`], at the level "info".
///
/// ```
/// terrane::sdk::log::info("note created", &[("id", "7")]);
/// ```
pub fn info(message: &str, fields: &[(&str, &str)]) {
    write(Level::Info, "info", message, fields);
}

/// As [`trace`], at the level "warn".
///
/// ```
/// terrane::sdk::log::warn("request is retried", &[("status", "503")]);
/// ```
pub fn warn(message: &str, fields: &[(&str, &str)]) {
    write(Level::Warn, "warn", message, fields);
}

/// As [`trace`], at the level "error".
///
/// ```
/// terrane::sdk::log::error("request failed", &[("status", "500")]);
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
    line.insert("@timestamp".into(), timestamp(true).into());
    for (name, value) in fields {
        line.insert((*name).to_owned(), (*value).into());
    }
    serde_json::Value::Object(line).to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_objects_with_the_fields_that_hosts_read() {
        let line = super::line("todo", "info", "created \"a\"", &[("id", "7")]);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&read["@level"], &read["@message"]), (&"info".into(), &"created \"a\"".into()));
        assert_eq!((&read["@module"], &read["id"]), (&"provider.todo".into(), &"7".into()));
        assert!(!line.contains('\n'));
    }
}
