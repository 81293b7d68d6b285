//! An SDK for built-in providers: attributes as tables, the plan that follows from them, checks with the
//! messages of the public providers, and a provider for a set of resources.
//!
//! The rules are those of the library of the public providers (observed through them): defaults, then unknowns for
//! computed attributes, then the rules of each attribute. Never knows a particular resource.

mod attribute;
mod check;
mod convert;
mod plan;
mod provider;
mod resource;
mod stored;

pub use attribute::{Attr, Rule, Shape};
pub use check::{at_least, at_least_sum_of, exactly_one_of, invalid_value, one_true};
pub use convert::{b64, bool_of, int_of, object_with, strings_map, text_of};
pub use plan::{Planned, plan};
pub use provider::BuiltIn;
pub use resource::{DataSource, Ephemeral, Function, Move, Resource, not_importable};
pub use stored::stored_object;
