//! Why a request to a service failed.

use std::fmt;

use crate::contract::StoreError;

/// A service's error, or why there is no answer; in the words of the service's own library.
#[derive(Clone, Debug)]
pub struct Failure {
    /// 0 without an answer.
    pub status: u16,
    /// Of the service, `LeaseAlreadyPresent` for example; empty if it gives none.
    pub code: String,
    pub text: String,
    /// How often the request was sent.
    pub attempts: u32,
}

impl Failure {
    /// There is no answer, or none that can be read.
    pub fn unanswered(why: impl fmt::Display) -> Failure {
        Failure { status: 0, code: String::new(), text: why.to_string(), attempts: 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        StoreError::new(failure.text)
    }
}
