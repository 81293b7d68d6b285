//! The log of a provider: JSON lines on standard error, which hosts read and filter.
//!
//! The level is that of TF_LOG_PROVIDER_NAME, TF_LOG_PROVIDER or TF_LOG, in this order; without them nothing is written.
//!
//! Providers log with the macros of `tracing`, or with the functions of this module. Each line has the fields of the spans around it:
//! of those of the author, and of the call's span, which has `tf_rpc`, `tf_req_id` and the type that is called, such as
//! `tf_resource_type`. [`process`] and [`call`] keep secrets out of all lines.
//!
//! Lines of the crates in which the provider and its types are defined are written, and of those that
//! [`Serve::log_crate`](crate::Serve::log_crate) names. All others are libraries: they are in the log at the level "trace" only, and
//! without values, because libraries log headers and requests.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use serde_json::{Map, Value};
use terrane_logging::{Level, library};

mod line;
mod masking;
mod spans;
mod subscriber;

use masking::Rules;
pub use masking::{Masking, call, process};
use spans::Spans;

/// The log of a process.
struct Log {
    level: Level,
    /// "provider.todo"
    module: String,
    spans: Spans,
    out: Mutex<Box<dyn Write + Send>>,
}

static LOG: OnceLock<Arc<Log>> = OnceLock::new();
/// For all lines; also those of before the start.
static RULES: RwLock<Rules> = RwLock::new(Rules::new());
/// The crates that are no libraries, beside those of this library.
static CRATES: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Reads the level from the environment, by `variable`; `address` is the provider's source address.
#[doc(hidden)]
pub fn start(variable: impl Fn(&str) -> Option<String>, address: &str) {
    let name = address.rsplit('/').next().unwrap_or(address);
    let own = format!("TF_LOG_PROVIDER_{}", name.to_uppercase().replace('-', "_"));
    let level = [own.as_str(), "TF_LOG_PROVIDER", "TF_LOG"]
        .into_iter()
        .find_map(|name| variable(name).filter(|text| !text.is_empty()));
    let level = level.map_or(Level::Off, |text| Level::parse(&text).unwrap_or(Level::Trace));
    if level == Level::Off {
        return;
    }
    let log = Arc::new(Log::new(level, name, Box::new(std::io::stderr())));
    // The first start counts.
    if LOG.set(log.clone()).is_ok() {
        // An author with another subscriber has chosen it.
        let _ = tracing::subscriber::set_global_default(subscriber::ProviderLog(log));
    }
}

/// Events of the crate that defines the type of this value are lines of the provider.
pub(crate) fn add_crate_of<T>(value: &T) {
    add_crate(library::crate_of(std::any::type_name_of_val(value)));
}

pub(crate) fn add_crate(name: &str) {
    let is_new = CRATES.write().unwrap_or_else(PoisonError::into_inner).insert(name.replace('-', "_"));
    if is_new {
        // Its events may have been met already, as those of a library.
        tracing_core::callsite::rebuild_interest_cache();
    }
}

fn is_own(target: &str) -> bool {
    let name = library::crate_of(target);
    matches!(name, "terrane_sdk" | "terrane_protocol")
        || CRATES.read().unwrap_or_else(PoisonError::into_inner).contains(name)
}

/// Writes a message with fields at the level "trace".
///
/// ```
/// terrane_sdk::log::trace("connected", &[("host", "localhost")]);
/// ```
pub fn trace(message: &str, fields: &[(&str, &str)]) {
    write(Level::Trace, message, fields);
}

/// As [`trace`], at the level "debug".
///
/// ```
/// terrane_sdk::log::debug("request sent", &[("method", "GET"), ("path", "/notes")]);
/// ```
pub fn debug(message: &str, fields: &[(&str, &str)]) {
    write(Level::Debug, message, fields);
}

/// As [`trace`], at the level "info".
///
/// ```
/// terrane_sdk::log::info("note created", &[("id", "7")]);
/// ```
pub fn info(message: &str, fields: &[(&str, &str)]) {
    write(Level::Info, message, fields);
}

/// As [`trace`], at the level "warn".
///
/// ```
/// terrane_sdk::log::warn("request is retried", &[("status", "503")]);
/// ```
pub fn warn(message: &str, fields: &[(&str, &str)]) {
    write(Level::Warn, message, fields);
}

/// As [`trace`], at the level "error".
///
/// ```
/// terrane_sdk::log::error("request failed", &[("status", "500")]);
/// ```
pub fn error(message: &str, fields: &[(&str, &str)]) {
    write(Level::Error, message, fields);
}

fn write(level: Level, message: &str, fields: &[(&str, &str)]) {
    let Some(log) = LOG.get().filter(|log| level >= log.level) else { return };
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    log.write(level, &log.module, message, fields, spans::current());
}

impl Log {
    fn new(level: Level, name: &str, out: Box<dyn Write + Send>) -> Log {
        Log { level, module: format!("provider.{name}"), spans: Spans::default(), out: Mutex::new(out) }
    }

    /// Writes a line with the fields of the spans from `span` up, masked. A field of the line itself counts more than one of a span.
    fn write(&self, level: Level, module: &str, message: &str, fields: Map<String, Value>, span: Option<u64>) {
        let mut all = self.spans.fields(span);
        all.extend(fields);
        let rules = RULES.read().unwrap_or_else(PoisonError::into_inner);
        let Some((message, all)) = self.spans.apply_rules(&rules, span, message, all) else { return };
        let line = line::line(module, level.name(), &message, all);
        // If the log cannot be written, there is no other place to report it.
        let _ = writeln!(self.out.lock().unwrap_or_else(PoisonError::into_inner), "{line}");
    }
}

#[cfg(test)]
mod tests;
