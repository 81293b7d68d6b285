//! The log that `TF_LOG` asks for.
//!
//! The program logs with the macros of `tracing`; [`start`] is what makes their events lines. Owns the only state that outlives a
//! command's values, and the only writing to standard error beside the console's. Without a log there is no subscriber: a message
//! costs one relaxed load. Events of libraries are in it at the level "trace" only, without what may be secret.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use terrane_logging::Level;

use super::env::{self, Environment};
use super::secret;

mod events;
mod line;

/// The crates of the program, as targets of events name them. All others are libraries.
pub const OWN_CRATES: &[&str] = &[
    "backend",
    "base",
    "builtin",
    "cli",
    "encryption",
    "engine",
    "gotext",
    "install",
    "lang",
    "model",
    "net",
    "ops",
    "plugin",
    "render",
    "terrane",
    "terrane_logging",
    "terrane_protocol",
    "terrane_sdk",
    "terrane_value",
];

/// The levels that the environment asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub core: Level,
    pub provider: Level,
    /// By the plugin's name in capitals with `-` as `_`.
    pub providers: BTreeMap<String, Level>,
    pub json: bool,
    pub path: Option<String>,
    /// What was wrong with the variables, worded for a person.
    pub complaints: Vec<String>,
}

impl Settings {
    pub fn from_environment(environment: &Environment) -> Settings {
        let mut complaints = Vec::new();
        let mut level = |name: &str| {
            let text = environment.non_empty(name)?;
            Some(Level::parse(text).unwrap_or_else(|| {
                complaints.push(format!(
                    "[WARN] Invalid log level: {text:?}. Defaulting to level: TRACE. Valid levels are: [TRACE DEBUG INFO WARN ERROR OFF]",
                ));
                Level::Trace
            }))
        };
        let all = level(env::TF_LOG);
        let core = level(env::TF_LOG_CORE).or(all).unwrap_or(Level::Off);
        let provider = level(env::TF_LOG_PROVIDER).or(all).unwrap_or(Level::Off);
        let providers = environment
            .with_prefix(env::TF_LOG_PROVIDER_)
            .filter_map(|(name, text)| Some((name.to_string(), Level::parse(text)?)))
            .collect();
        let asks_json = |name| environment.get(name).is_some_and(|text| text.eq_ignore_ascii_case("json"));
        let json = [env::TF_LOG, env::TF_LOG_CORE, env::TF_LOG_PROVIDER].into_iter().any(asks_json);
        let path = environment.non_empty(env::TF_LOG_PATH).map(str::to_string);
        Settings { core, provider, providers, json, path, complaints }
    }

    /// The lowest level that anything logs at.
    fn lowest(&self) -> Level {
        self.providers.values().copied().chain([self.core, self.provider]).min().unwrap_or(Level::Off)
    }
}

/// Where lines go, and what they look like.
struct Writer {
    json: bool,
    /// The present moment in lines of JSON (true) or text.
    clock: fn(bool) -> String,
    out: Mutex<Box<dyn Write + Send>>,
}

impl Writer {
    /// Writes a message. `name`: who wrote it, if it is not the program.
    fn write(&self, level: Level, name: &str, message: &str, fields: &[(String, String)]) {
        let message = secret::masked(message);
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| (key.clone(), secret::masked(value).into_owned())).collect();
        let time = (self.clock)(self.json);
        let line = match self.json {
            true => line::json_line(&time, level, name, &message, &fields),
            false => line::text_line(&time, level, name, &message, &fields),
        };
        let mut out = self.out.lock().unwrap_or_else(|e| e.into_inner());
        // If the log cannot be written, there is no other place to report it.
        let _ = out.write_all(line.as_bytes());
    }
}

struct Log {
    settings: Settings,
    writer: Arc<Writer>,
}

/// Unset if nothing is logged.
static LOG: OnceLock<Log> = OnceLock::new();

/// Starts logging as the settings say; a second call changes nothing.
pub fn start(settings: Settings) {
    for complaint in &settings.complaints {
        let _ = writeln!(io::stderr(), "{complaint}");
    }
    if settings.lowest() == Level::Off {
        return;
    }
    let core = settings.core;
    let out: Box<dyn Write + Send> = match &settings.path {
        None => Box::new(io::stderr()),
        Some(path) => match open(path.as_ref()) {
            Ok(file) => Box::new(file),
            Err(e) => {
                let _ =
                    writeln!(io::stderr(), "Error opening log file: {}", super::files::named(e, "open", path.as_ref()));
                Box::new(io::stderr())
            }
        },
    };
    let writer = Arc::new(Writer { json: settings.json, clock: line::timestamp, out: Mutex::new(out) });
    if LOG.set(Log { settings, writer: writer.clone() }).is_ok() {
        secret::keep_for_masking();
        if core != Level::Off {
            // The program has no other subscriber.
            let _ = tracing::subscriber::set_global_default(events::Events { core, writer });
        }
    }
}

/// Opens a log to append to. Logs of providers may have secrets in them: a new file is for its owner.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The level that the plugin of this name ("aws") is to log at: what its environment gets.
pub fn provider_level(name: &str) -> Level {
    let Some(log) = LOG.get() else { return Level::Off };
    let key = name.to_ascii_uppercase().replace('-', "_");
    log.settings.providers.get(&key).copied().unwrap_or(log.settings.provider)
}

/// Writes a message that came from a plugin: `name` as in `provider.terraform-provider-aws_v5`, fields in their order. Not an event:
/// only the plugin knows the names of its fields.
pub fn write_provider(provider: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) {
    if let Some(log) = LOG.get().filter(|_| level >= provider_level(provider)) {
        log.writer.write(level, name, message, fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_from_the_most_specific_variable() {
        let settings = Settings::from_environment(&Environment::of([
            ("TF_LOG", "warn"),
            ("TF_LOG_PROVIDER", "json"),
            ("TF_LOG_PROVIDER_AWS", "off"),
            ("TF_LOG_CORE", "loud"),
        ]));
        assert_eq!((settings.core, settings.provider, settings.json), (Level::Trace, Level::Trace, true));
        assert_eq!(settings.providers.get("AWS"), Some(&Level::Off));
        assert_eq!(settings.complaints.len(), 1);
        assert_eq!(Settings::from_environment(&Environment::default()).lowest(), Level::Off);
    }
}
