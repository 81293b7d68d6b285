//! Hashes of provider packages, with the scheme that made them: `h1:` over the files, `zh:` over the archive.

use std::fmt;

/// A package hash as lock files hold it. Sorted by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Over the names and contents of the files.
    H1,
    /// Over the bytes of the `.zip` archive.
    Zh,
}

impl Scheme {
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::H1 => "h1:",
            Scheme::Zh => "zh:",
        }
    }
}

/// A text without a scheme is no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashError;

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hash string must start with a scheme keyword followed by a colon")
    }
}

impl std::error::Error for HashError {}

impl Hash {
    pub fn new(scheme: Scheme, value: &str) -> Hash {
        Hash(format!("{}{value}", scheme.prefix()))
    }

    /// Any text with a scheme before a colon; schemes of the future are kept.
    pub fn parse(text: &str) -> Result<Hash, HashError> {
        match text.split_once(':') {
            None | Some(("", _)) => Err(HashError),
            Some(_) => Ok(Hash(text.to_owned())),
        }
    }

    /// None for a scheme of the future.
    pub fn scheme(&self) -> Option<Scheme> {
        [Scheme::H1, Scheme::Zh].into_iter().find(|s| self.0.starts_with(s.prefix()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text behind the scheme.
    pub fn value(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, value)| value)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
