//! Errors of providers: diagnostics with the place that they are about.

use std::fmt;

use terrane_protocol::provider::ProviderDiagnostic as Diagnostic;
use terrane_value::Path;

/// What went wrong: one or more diagnostics.
///
/// ```
/// use terrane_sdk::{Error, Path};
/// let error = Error::new("Note not found", "The server has no note 7.").at(Path::new().attr("id"));
/// assert_eq!(error.to_string(), "Note not found: The server has no note 7.");
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// `summary` is short and always the same; `detail` says what happened, why, and how to fix it.
    ///
    /// ```
    /// # use terrane_sdk::Error;
    /// let detail = "The service has no note 7. Check the id.";
    /// assert_eq!(Error::new("Note not found", detail).to_string(), format!("Note not found: {detail}"));
    /// ```
    pub fn new(summary: impl Into<String>, detail: impl Into<String>) -> Error {
        Error { diagnostics: vec![Diagnostic::error(summary, detail)] }
    }

    /// The attribute that the error is about.
    ///
    /// ```
    /// # use terrane_sdk::{Error, Model};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// let error = Error::new("Title taken", "Another note has this title.").at(Note::TITLE.path());
    /// ```
    #[must_use]
    pub fn at(mut self, path: Path) -> Error {
        for diagnostic in &mut self.diagnostics {
            diagnostic.attribute.get_or_insert_with(|| path.clone());
        }
        self
    }

    /// Both.
    ///
    /// ```
    /// # use terrane_sdk::Error;
    /// let both = Error::new("A", "a.").and(Error::new("B", "b."));
    /// assert_eq!(both.to_string(), "A: a.; B: b.");
    /// ```
    #[must_use]
    pub fn and(mut self, other: Error) -> Error {
        self.diagnostics.extend(other.diagnostics);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", diagnostic.summary, diagnostic.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Error {
        Error { diagnostics: vec![diagnostic] }
    }
}

impl From<Vec<Diagnostic>> for Error {
    fn from(diagnostics: Vec<Diagnostic>) -> Error {
        Error { diagnostics }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new("Input/Output Error", error.to_string())
    }
}
