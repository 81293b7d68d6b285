//! Why a document does not describe a plan.

use std::{error, fmt};

use terrane_value::json::JsonError;

use crate::schema::document::SchemaDocumentError;

/// Why a document cannot be read as a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDocumentError {
    /// The text is not JSON.
    Json(String),
    /// The schemas of a provider cannot be read.
    Schemas(SchemaDocumentError),
    /// The source address of a provider is invalid.
    Provider(String),
    /// The address of a resource instance or an action is invalid.
    Address(String),
    /// No action has these names. The text is JSON.
    Actions(String),
    /// A value is not of its type. `of`: what has it.
    Value { of: String, error: JsonError },
}

impl PlanDocumentError {
    pub(super) fn value(of: &impl fmt::Display, error: JsonError) -> PlanDocumentError {
        PlanDocumentError::Value { of: of.to_string(), error }
    }
}

impl fmt::Display for PlanDocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanDocumentError::Json(why) => f.write_str(why),
            PlanDocumentError::Schemas(error) => error.fmt(f),
            PlanDocumentError::Provider(name) => write!(f, "invalid provider {name:?}"),
            PlanDocumentError::Address(text) => write!(f, "invalid address {text:?}"),
            PlanDocumentError::Actions(names) => write!(f, "unknown actions {names}"),
            PlanDocumentError::Value { of, error } => write!(f, "{of}: {error}"),
        }
    }
}

impl error::Error for PlanDocumentError {}
