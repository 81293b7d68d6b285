//! The library for people who write providers in Rust.
//!
//! A provider implements [`Provider`]; its types implement [`Resource`], [`DataSource`], [`Ephemeral`], [`Function`],
//! [`ListResource`] and [`Action`]. [`Serve`] is what `main` runs, [`testing`] calls types without a host.
//! Attributes are the fields of structs with `#[derive(Model)]`. The rules of plans and of validation are those of the
//! library of the public providers. Never knows a particular resource, nor how a host works.

#[doc(hidden)]
#[path = "derived.rs"]
pub mod __derive;
mod action;
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
mod resource;
mod schema;
mod serve;
mod server;
mod server_kinds;
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
pub use check::validate_implementation;
pub use context::{Context, Private};
pub use convert::{FieldType, Mismatch, Set};
pub use data_source::{DataSource, Ephemeral, Opened};
pub use error::Error;
pub use field::Field;
pub use function::{Function, FunctionError, Parameter, Signature, argument, parameter, signature};
pub use list::{ListResource, Query, Results};
pub use model::{Key, Model, Object, Values};
pub use modifier::{
    PlanModifier, PlannedAttribute, keep, keep_unless_null, replace, replace_if, replace_if_configured,
};
pub use mux::mux;
pub use provider::{Provider, Types};
pub use resource::{
    Creation, DeferralReason, IdentityAttribute, IdentitySchema, Import, Moved, Plan, Resource, Stored, Update,
    Validation, identity_schema, not_importable,
};
pub use schema::{Attribute, Block, NestedBlock, Nesting, NumberKind, Schema, Shape};
pub use serve::Serve;
pub use server::{Served, server};
pub use timeouts::{Timeouts, duration};
pub use validator::{ConfiguredAttribute, Validator};

pub use crate::lang::value::{Number, Path, Type, Value};
pub use terrane_derive::Model;
