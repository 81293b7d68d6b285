//! Pages about a provider for registries, in Markdown: one per type and function, made of its schema and of examples.
//!
//! The folders, names and headings are those that registries and their readers expect. Never knows where schemas, examples
//! and templates come from.

mod execute;
mod function;
mod page;
mod plain;
mod schema;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use execute::{ReadFile, execute};
pub use page::{Examples, Page, Subject, marker, render};
pub use template::{Template, TemplateError};
use terrane_protocol::provider::IdentitySchema;
use terrane_protocol::schema::{Block, FunctionSignature, StaticSchemas};

/// What a provider says of itself.
#[derive(Clone, Debug, Default)]
pub struct Described {
    pub schemas: StaticSchemas,
    /// By resource type.
    pub identities: BTreeMap<Arc<str>, IdentitySchema>,
}

/// The kinds of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Provider,
    Resource,
    DataSource,
    Function,
    Ephemeral,
    Action,
    ListResource,
    StateStore,
}

impl Kind {
    /// Those with a page per type.
    pub const OF_TYPES: [Kind; 7] = [
        Kind::Resource,
        Kind::DataSource,
        Kind::Function,
        Kind::Ephemeral,
        Kind::Action,
        Kind::ListResource,
        Kind::StateStore,
    ];

    /// The folder of the pages, of their templates and of their examples; none for the page of the provider itself.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Provider => "",
            Kind::Resource => "resources",
            Kind::DataSource => "data-sources",
            Kind::Function => "functions",
            Kind::Ephemeral => "ephemeral-resources",
            Kind::Action => "actions",
            Kind::ListResource => "list-resources",
            Kind::StateStore => "state-stores",
        }
    }

    /// As it is called in titles.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Provider => "Provider",
            Kind::Resource => "Resource",
            Kind::DataSource => "Data Source",
            Kind::Function => "function",
            Kind::Ephemeral => "Ephemeral Resource",
            Kind::Action => "Action",
            Kind::ListResource => "List Resource",
            Kind::StateStore => "State Store",
        }
    }

    /// The begin and the end of the names of examples.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            Kind::Provider => ("provider", ".tf"),
            Kind::Resource => ("resource", ".tf"),
            Kind::DataSource => ("data-source", ".tf"),
            Kind::Function => ("function", ".tf"),
            Kind::Ephemeral => ("ephemeral-resource", ".tf"),
            Kind::Action => ("action", ".tf"),
            Kind::ListResource => ("list-resource", ".tfquery.hcl"),
            Kind::StateStore => ("state-store", ".tf"),
        }
    }
}

impl Described {
    /// The subjects of the pages of a kind, by name.
    pub fn subjects(&self, kind: Kind) -> Vec<(&Arc<str>, Subject<'_>)> {
        let types = match kind {
            Kind::Provider => return Vec::new(),
            Kind::Function => {
                let of = |function| Subject::Function(function);
                return self.schemas.functions.iter().map(|(name, found)| (name, of(&**found))).collect();
            }
            Kind::Resource => &self.schemas.managed,
            Kind::DataSource => &self.schemas.data,
            Kind::Ephemeral => &self.schemas.ephemeral,
            Kind::Action => &self.schemas.actions,
            Kind::ListResource => &self.schemas.list_resources,
            Kind::StateStore => &self.schemas.state_stores,
        };
        let identity = |name: &Arc<str>| self.identities.get(name).filter(|_| kind == Kind::Resource);
        types.iter().map(|(name, schema)| (name, Subject::Type(&schema.block, identity(name)))).collect()
    }

    /// The subject of the page of the provider itself.
    pub fn provider(&self) -> Subject<'_> {
        Subject::Type(&self.schemas.provider.block, None)
    }
}

/// Whether users are to stop using it.
pub fn is_deprecated(subject: &Subject<'_>) -> bool {
    let of_block = |block: &Block| block.deprecated;
    let of_function = |function: &FunctionSignature| !function.deprecation_message.is_empty();
    match subject {
        Subject::Type(block, _) => of_block(block),
        Subject::Function(function) => of_function(function),
    }
}
