//! The log that `TF_LOG` asks for.
//!
//! Owns the only state that outlives a command's values, and the only writing to standard error beside the console's.
//! Costs one relaxed load per message when it is off. Log with [`log!`](crate::log): `log!(Debug, "text {}", value)`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use gotext::timestamp::Timestamp;

use super::env::{self, Environment};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Trace = 1,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

impl Level {
    /// The level that a variable's text means, in any case; None if it is no level.
    pub fn parse(text: &str) -> Option<Level> {
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

    fn label(self) -> &'static str {
        match self {
            Level::Trace => "[TRACE]",
            Level::Debug => "[DEBUG]",
            Level::Info => "[INFO] ",
            Level::Warn => "[WARN] ",
            Level::Error => "[ERROR]",
            Level::Off => "[OFF]  ",
        }
    }

    fn name(self) -> &'static str {
        self.label().trim_end().trim_matches(['[', ']'])
    }
}

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

struct Logger {
    settings: Settings,
    out: Mutex<Out>,
}

enum Out {
    Stderr,
    File(File),
}

/// 0 until [`start`] has run: nothing is logged.
static CORE: AtomicU8 = AtomicU8::new(Level::Off as u8);
static LOGGER: OnceLock<Logger> = OnceLock::new();

/// Starts logging as the settings say; a second call changes nothing.
pub fn start(settings: Settings) {
    for complaint in &settings.complaints {
        let _ = writeln!(io::stderr(), "{complaint}");
    }
    if settings.lowest() == Level::Off {
        return;
    }
    let core = settings.core;
    let out = match &settings.path {
        None => Out::Stderr,
        Some(path) => match open(path.as_ref()) {
            Ok(file) => Out::File(file),
            Err(e) => {
                let _ =
                    writeln!(io::stderr(), "Error opening log file: {}", super::files::named(e, "open", path.as_ref()));
                Out::Stderr
            }
        },
    };
    if LOGGER.set(Logger { settings, out: Mutex::new(out) }).is_ok() {
        CORE.store(core as u8, Ordering::Relaxed);
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

/// Whether a message of the program itself at this level would be written.
#[inline]
pub fn enabled(level: Level) -> bool {
    level as u8 >= CORE.load(Ordering::Relaxed)
}

/// The level that the plugin of this name ("aws") is to log at: what its environment gets.
pub fn provider_level(name: &str) -> Level {
    let Some(logger) = LOGGER.get() else { return Level::Off };
    let key = name.to_ascii_uppercase().replace('-', "_");
    logger.settings.providers.get(&key).copied().unwrap_or(logger.settings.provider)
}

/// Whether the log is lines of JSON.
pub fn is_json() -> bool {
    LOGGER.get().is_some_and(|l| l.settings.json)
}

/// Writes a message of the program itself; use the macro [`log!`](crate::log), which formats only what is wanted.
pub fn write(level: Level, message: &str) {
    if enabled(level) {
        write_record(level, "", message, &[]);
    }
}

/// Writes a message that came from a plugin: `name` as in `provider.terraform-provider-aws_v5`, fields in their order.
pub fn write_provider(provider: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) {
    if level >= provider_level(provider) {
        write_record(level, name, message, fields);
    }
}

fn write_record(level: Level, name: &str, message: &str, fields: &[(String, String)]) {
    let Some(logger) = LOGGER.get() else { return };
    let time = timestamp(logger.settings.json);
    let line = match logger.settings.json {
        true => json_line(&time, level, name, message, fields),
        false => text_line(&time, level, name, message, fields),
    };
    let mut out = logger.out.lock().unwrap_or_else(|e| e.into_inner());
    // If the log cannot be written, there is no other place to report it.
    let _ = match &mut *out {
        Out::Stderr => io::stderr().write_all(line.as_bytes()),
        Out::File(file) => file.write_all(line.as_bytes()),
    };
}

fn text_line(time: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) -> String {
    let mut line = format!("{time} {} ", level.label());
    if !name.is_empty() {
        let _ = write!(line, "{name}: ");
    }
    line.push_str(message);
    for (i, (key, value)) in fields.iter().enumerate() {
        let separator = if i == 0 { ": " } else { " " };
        if value.contains('\n') {
            let _ = write!(line, "{separator}{key}=\n  | {}", value.trim_end().replace('\n', "\n  | "));
        } else if value.contains([' ', '"', '=']) {
            let _ = write!(line, "{separator}{key}={value:?}");
        } else {
            let _ = write!(line, "{separator}{key}={value}");
        }
    }
    line.push('\n');
    line
}

fn json_line(time: &str, level: Level, name: &str, message: &str, fields: &[(String, String)]) -> String {
    let mut object = serde_json::Map::new();
    object.insert("@level".into(), level.name().to_ascii_lowercase().into());
    object.insert("@message".into(), message.into());
    if !name.is_empty() {
        object.insert("@module".into(), name.into());
    }
    object.insert("@timestamp".into(), time.into());
    object.extend(fields.iter().map(|(k, v)| (k.clone(), v.as_str().into())));
    format!("{}\n", serde_json::Value::Object(object))
}

/// The present moment, as the reference writes it in lines of JSON or of text.
pub fn timestamp(json: bool) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs() as i64;
    moment_text(Timestamp { seconds, nanoseconds: since.subsec_nanos(), offset: local_offset(seconds) }, json)
}

fn moment_text(moment: Timestamp, json: bool) -> String {
    let zone = match (moment.offset, json) {
        (0, _) => "Z".to_owned(),
        (_, true) => moment.offset_text(":"),
        (_, false) => moment.offset_text(""),
    };
    match json {
        true => format!("{}.{:06}{zone}", moment.local_text(), moment.nanoseconds / 1_000),
        false => format!("{}.{:03}{zone}", moment.local_text(), moment.nanoseconds / 1_000_000),
    }
}

/// Seconds east of UTC at a moment, as the machine is set up.
fn local_offset(second: i64) -> i32 {
    #[cfg(unix)]
    {
        let second = second as libc::time_t;
        // SAFETY: localtime_r fills the structure it is given and nothing else.
        unsafe {
            let mut parts: libc::tm = std::mem::zeroed();
            if libc::localtime_r(&second, &mut parts).is_null() { 0 } else { parts.tm_gmtoff as i32 }
        }
    }
    #[cfg(not(unix))]
    {
        let _ = second;
        0
    }
}

/// Logs a message of the program itself: `log!(Debug, "read {} bytes", n)`. Formats nothing when the level is off.
#[macro_export]
macro_rules! log {
    ($level:ident, $($message:tt)+) => {
        if $crate::log::enabled($crate::log::Level::$level) {
            $crate::log::write($crate::log::Level::$level, &format!($($message)+));
        }
    };
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

    #[test]
    fn lines_have_the_usual_format() {
        let fields = [("a".to_string(), "1".to_string()), ("b".to_string(), "x y".to_string())];
        assert_eq!(text_line("T", Level::Info, "", "hello", &[]), "T [INFO]  hello\n");
        assert_eq!(text_line("T", Level::Debug, "p.q", "hi", &fields), "T [DEBUG] p.q: hi: a=1 b=\"x y\"\n");
        let json = json_line("T", Level::Warn, "", "m", &fields[..1]);
        assert_eq!(json, "{\"@level\":\"warn\",\"@message\":\"m\",\"@timestamp\":\"T\",\"a\":\"1\"}\n");
        assert!(timestamp(false).len() >= 24);
        let moment = |offset| Timestamp { seconds: 951_827_696, nanoseconds: 7_008_009, offset };
        for (offset, json, expected) in [
            (0, false, "2000-02-29T12:34:56.007Z"),
            (0, true, "2000-02-29T12:34:56.007008Z"),
            (5_400, false, "2000-02-29T14:04:56.007+0130"),
            (-16_200, true, "2000-02-29T08:04:56.007008-04:30"),
        ] {
            assert_eq!(moment_text(moment(offset), json), expected);
        }
    }
}
