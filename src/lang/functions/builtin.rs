//! What the topic files build their entries from.
//!
//! Owns the shape of a built-in entry and the small readers of arguments.

use std::borrow::Cow;

use terrane_value::{Number, Type, Value};

use super::redaction::placeholder;
use super::signature::{CallContext, Function, FunctionError, Param, Reads, Signature};

pub type Outcome = Result<Value, FunctionError>;
pub type TypeOutcome = Result<Type, FunctionError>;
pub type FunctionBody = fn(&[Value], &CallContext<'_>) -> Outcome;

/// A function of the language itself.
pub struct Builtin {
    signature: Signature,
    result: ResultType,
    body: FunctionBody,
    never_null: bool,
    reads: Reads,
}

#[derive(Clone)]
enum ResultType {
    Fixed(Type),
    Computed { of: fn(&[Value]) -> TypeOutcome, documented: Type },
}

impl Builtin {
    pub fn new(name: &'static str, params: Vec<Param>, result: Type, body: FunctionBody) -> Builtin {
        let description = Cow::Borrowed("");
        Builtin {
            signature: Signature { name: Cow::Borrowed(name), params, variadic: None, description, returns: None },
            result: ResultType::Fixed(result),
            body,
            never_null: true,
            reads: Reads::Nothing,
        }
    }

    /// With a parameter that takes all further arguments.
    pub fn variadic(mut self, param: Param) -> Builtin {
        self.signature.variadic = Some(param);
        self
    }

    /// With a result type that depends on the arguments. What `new` was given is then only documentation.
    pub fn typed(mut self, of: fn(&[Value]) -> TypeOutcome) -> Builtin {
        let documented = self.documented_type().clone();
        self.result = ResultType::Computed { of, documented };
        self
    }

    pub fn of_files(mut self) -> Builtin {
        self.reads = Reads::Files;
        self
    }

    pub fn may_be_null(mut self) -> Builtin {
        self.never_null = false;
        self
    }

    pub fn doc(mut self, description: &'static str) -> Builtin {
        self.signature.description = Cow::Borrowed(description);
        self
    }

    /// The result type as documentation shows it: `dynamic` where it depends on the arguments.
    pub fn documented_type(&self) -> &Type {
        match &self.result {
            ResultType::Fixed(ty) | ResultType::Computed { documented: ty, .. } => ty,
        }
    }
}

impl Function for Builtin {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[Value]) -> TypeOutcome {
        match &self.result {
            ResultType::Fixed(ty) => Ok(ty.clone()),
            ResultType::Computed { of, .. } => of(args),
        }
    }

    fn call(&self, args: &[Value], context: &CallContext<'_>) -> Outcome {
        (self.body)(args, context)
    }

    fn never_null(&self) -> bool {
        self.never_null
    }

    fn reads(&self) -> Reads {
        self.reads
    }
}

/// Parameters.
pub fn p(name: &'static str, ty: Type) -> Param {
    Param::new(name, ty)
}

pub fn string(name: &'static str) -> Param {
    p(name, Type::String)
}

pub fn number(name: &'static str) -> Param {
    p(name, Type::Number)
}

pub fn any(name: &'static str) -> Param {
    p(name, Type::Dynamic)
}

/// What a parameter lets through to the body.
pub trait Allow {
    fn null(self) -> Self;
    fn unknown(self) -> Self;
    fn dynamic(self) -> Self;
    fn marked(self) -> Self;
    /// All four.
    fn everything(self) -> Self;
    /// What the parameter means, for documentation.
    fn about(self, description: &'static str) -> Self;
}

impl Allow for Param {
    fn null(mut self) -> Param {
        self.allow_null = true;
        self
    }

    fn unknown(mut self) -> Param {
        self.allow_unknown = true;
        self
    }

    fn dynamic(mut self) -> Param {
        self.allow_dynamic = true;
        self
    }

    fn marked(mut self) -> Param {
        self.allow_marked = true;
        self
    }

    fn everything(self) -> Param {
        self.null().unknown().dynamic().marked()
    }

    fn about(mut self, description: &'static str) -> Param {
        self.description = Cow::Borrowed(description);
        self
    }
}

pub fn fail<T>(message: impl Into<String>) -> Result<T, FunctionError> {
    Err(FunctionError::new(message))
}

pub fn fail_argument<T>(index: usize, message: impl Into<String>) -> Result<T, FunctionError> {
    Err(FunctionError::argument(index, message))
}

/// Arguments, where the evaluator has made sure of type, known and not null.
pub fn text(args: &[Value], i: usize) -> &str {
    args.get(i).and_then(Value::as_str).unwrap_or_default()
}

pub fn num(args: &[Value], i: usize) -> Number {
    args.get(i).and_then(Value::as_number).cloned().unwrap_or_else(Number::zero)
}

/// A whole number that fits a machine word; the error is worded as the reference's conversion words it.
pub fn whole(n: &Number) -> Result<i64, String> {
    n.as_i64()
        .ok_or_else(|| "value must be a whole number, between -9223372036854775808 and 9223372036854775807".to_owned())
}

/// A whole number argument.
pub fn int(args: &[Value], i: usize) -> Result<i64, FunctionError> {
    whole(&num(args, i)).map_err(FunctionError::new)
}

/// As `int`, where the error is the argument's.
pub fn int_argument(args: &[Value], i: usize) -> Result<i64, FunctionError> {
    whole(&num(args, i)).map_err(|e| FunctionError::argument(i, e))
}

/// A string argument for a message: quoted, unless it must not be shown.
pub fn quoted_argument(value: &Value) -> String {
    match placeholder(value.marks()) {
        Some(text) => text.to_owned(),
        None => quoted(value.as_str().unwrap_or_default()),
    }
}

/// A text in Go's quotes, for messages.
pub fn quoted(text: &str) -> String {
    terrane_value::text::go_quoted(text)
}
