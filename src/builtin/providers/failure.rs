//! The error of a provider's operation, before it becomes a diagnostic.

use terrane_sdk::Error;

/// An error as a diagnostic shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub summary: String,
    pub detail: String,
}

impl Failure {
    /// `detail`: a text, or an error whose text it is.
    pub fn new(summary: impl Into<String>, detail: impl ToString) -> Failure {
        Failure { summary: summary.into(), detail: detail.to_string() }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::new(failure.summary, failure.detail)
    }
}
