//! Signatures of functions as Markdown.

use terrane_protocol::schema::{FunctionSignature, Parameter};

use super::schema::type_name;

/// The signature as a block of text: `name(a string, b list of number...) bool`.
pub fn signature(name: &str, function: &FunctionSignature) -> String {
    let parameter = |parameter: &Parameter| format!("{} {}", parameter.name, parameter.ty.friendly_name());
    let mut parameters: Vec<String> = function.parameters.iter().map(parameter).collect();
    parameters.extend(function.variadic.as_ref().map(|variadic| parameter(variadic) + "..."));
    format!("```text\n{name}({}) {}\n```", parameters.join(", "), function.returns.friendly_name())
}

/// The parameters as a numbered list, without a variadic one.
pub fn arguments(function: &FunctionSignature) -> String {
    function.parameters.iter().map(|parameter| line(parameter, "")).collect::<Vec<_>>().join("\n")
}

/// The variadic parameter as a member of the list; empty if there is none.
pub fn variadic_argument(function: &FunctionSignature) -> String {
    function.variadic.as_ref().map(|variadic| line(variadic, "Variadic, ")).unwrap_or_default()
}

fn line(parameter: &Parameter, before: &str) -> String {
    let Parameter { name, ty, allow_null, description, .. } = parameter;
    let nullable = if *allow_null { ", Nullable" } else { "" };
    format!("1. `{name}` ({before}{}{nullable}) {}", type_name(ty), description.trim())
}
