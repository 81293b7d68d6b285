//! Levels of a log.

/// A level of a message, or the lowest one that is written.
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

    /// "trace", as lines of JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
            Level::Off => "off",
        }
    }
}

impl From<tracing::Level> for Level {
    fn from(level: tracing::Level) -> Level {
        match level {
            tracing::Level::TRACE => Level::Trace,
            tracing::Level::DEBUG => Level::Debug,
            tracing::Level::INFO => Level::Info,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::ERROR => Level::Error,
        }
    }
}

impl From<Level> for tracing::level_filters::LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Trace => Self::TRACE,
            Level::Debug => Self::DEBUG,
            Level::Info => Self::INFO,
            Level::Warn => Self::WARN,
            Level::Error => Self::ERROR,
            Level::Off => Self::OFF,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_the_names_of_the_variables() {
        for level in [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Off] {
            assert_eq!(Level::parse(level.name()), Some(level));
        }
        assert_eq!((Level::parse("Json"), Level::parse("loud")), (Some(Level::Trace), None));
        assert!(Level::Trace < Level::Error);
    }
}
