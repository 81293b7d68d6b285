//! Reading: data sources, the objects of managed resources, and stored objects in the form of the current schema.
//!
//! Owns the requests that change nothing. Never plans a change of a managed object.

pub mod data;
pub mod identity;
pub mod refresh;
pub mod upgrade;
