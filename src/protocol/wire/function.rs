//! Provider-defined functions between the wire and the model.

use bytes::Bytes;
use prost::Message;
use terrane_value::Type;

use super::{message as wire, string_kind};
use crate::provider::FunctionError;
use crate::schema::{FunctionSignature, Parameter, SchemaError, SchemaPart};

pub fn decode(bytes: Bytes) -> Result<FunctionSignature, SchemaError> {
    from_wire(wire::Function::decode(bytes).map_err(|error| SchemaError::Message(error.to_string()))?)
}

pub fn from_wire(function: wire::Function) -> Result<FunctionSignature, SchemaError> {
    let returns = function.r#return.unwrap_or_default();
    Ok(FunctionSignature {
        parameters: function.parameters.into_iter().map(from_parameter).collect::<Result<_, _>>()?,
        variadic: function.variadic_parameter.map(from_parameter).transpose()?,
        returns: Type::from_json_bytes(&returns.r#type)
            .map_err(|error| SchemaError::Type(SchemaPart::Return, error))?,
        summary: function.summary,
        description: function.description,
        markdown: function.description_kind == wire::StringKind::Markdown as i32,
        deprecation_message: function.deprecation_message,
    })
}

fn from_parameter(parameter: wire::function::Parameter) -> Result<Parameter, SchemaError> {
    Ok(Parameter {
        ty: Type::from_json_bytes(&parameter.r#type)
            .map_err(|error| SchemaError::Type(SchemaPart::Parameter(parameter.name.clone()), error))?,
        name: parameter.name,
        allow_null: parameter.allow_null_value,
        allow_unknown: parameter.allow_unknown_values,
        description: parameter.description,
        markdown: parameter.description_kind == wire::StringKind::Markdown as i32,
    })
}

pub fn to_wire(function: &FunctionSignature) -> wire::Function {
    wire::Function {
        parameters: function.parameters.iter().map(to_parameter).collect(),
        variadic_parameter: function.variadic.as_ref().map(to_parameter),
        r#return: Some(wire::function::Return { r#type: function.returns.to_json_bytes().into() }),
        summary: function.summary.clone(),
        description: function.description.clone(),
        description_kind: string_kind(function.markdown),
        deprecation_message: function.deprecation_message.clone(),
    }
}

fn to_parameter(parameter: &Parameter) -> wire::function::Parameter {
    wire::function::Parameter {
        name: parameter.name.clone(),
        r#type: parameter.ty.to_json_bytes().into(),
        allow_null_value: parameter.allow_null,
        allow_unknown_values: parameter.allow_unknown,
        description: parameter.description.clone(),
        description_kind: string_kind(parameter.markdown),
    }
}

/// The type of the argument at a position; `None` if the function takes no so many.
pub fn argument_type(function: &FunctionSignature, position: usize) -> Option<&Type> {
    function.parameters.get(position).or(function.variadic.as_ref()).map(|parameter| &parameter.ty)
}

pub fn from_error(error: wire::FunctionError) -> FunctionError {
    let argument = error.function_argument.and_then(|argument| usize::try_from(argument).ok());
    FunctionError { text: error.text, argument }
}

pub fn to_error(error: FunctionError) -> wire::FunctionError {
    let argument = error.argument.and_then(|argument| i64::try_from(argument).ok());
    wire::FunctionError { text: error.text, function_argument: argument }
}
