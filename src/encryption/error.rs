//! Why something could not be encrypted or decrypted.

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::dialect::Dialect;
use base::name::COMMAND;

use super::method::MethodError;
use super::opentofu;
use super::payload::{PayloadError, VERSION};

/// A failure to seal or to open.
#[derive(Clone, Debug)]
pub enum SealError {
    /// What is to be sealed or opened does not have the format of its kind.
    Payload(PayloadError),
    /// A payload of another version of the format.
    Version(String),
    /// Neither a payload nor, which could be allowed, what it would contain. `unread`: why it is not a payload.
    Content { unread: Option<PayloadError>, why: Unrecognised },
    /// A field outside of the encrypted part differs from the one inside.
    Outside { field: &'static str, outer: String, inner: String },
    /// The method to write with failed. `title`: what messages call what is sealed.
    NotSealed { title: String, why: MethodError },
    /// The key or the configuration does not fit what is stored: what is wrong, and what to do.
    /// `joint`: what stands between them within another message.
    Explained { summary: String, detail: String, joint: &'static str },
    /// What is wrong with the configuration, found out only when its method was needed.
    Configuration(Diagnostics),
}

impl SealError {
    /// No method of the configuration could decrypt `what`. `attempts`: why each of them failed, with the origin of its key.
    pub(super) fn wrong_key(dialect: Dialect, what: &str, attempts: &[Attempt]) -> SealError {
        let lines = |line: fn(&Attempt) -> String| attempts.iter().map(line).collect::<Vec<_>>().join("\n");
        let changed = "name the old method in a \"fallback\" block until everything is written with the new one";
        let joint = opentofu::joint(dialect);
        if opentofu::has_errors_of_opentofu(dialect) {
            let failures =
                lines(|attempt| format!("attempted decryption failed for {}: {}", attempt.title, attempt.why));
            let tried: Vec<&str> = attempts.iter().map(|attempt| &*attempt.origin).collect();
            let tried = tried.join("; ");
            return SealError::Explained {
                summary: NO_METHOD_FITS.to_owned(),
                detail: format!("{failures}\n\nTried: {tried}. Check these values; after a change, {changed}."),
                joint,
            };
        }
        let failures = lines(|attempt| format!("  - {}: {}", attempt.origin, attempt.why));
        SealError::Explained {
            summary: "Decryption failed".to_owned(),
            detail: format!(
                "No method of the encryption configuration can decrypt {what}:\n{failures}\n\nCheck the values that the key comes from: a \
                 passphrase or a key is probably another one than when it was written. If it was changed on purpose, {changed}. Nothing \
                 was changed."
            ),
            joint,
        }
    }

    /// What is stored is not encrypted, and the configuration does not allow that. `block`: the block that can allow it.
    pub(super) fn not_encrypted(dialect: Dialect, what: &str, block: &str) -> SealError {
        let summary = match opentofu::has_errors_of_opentofu(dialect) {
            true => "encountered unencrypted payload without unencrypted method configured".to_owned(),
            false => format!("{}{} is not encrypted", what[..1].to_uppercase(), &what[1..]),
        };
        let advice = match block {
            "plan" => "Create the plan again".to_owned(),
            "state" => format!("To encrypt it, add to the \"encryption\" block, and run \"{COMMAND} apply\""),
            _ => "To read it nevertheless, add to the \"encryption\" block".to_owned(),
        };
        let example = match block {
            "plan" => ".".to_owned(),
            block => format!(
                ":\n\n  method \"unencrypted\" \"migration\" {{}}\n  {block} {{\n    # as before, and:\n    fallback {{\n      method = \
                 method.unencrypted.migration\n    }}\n  }}"
            ),
        };
        let detail = format!("The configuration expects that {what} is encrypted. {advice}{example}");
        SealError::Explained { summary, detail, joint: opentofu::joint(dialect) }
    }

    /// On its own.
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            SealError::Explained { summary, detail, .. } => explained(summary, detail).into(),
            SealError::Configuration(diagnostics) => diagnostics.iter().filter(|d| d.is_error()).cloned().collect(),
            other => Diagnostic::error(other.to_string(), "").into(),
        }
    }

    /// Summary and detail, if this needs no other words around it.
    pub fn summary_and_detail(&self) -> Option<(&str, &str)> {
        match self {
            SealError::Explained { summary, detail, .. } => Some((summary, detail)),
            SealError::Configuration(diagnostics) => {
                let mut errors = diagnostics.iter().filter(|d| d.is_error());
                let first = errors.next().filter(|first| !first.detail.is_empty())?;
                errors.next().is_none().then_some((&first.summary, &first.detail))
            }
            _ => None,
        }
    }
}

/// Why content that is not encrypted is not of the right kind.
#[derive(Clone, Debug)]
pub enum Unrecognised {
    Json(PayloadError),
    NotAState,
    NotAPlan { start: [char; 2] },
}

impl std::fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unrecognised::Json(error) => error.fmt(f),
            Unrecognised::NotAState => f.write_str("Given payload is not a state file"),
            Unrecognised::NotAPlan { start: [first, second] } => write!(f, "Invalid plan file {first}{second}"),
        }
    }
}

impl From<PayloadError> for SealError {
    fn from(error: PayloadError) -> SealError {
        SealError::Payload(error)
    }
}

impl std::error::Error for SealError {}

/// OpenTofu's sentence.
const NO_METHOD_FITS: &str = "decryption failed for all provided methods";

/// One attempt to decrypt something.
pub(super) struct Attempt {
    /// What OpenTofu calls it: `state`, `plan`.
    pub title: String,
    /// The method, with the origin of its key.
    pub origin: String,
    pub why: MethodError,
}

/// An error that says all there is to say.
pub fn explained(summary: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(summary, detail).of_kind(Kind::Encryption)
}

/// As a part of another message: diagnostics in the form that Go's HCL library gives them.
impl std::fmt::Display for SealError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let diagnostics = match self {
            SealError::Payload(error) => return error.fmt(f),
            SealError::Version(version) => {
                return write!(f, "invalid encrypted payload version: {version} != {VERSION}");
            }
            SealError::Content { unread: Some(unread), why } => {
                return write!(f, "invalid data format for decryption: {unread}, {why}");
            }
            SealError::Content { unread: None, why } => {
                return write!(f, "unable to determine data structure during decryption: {why}");
            }
            SealError::Outside { field, outer, inner } => {
                return write!(f, "invalid state metadata, {field} field mismatch {outer} vs {inner}");
            }
            SealError::NotSealed { title, why } => return write!(f, "encryption failed for {title}: {why}"),
            SealError::Explained { summary, detail, joint } => return write!(f, "{summary}{joint}{detail}"),
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
            (SealError::Version("v9".to_owned()), "invalid encrypted payload version: v9 != v0"),
            (SealError::Configuration(two[..1].iter().cloned().collect()), "<nil>: A; b"),
            (SealError::Configuration(two.into_iter().collect()), "<nil>: A; b, and 1 other diagnostic(s)"),
        ];
        for (error, expected) in cases {
            assert_eq!(error.to_string(), expected);
        }
    }
}
