//! The error of a provider's operation, before it becomes a diagnostic.

use terrane_sdk::Error;

/// An error as a diagnostic shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub summary: String,
    pub detail: String,
}

impl Failure {
    pub fn new(summary: impl Into<String>, detail: impl Into<String>) -> Failure {
        Failure { summary: summary.into(), detail: detail.into() }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::new(failure.summary, failure.detail)
    }
}
