//! Errors in descriptions of types.

use std::fmt;

use super::document::SyntaxError;

/// Why a description is not a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// The text is not JSON.
    Syntax(SyntaxError),
    /// No primitive type has this name.
    UnknownName(String),
    /// No collection or structure has this name, or its argument has another form.
    UnknownKind,
    /// It is neither a name nor an array of a kind and its argument.
    Malformed,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeError::Syntax(error) => error.fmt(f),
            TypeError::UnknownName(name) => write!(f, "invalid primitive type name {name:?}"),
            TypeError::UnknownKind => f.write_str("invalid complex type kind name"),
            TypeError::Malformed => f.write_str("invalid complex type description"),
        }
    }
}

impl std::error::Error for TypeError {}

impl From<SyntaxError> for TypeError {
    fn from(error: SyntaxError) -> TypeError {
        TypeError::Syntax(error)
    }
}
