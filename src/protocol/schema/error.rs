//! Errors in what a provider says of itself.

use std::fmt;

use terrane_value::TypeError;

/// Why a description in a provider's schemas cannot be read: a bug of the provider, or a damaged cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The whole response is no message of the protocol. The text is the decoder's.
    Response(String),
    /// The description of a type or a function is no message of the protocol. The text is the decoder's.
    Message(String),
    /// A part has no type of the language.
    Type(SchemaPart, TypeError),
    /// A part has no nesting mode of the protocol.
    Nesting(SchemaPart),
}

/// A part of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaPart {
    Attribute(String),
    Block(String),
    IdentityAttribute(String),
    /// Of a function.
    Parameter(String),
    /// What a function returns.
    Return,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::Response(text) => write!(f, "the schema response cannot be read: {text}"),
            SchemaError::Message(text) => f.write_str(text),
            SchemaError::Type(SchemaPart::Return, error) => write!(f, "invalid return type: {error}"),
            SchemaError::Type(part, error) => write!(f, "{part} has an invalid type: {error}"),
            SchemaError::Nesting(part) => write!(f, "{part} has an invalid nesting mode"),
        }
    }
}

impl fmt::Display for SchemaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaPart::Attribute(name) => write!(f, "the attribute {name:?}"),
            SchemaPart::Block(name) => write!(f, "the block type {name:?}"),
            SchemaPart::IdentityAttribute(name) => write!(f, "the identity attribute {name:?}"),
            SchemaPart::Parameter(name) => write!(f, "the parameter {name:?}"),
            SchemaPart::Return => f.write_str("the return value"),
        }
    }
}

impl std::error::Error for SchemaError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_part() {
        let part = |make: fn(String) -> SchemaPart| SchemaError::Type(make("a".to_owned()), TypeError::UnknownKind);
        let cases = [
            (part(SchemaPart::Attribute), "the attribute \"a\" has an invalid type: invalid complex type kind name"),
            (part(SchemaPart::Parameter), "the parameter \"a\" has an invalid type: invalid complex type kind name"),
            (
                SchemaError::Type(SchemaPart::Return, TypeError::UnknownName("x".to_owned())),
                "invalid return type: invalid primitive type name \"x\"",
            ),
            (
                SchemaError::Nesting(SchemaPart::Block("b".to_owned())),
                "the block type \"b\" has an invalid nesting mode",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(error.to_string(), expected);
        }
    }
}
