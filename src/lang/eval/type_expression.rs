//! Type constraints as written in configuration: `list(object({ a = optional(string, "x") }))`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lang::value::Value;

/// Values for optional attributes that are absent, in the shape of the type.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Defaults {
    /// Of the object itself.
    pub values: BTreeMap<Arc<str>, Value>,
    /// Of nested objects: by attribute name, tuple index, or "" for the elements of a collection.
    pub children: BTreeMap<Arc<str>, Defaults>,
}
