//! The library for people who write providers in Rust.
//!
//! A provider implements [`Provider`]; its types implement [`Resource`], [`DataSource`], [`Ephemeral`], [`Function`],
//! [`ListResource`] and [`Action`]. [`Serve`] is what `main` runs, [`testing`] calls types without a host.
//! Attributes are the fields of structs with `#[derive(Model)]`. The rules of plans and of validation are those of the
//! library of the public providers. Never knows a particular resource, nor how a host works.

// The code that the derive macro writes names this crate from the outside.
extern crate self as terrane_sdk;

#[doc(hidden)]
#[path = "derived.rs"]
pub mod __derive;
#[doc(hidden)]
pub mod __host;
mod action;
mod attribute;
mod check;
mod context;
mod convert;
mod data_source;
mod erased;
mod erased_kinds;
mod error;
mod field;
mod function;
mod list;
pub mod log;
mod model;
mod modifier;
mod mux;
mod panic;
mod plan;
mod provider;
mod request;
mod resource;
mod schema;
#[cfg(feature = "ring")]
mod serve;
mod server;
mod server_kinds;
mod stop;
mod stored;
pub mod testing;
#[cfg(test)]
mod tests;
mod timeouts;
mod validate;
mod validator;
pub mod validators;
mod walk;

pub use action::{Action, Progress};
pub use attribute::{Attribute, NumberKind};
pub use check::validate_implementation;
pub use context::{Context, Private};
pub use convert::{FieldType, Mismatch, Set};
pub use data_source::{DataSource, Ephemeral, Opened};
pub use error::Error;
pub use field::Field;
#[doc(inline)]
pub use function::{Function, FunctionError, Parameter, Signature, argument, parameter, signature};
pub use list::{ListResource, Query, Results};
pub use model::{Key, Model, Object, Values};
pub use modifier::{
    PlanModifier, PlannedAttribute, keep, keep_unless_null, replace, replace_if, replace_if_configured,
};
pub use mux::mux;
pub use provider::{Provider, Types};
pub use request::{Creation, Import, Moved, Plan, Stored, Update, Validation, not_importable};
#[doc(inline)]
pub use resource::{DeferralReason, IdentityAttribute, IdentitySchema, Resource, identity_schema};
#[doc(inline)]
pub use schema::{Block, NestedBlock, Nesting, Schema, Shape};
#[cfg(feature = "ring")]
pub use serve::Serve;
pub use server::{Served, server};
/// Makes a struct a model.
///
/// ```
/// use terrane_sdk::{Field, Model, validators::length_at_least};
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     /// Given by the service.
///     #[attribute(computed, keep)]
///     id: Field<String>,
///     #[attribute(required, validators(length_at_least(1)))]
///     title: String,
/// }
/// assert_eq!(Note::block().description, "A note.");
/// assert_eq!(Note::TITLE.name(), "title");
/// ```
#[doc(inline)]
pub use terrane_derive::Model;
/// A number, whole or not, with more digits than an `f64`.
///
/// ```
/// use terrane_sdk::{Number, Value};
/// let tenth = Number::parse("0.1").unwrap();
/// assert_eq!(tenth.as_f64(), 0.1);
/// assert_eq!(Value::int(3).as_number().and_then(Number::as_i64), Some(3));
/// ```
#[doc(inline)]
pub use terrane_value::Number;
/// The place of a value in an object. [`Key::path`] makes that of an attribute of a model.
///
/// ```
/// use terrane_sdk::Path;
/// let path = Path::new().attr("rules").index_int(0).attr("port");
/// assert_eq!(path.to_string(), ".rules[0].port");
/// ```
#[doc(inline)]
pub use terrane_value::Path;
/// A type of the language.
///
/// ```
/// use terrane_sdk::{Type, Value};
/// let ty = Type::object([("tags", Type::set(Type::String))]);
/// assert!(ty.is_object());
/// assert_eq!(Value::bool(true).ty(), &Type::Bool);
/// ```
#[doc(inline)]
pub use terrane_value::Type;
/// An untyped value: of an [`Object`], of an attribute of any type, of an argument of a function.
///
/// ```
/// use terrane_sdk::{Type, Value};
/// let note = Value::object([("title", Value::string("Milk")), ("id", Value::unknown(Type::String))]);
/// assert_eq!(note.get("title").and_then(Value::as_str), Some("Milk"));
/// assert!(!note.get("id").unwrap().is_known());
/// ```
#[doc(inline)]
pub use terrane_value::Value;
pub use timeouts::{Timeouts, duration};
pub use validator::{ConfiguredAttribute, Validator};
