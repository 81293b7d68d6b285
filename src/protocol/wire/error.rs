//! Errors in values that came over the wire.

use std::fmt;

use terrane_value::json::JsonError;
use terrane_value::msgpack::MsgpackError;

use crate::provider::IdentityError;

/// Why a value on the wire is not what the schema says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    Msgpack(MsgpackError),
    Json(JsonError),
    Identity(IdentityError),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Msgpack(error) => error.fmt(f),
            WireError::Json(error) => error.fmt(f),
            WireError::Identity(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WireError {}
