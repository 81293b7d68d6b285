//! Failures of stores, with what callers decide by.

use std::{fmt, io};

use net::rsa_key::KeyError;

/// A store's failure, worded for people; names the path or address concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    pub kind: ErrorKind,
    pub text: String,
}

/// What callers decide by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Failed,
    /// The backend has only the default workspace.
    WorkspacesUnsupported,
    /// The backend has only named workspaces, not the default one.
    DefaultUnsupported,
    /// The lock is free, or held by another process.
    LockGone,
    /// The state cannot be encrypted, or decrypted.
    Sealed,
    /// The state cannot be decrypted, or is not encrypted as it should be, for a reason that is explained.
    Explained(Explanation),
    /// What the store holds is not a whole state.
    Damaged,
    /// The provider of a state store reports an error.
    Provider(Explanation),
}

/// What an error's text says, in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub summary: String,
    pub detail: String,
}

impl StoreError {
    pub fn new(text: impl Into<String>) -> StoreError {
        StoreError { kind: ErrorKind::Failed, text: text.into() }
    }

    /// Summary and detail, if the text has both.
    pub fn summary_and_detail(&self) -> Option<(&str, &str)> {
        let (ErrorKind::Provider(of) | ErrorKind::Explained(of)) = &self.kind else { return None };
        Some((&of.summary, &of.detail))
    }

    /// The lock is free, or held by another process.
    pub fn lock_gone(text: impl Into<String>) -> StoreError {
        StoreError { kind: ErrorKind::LockGone, text: text.into() }
    }

    /// A lock is not released because it has another ID.
    pub fn lock_mismatch(id: &str, other: &str) -> StoreError {
        StoreError::lock_gone(format!("lock ID {id:?} does not match existing lock ID {other:?}"))
    }

    /// There is no lock to release.
    pub fn not_locked(id: &str) -> StoreError {
        StoreError::lock_gone(format!("the state is not locked by the ID {id:?}"))
    }

    pub fn damaged(text: impl Into<String>) -> StoreError {
        StoreError { kind: ErrorKind::Damaged, text: text.into() }
    }

    pub fn workspaces_unsupported() -> StoreError {
        StoreError { kind: ErrorKind::WorkspacesUnsupported, text: "workspaces not supported".into() }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for StoreError {}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> StoreError {
        StoreError::new(error.to_string())
    }
}

impl From<KeyError> for StoreError {
    fn from(error: KeyError) -> StoreError {
        StoreError::new(error.to_string())
    }
}

impl From<StoreError> for String {
    fn from(error: StoreError) -> String {
        error.text
    }
}

impl From<String> for StoreError {
    fn from(text: String) -> StoreError {
        StoreError::new(text)
    }
}

impl From<&str> for StoreError {
    fn from(text: &str) -> StoreError {
        StoreError::new(text)
    }
}
