//! What a query finds.

use terrane_value::Value;

use crate::addr::AbsResourceInstance;

/// The results of an instance of a `list` block.
#[derive(Clone, Debug)]
pub struct ListResults {
    pub addr: AbsResourceInstance,
    /// The version of the schema of the identities.
    pub identity_version: i64,
    pub objects: Vec<ListedObject>,
}

/// An object that exists.
#[derive(Clone, Debug)]
pub struct ListedObject {
    /// For people.
    pub display_name: String,
    /// An object of the type that the schema of the identity implies.
    pub identity: Value,
    /// Of the type that the schema of the managed resource type implies. None: not asked for, or not given.
    pub state: Option<Value>,
    pub generated: Option<GeneratedImport>,
}

/// Blocks that make an object a managed one.
#[derive(Clone, Debug)]
pub struct GeneratedImport {
    pub resource: String,
    pub import: String,
}
