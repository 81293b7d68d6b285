//! Provider-defined functions.

use std::future::Future;

use terrane_protocol::provider::FunctionError as WireError;
/// The parameters, the type of the result, and the documentation of a function: [`signature()`] makes the usual ones.
///
/// ```
/// use terrane_sdk::{Signature, Type, signature};
/// let pi = Signature { description: "With 53 bits.".to_owned(), ..signature("Pi", vec![], Type::Number) };
/// assert!(pi.variadic.is_none());
/// ```
#[doc(inline)]
pub use terrane_protocol::schema::FunctionSignature as Signature;
/// A parameter of a function: [`parameter()`] makes one that accepts neither null nor unknown values.
///
/// ```
/// use terrane_sdk::{Parameter, Type, parameter};
/// let text = Parameter { allow_null: true, ..parameter::<String>("text", "The text, or null.") };
/// assert_eq!(text.ty, Type::String);
/// ```
#[doc(inline)]
pub use terrane_protocol::schema::Parameter;
use terrane_value::{Type, Value};

use super::convert::FieldType;

/// Why a function failed.
///
/// ```
/// use terrane_sdk::FunctionError;
/// let error = FunctionError::argument(0, "not a date");
/// assert_eq!(error.to_string(), "not a date");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    pub(super) text: String,
    pub(super) argument: Option<usize>,
}

impl FunctionError {
    /// An error about the call as a whole.
    ///
    /// ```
    /// # use terrane_sdk::FunctionError;
    /// assert_eq!(FunctionError::new("the texts have no common prefix").to_string(), "the texts have no common prefix");
    /// ```
    pub fn new(text: impl Into<String>) -> FunctionError {
        FunctionError { text: text.into(), argument: None }
    }

    /// An error about the argument with this index.
    ///
    /// ```
    /// # use terrane_sdk::FunctionError;
    /// fn port(text: &str) -> Result<u16, FunctionError> {
    ///     text.parse().map_err(|_| FunctionError::argument(0, "a number up to 65535 is required"))
    /// }
    /// assert!(port("http").is_err());
    /// ```
    pub fn argument(index: usize, text: impl Into<String>) -> FunctionError {
        FunctionError { text: text.into(), argument: Some(index) }
    }
}

impl std::fmt::Display for FunctionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for FunctionError {}

impl From<FunctionError> for WireError {
    fn from(error: FunctionError) -> WireError {
        WireError { text: error.text, argument: error.argument }
    }
}

impl From<WireError> for FunctionError {
    fn from(error: WireError) -> FunctionError {
        FunctionError { text: error.text, argument: error.argument }
    }
}

/// A function. It depends on its arguments alone: the provider need not be configured.
///
/// ```
/// # use terrane_sdk::{Function, FunctionError, Signature, Type, Value, argument, parameter, signature};
/// struct Reverse;
///
/// impl Function for Reverse {
///     fn signature(&self) -> Signature {
///         signature("Reverses a text", vec![parameter::<String>("text", "The text.")], Type::String)
///     }
///
///     async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
///         let text: String = argument(&arguments, 0)?;
///         Ok(Value::string(text.chars().rev().collect::<String>()))
///     }
/// }
/// ```
pub trait Function: Send + Sync + 'static {
    /// The parameters, the type of the result, and the documentation.
    ///
    /// ```
    /// # use terrane_sdk::{Function, FunctionError, Signature, Type, Value, parameter, signature};
    /// # struct Join; impl Function for Join {
    /// fn signature(&self) -> Signature {
    ///     let texts = parameter::<String>("texts", "The texts to join.");
    ///     Signature { variadic: Some(texts), ..signature("Joins texts", vec![], Type::String) }
    /// }
    /// # async fn call(&self, _: Vec<Value>) -> Result<Value, FunctionError> { Ok(Value::string("")) } }
    /// ```
    fn signature(&self) -> Signature;

    /// The arguments in the order of the signature; with a variadic parameter, its arguments follow the others.
    ///
    /// ```
    /// # use terrane_sdk::{Function, FunctionError, Signature, Type, Value, argument, parameter, signature};
    /// # struct Root; impl Function for Root {
    /// # fn signature(&self) -> Signature { signature("Root", vec![parameter::<i64>("n", "A number.")], Type::Number) }
    /// async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
    ///     let number: i64 = argument(&arguments, 0)?;
    ///     let root = number.checked_isqrt().ok_or_else(|| FunctionError::argument(0, "the number is negative"))?;
    ///     Ok(Value::int(root))
    /// }
    /// # }
    /// ```
    fn call(&self, arguments: Vec<Value>) -> impl Future<Output = Result<Value, FunctionError>> + Send;
}

/// A parameter of the type of `T`.
///
/// ```
/// let parameter = terrane_sdk::parameter::<String>("text", "The text to reverse.");
/// assert_eq!(parameter.name, "text");
/// ```
pub fn parameter<T: FieldType>(name: &str, description: &str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        ty: T::shape().ty(),
        allow_null: false,
        allow_unknown: false,
        description: description.to_owned(),
        markdown: false,
    }
}

/// A signature without a variadic parameter.
///
/// ```
/// # use terrane_sdk::{Type, parameter, signature};
/// let mut join = signature("Joins texts", vec![], Type::String);
/// join.variadic = Some(parameter::<String>("texts", "The texts."));
/// ```
pub fn signature(summary: &str, parameters: Vec<Parameter>, returns: Type) -> Signature {
    Signature {
        parameters,
        variadic: None,
        returns,
        summary: summary.to_owned(),
        description: String::new(),
        markdown: false,
        deprecation_message: String::new(),
    }
}

/// The argument with this index as a Rust value.
///
/// ```
/// # use terrane_sdk::{Value, argument};
/// let arguments = [Value::int(2)];
/// assert_eq!(argument::<i64>(&arguments, 0), Ok(2));
/// assert!(argument::<String>(&arguments, 0).is_err());
/// ```
pub fn argument<T: FieldType>(arguments: &[Value], index: usize) -> Result<T, FunctionError> {
    let missing = || FunctionError::new(format!("argument {} is missing", index + 1));
    let value = arguments.get(index).ok_or_else(missing)?;
    T::from_value(value).map_err(|mismatch| FunctionError::argument(index, mismatch.reason))
}
