//! Why something could not be encrypted or decrypted.

use crate::base::diag::{Diagnostic, Diagnostics};

/// The summary where the key is another one than that which something was encrypted with.
pub const WRONG_KEY: &str = "Decryption failed";

/// A failure to seal or to open.
#[derive(Clone, Debug)]
pub enum SealError {
    /// What is wrong with the data or with the method that was used.
    Text(String),
    /// No method of the configuration could decrypt it: where their keys come from, and what to do.
    WrongKey(String),
    /// What is wrong with the configuration, found out only when its method was needed.
    Configuration(Diagnostics),
}

impl SealError {
    pub fn new(text: impl Into<String>) -> SealError {
        SealError::Text(text.into())
    }

    /// On its own.
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            SealError::Text(text) => Diagnostic::error(text.clone(), "").into(),
            SealError::WrongKey(text) => Diagnostic::error(WRONG_KEY, text.clone()).into(),
            SealError::Configuration(diagnostics) => diagnostics.iter().filter(|d| d.is_error()).cloned().collect(),
        }
    }
}

/// As a part of another message: diagnostics in the form that Go's HCL library gives them.
impl std::fmt::Display for SealError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let diagnostics = match self {
            SealError::Text(text) | SealError::WrongKey(text) => return f.write_str(text),
            SealError::Configuration(diagnostics) => diagnostics,
        };
        let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|d| d.is_error()).collect();
        let Some(first) = errors.first() else { return f.write_str("no diagnostics") };
        match &first.subject {
            Some(place) => write!(f, "{place}")?,
            None => f.write_str("<nil>")?,
        }
        write!(f, ": {}; {}", first.summary, first.detail)?;
        match errors.len() {
            1 => Ok(()),
            count => write!(f, ", and {} other diagnostic(s)", count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_one_text_within_another() {
        let two = [Diagnostic::error("A", "b"), Diagnostic::warning("w", ""), Diagnostic::error("C", "d")];
        let cases = [
            (SealError::new("plain"), "plain"),
            (SealError::Configuration(two[..1].iter().cloned().collect()), "<nil>: A; b"),
            (SealError::Configuration(two.into_iter().collect()), "<nil>: A; b, and 1 other diagnostic(s)"),
        ];
        for (error, expected) in cases {
            assert_eq!(error.to_string(), expected);
        }
    }
}
