//! The functions that only policies have.

use base::name::TERRANE;
use lang::eval::describe::indented_json;
use lang::functions::type_of::type_text;
use lang::functions::{self, CallContext, Function, FunctionError, Param, Signature};
use model::deps::{Constraints, Version};
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::PolicyData;

/// The functions of a policy, over what it can look up.
pub struct PolicyFunctions<'a> {
    all: Vec<PolicyFunction<'a>>,
}

/// The names, sorted.
pub const NAMES: [&str; 9] = [
    "contains_substring",
    "getdatasource",
    "gethttprequest",
    "getresources",
    "regex_match",
    "semvercmp",
    "semverconstraint",
    "type",
    "valuetostring",
];

/// The error of a call with values that must not be shown.
const HIDDEN: &str = "the reason is not shown, because an argument is sensitive or ephemeral";

type CallResult = Result<Value, FunctionError>;
type Body = fn(&[Value], &CallContext<'_>, &dyn PolicyData) -> CallResult;

struct PolicyFunction<'a> {
    signature: Signature,
    result: Type,
    body: Body,
    data: &'a dyn PolicyData,
}

impl<'a> PolicyFunctions<'a> {
    pub fn new(data: &'a dyn PolicyData) -> PolicyFunctions<'a> {
        let param = |name: &'static str, ty: Type| Param { allow_marked: true, ..Param::new(name, ty) };
        let string = |name: &'static str| param(name, Type::String);
        let any = |name: &'static str| Param { allow_dynamic: true, ..param(name, Type::Dynamic) };
        let entry = |name: &'static str, params: Vec<Param>, variadic: Option<Param>, result: Type, body: Body| {
            let signature = Signature { name: name.into(), params, variadic, description: "".into(), returns: None };
            PolicyFunction { signature, result, body, data }
        };
        let nullable = |param: Param| Param { allow_null: true, ..param };
        let shown = || Param { allow_null: true, allow_unknown: true, ..any("value") };
        let two = |a, b| vec![string(a), string(b)];
        PolicyFunctions {
            all: vec![
                entry("contains_substring", two("str", "substr"), None, Type::Bool, contains_substring),
                entry("getdatasource", vec![string("type"), any("config")], None, Type::Dynamic, get_data_source),
                entry("gethttprequest", vec![string("url")], Some(nullable(any("options"))), Type::Dynamic, get_http),
                entry(
                    "getresources",
                    vec![string("type")],
                    Some(nullable(any("filter"))),
                    Type::Dynamic,
                    get_resources,
                ),
                entry("regex_match", two("str", "pattern"), None, Type::Bool, regex_match),
                entry("semvercmp", two("version_a", "version_b"), None, Type::Number, compare_versions),
                entry("semverconstraint", two("version", "constraint"), None, Type::Bool, meets_constraint),
                entry("type", vec![shown()], None, Type::String, type_of_value),
                entry("valuetostring", vec![shown()], None, Type::String, value_to_string),
            ],
        }
    }

    pub fn find(&self, name: &str) -> Option<&dyn Function> {
        match self.all.iter().find(|function| function.signature.name == name) {
            Some(own) => Some(own),
            None => functions::lookup(name),
        }
    }
}

impl Function for PolicyFunction<'_> {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _args: &[Value]) -> Result<Type, FunctionError> {
        Ok(self.result.clone())
    }

    fn call(&self, args: &[Value], context: &CallContext<'_>) -> CallResult {
        let marks = args.iter().fold(Marks::NONE, |all, arg| all | arg.deep_marks());
        let bare: Vec<Value> = args.iter().map(|arg| arg.unmark_deep().0).collect();
        match (self.body)(&bare, context, self.data) {
            Ok(value) => Ok(value.mark(marks)),
            // What is wrong may name the argument.
            Err(_) if marks.intersects(Marks::SENSITIVE | Marks::EPHEMERAL) => Err(FunctionError::new(HIDDEN)),
            Err(error) => Err(error),
        }
    }

    fn never_null(&self) -> bool {
        false
    }
}

fn text(args: &[Value], index: usize) -> &str {
    args.get(index).and_then(Value::as_str).unwrap_or_default()
}

fn contains_substring(args: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    Ok(Value::bool(text(args, 0).contains(text(args, 1))))
}

fn regex_match(args: &[Value], context: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    let Some(find_all) = functions::lookup("regexall") else { return Err(FunctionError::new("there are no patterns")) };
    let found = find_all.call(&[args[1].clone(), args[0].clone()], context).map_err(|error| FunctionError {
        // There, the pattern comes first.
        argument: error.argument.map(|index| 1 - index.min(1)),
        ..error
    })?;
    Ok(Value::bool(!found.is_empty()))
}

fn version(args: &[Value], index: usize) -> Result<Version, FunctionError> {
    Version::parse(text(args, index)).map_err(|error| FunctionError::argument(index, error.to_string()))
}

fn compare_versions(args: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    Ok(Value::int(version(args, 0)?.cmp(&version(args, 1)?) as i64))
}

fn meets_constraint(args: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    let version = version(args, 0)?;
    let constraints =
        Constraints::parse(text(args, 1)).map_err(|error| FunctionError::argument(1, error.to_string()))?;
    Ok(Value::bool(constraints.allows(&version)))
}

fn type_of_value(args: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    Ok(Value::string(type_text(args[0].ty())))
}

fn value_to_string(args: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    let value = &args[0];
    if !value.is_known() {
        return Ok(Value::string("(unknown)"));
    }
    if value.is_null() {
        return Ok(Value::string("(null)"));
    }
    match convert(value, &Type::String) {
        Ok(text) => Ok(text),
        Err(_) => Ok(Value::string(indented_json(value))),
    }
}

fn get_http(_: &[Value], _: &CallContext<'_>, _: &dyn PolicyData) -> CallResult {
    Err(FunctionError::new(format!(
        "{TERRANE} makes no requests for policies; use core::getdatasource(\"http\", {{ url = ... }}) with the provider http"
    )))
}

/// The objects of a type whose attributes are those of the filter. Unknown if one of them may be or not.
fn get_resources(args: &[Value], _: &CallContext<'_>, data: &dyn PolicyData) -> CallResult {
    if args.len() > 2 {
        return Err(FunctionError::new("a type and a filter are the only arguments"));
    }
    let filter = args.get(1).filter(|filter| !filter.is_null());
    if let Some(filter) = filter
        && !matches!(filter.ty(), Type::Object(_) | Type::Map(_))
    {
        return Err(FunctionError::argument(1, "an object is required"));
    }
    let Some(objects) = data.resources(text(args, 0)) else { return Ok(Value::dynamic()) };
    Ok(objects.find(filter.unwrap_or(&Value::empty_object())))
}

fn get_data_source(args: &[Value], _: &CallContext<'_>, data: &dyn PolicyData) -> CallResult {
    let config = &args[1];
    if !matches!(config.ty(), Type::Object(_) | Type::Map(_)) {
        return Err(FunctionError::argument(1, "an object is required"));
    }
    if !config.is_wholly_known() {
        return Ok(Value::dynamic());
    }
    data.data_source(text(args, 0), config)
}

/// The names of all functions, for "did you mean".
pub fn names() -> Vec<String> {
    let mut all: Vec<String> = functions::names().into_iter().chain(NAMES).map(str::to_owned).collect();
    all.sort_unstable();
    all
}
