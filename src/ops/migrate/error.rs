//! Why states were not moved.

use std::fmt;

/// Why a migration ended. Before it, nothing or only whole states were written.
#[derive(Debug)]
pub enum MigrationError {
    /// Consent is needed, and questions are not allowed.
    NoInput,
    /// The user did not agree.
    Aborted,
    /// A text for people.
    Failed(String),
}

impl fmt::Display for MigrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MigrationError::NoInput => f.write_str(
                "Can't ask approval for state migration when interactive input is disabled.\n\nPlease remove the \"-input=false\" option \
                 and try again.",
            ),
            MigrationError::Aborted => f.write_str("Migration aborted by user."),
            MigrationError::Failed(why) => f.write_str(why),
        }
    }
}

impl From<String> for MigrationError {
    fn from(why: String) -> MigrationError {
        MigrationError::Failed(why)
    }
}
