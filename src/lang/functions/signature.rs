//! What a function is to the evaluator: parameters, a result type and a body. Built-in functions and those of providers
//! are entries of the same kind.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use base::dialect::Dialect;
use base::files::Files;
use base::moment::Moment;
use serde_json::{Value as Json, json};
use terrane_value::{Type, Value};

use crate::eval::Scope;

/// A hash (SHA-256) of a call with its arguments, or of a result. Values cannot be read from it.
pub type Fingerprint = [u8; 32];

/// Where a function has its answers from, beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Nothing,
    Files,
    Provider,
}

/// A call whose result a machine keeps or compares.
pub struct Remembered<'a> {
    pub reads: Reads,
    /// The function's name.
    pub name: &'a str,
    /// The arguments as messages show them.
    pub shown: String,
    pub call: Fingerprint,
    pub result: Fingerprint,
}

/// A function that expressions can call. The evaluator has checked the number of arguments, converted them to the types
/// of the parameters, and dealt with nulls, unknowns and marks that a parameter does not allow.
pub trait Function: Send + Sync {
    fn signature(&self) -> &Signature;

    /// The type of the result for these arguments, some of which may be unknown.
    fn return_type(&self, args: &[Value]) -> Result<Type, FunctionError>;

    fn call(&self, args: &[Value], context: &CallContext<'_>) -> Result<Value, FunctionError>;

    /// True if the result is never null; an unknown result then has this refinement.
    fn never_null(&self) -> bool {
        true
    }

    /// Where its answers come from. What is not `Nothing` must give the same answer each time, which is checked.
    fn reads(&self) -> Reads {
        Reads::Nothing
    }

    /// A name that no other function has, wherever it is called.
    fn identity(&self) -> &str {
        &self.signature().name
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// With its namespaces: `provider::aws::arn_parse`.
    pub name: Cow<'static, str>,
    pub params: Vec<Param>,
    /// Takes all arguments behind those for `params`.
    pub variadic: Option<Param>,
    pub description: Cow<'static, str>,
    /// The type of every result, for functions that only their provider knows.
    pub returns: Option<Type>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Cow<'static, str>,
    pub ty: Type,
    /// Without it, a null argument is an error.
    pub allow_null: bool,
    /// Without it, an unknown argument makes the result unknown without a call of the body.
    pub allow_unknown: bool,
    /// Without it, an argument of unknown type makes the result one of unknown type.
    pub allow_dynamic: bool,
    /// Without it, marks are taken off the argument (deeply) and put onto the result.
    pub allow_marked: bool,
    pub description: Cow<'static, str>,
}

impl Param {
    pub fn new(name: impl Into<Cow<'static, str>>, ty: Type) -> Param {
        Param {
            name: name.into(),
            ty,
            allow_null: false,
            allow_unknown: false,
            allow_dynamic: false,
            allow_marked: false,
            description: Cow::Borrowed(""),
        }
    }
}

impl Signature {
    /// For people: `join(separator, lists...)`.
    pub fn text(&self) -> String {
        let names: Vec<String> = self.params.iter().map(|p| p.name.to_string()).collect();
        let variadic = self.variadic.iter().map(|p| format!("{}...", p.name));
        let all: Vec<String> = names.into_iter().chain(variadic).collect();
        format!("{}({})", self.name, all.join(", "))
    }

    /// As the JSON form of diagnostics has it: `{"name": ..., "params": [...], "return_type": ...}`.
    pub fn document(&self, result: &Type) -> Json {
        let of = |param: &Param| json!({ "name": param.name, "type": param.ty.to_json() });
        let mut out = json!({ "name": self.name, "params": self.params.iter().map(of).collect::<Vec<_>>() });
        if let Some(variadic) = &self.variadic {
            out["variadic_param"] = of(variadic);
        }
        out["return_type"] = result.to_json();
        out
    }
}

/// Why a call failed: because of one argument (and where in it), or as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionError {
    pub argument: Option<usize>,
    pub path: terrane_value::Path,
    pub message: String,
}

impl FunctionError {
    pub fn new(message: impl Into<String>) -> FunctionError {
        FunctionError { argument: None, path: terrane_value::Path::new(), message: message.into() }
    }

    pub fn argument(index: usize, message: impl Into<String>) -> FunctionError {
        FunctionError { argument: Some(index), path: terrane_value::Path::new(), message: message.into() }
    }
}

/// What a body may use beside its arguments: the functions that a template can call, files, time and chance.
pub struct CallContext<'s> {
    pub scope: &'s dyn Scope,
    /// Of the file that the call stands in.
    pub dialect: Dialect,
}

/// The machine as functions see it.
pub trait Machine: Sync {
    fn files(&self) -> &dyn Files;

    /// What relative paths are relative to.
    fn base_dir(&self) -> &Path;

    /// The absolute directory that `abspath` starts from.
    fn working_dir(&self) -> PathBuf {
        self.base_dir().to_path_buf()
    }

    /// What `~` stands for.
    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    /// True while `timestamp`, `uuid` and `bcrypt` must stay unknown: their results are made during apply.
    fn pure_only(&self) -> bool;

    fn now(&self) -> Moment;

    /// When the plan was made, as `plantimestamp` says; none where there is no plan.
    fn plan_time(&self) -> Option<Moment>;

    fn random(&self, bytes: &mut [u8]);

    /// Whether results of such functions are kept, to be confirmed by later calls.
    fn remembers(&self, _reads: Reads) -> bool {
        false
    }

    /// Keeps the result of a call, or compares it with the one that is kept: false if the new one is an error.
    fn confirms(&self, _call: &Remembered<'_>) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_name_parameters_and_result() {
        let signature = Signature {
            name: "join".into(),
            params: vec![Param::new("separator", Type::String)],
            variadic: Some(Param::new("lists", Type::list(Type::String))),
            description: "".into(),
            returns: None,
        };
        let expected = json!({
            "name": "join",
            "params": [{"name": "separator", "type": "string"}],
            "variadic_param": {"name": "lists", "type": ["list", "string"]},
            "return_type": "bool",
        });
        assert_eq!(signature.document(&Type::Bool), expected);
    }
}
