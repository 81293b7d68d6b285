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
pub enum PageKind {
    Provider,
    Resource,
    DataSource,
    Function,
    Ephemeral,
    Action,
    ListResource,
    StateStore,
}

impl PageKind {
    /// Those with a page per type.
    pub const OF_TYPES: [PageKind; 7] = [
        PageKind::Resource,
        PageKind::DataSource,
        PageKind::Function,
        PageKind::Ephemeral,
        PageKind::Action,
        PageKind::ListResource,
        PageKind::StateStore,
    ];

    /// The folder of the pages, of their templates and of their examples; none for the page of the provider itself.
    pub fn folder(self) -> &'static str {
        match self {
            PageKind::Provider => "",
            PageKind::Resource => "resources",
            PageKind::DataSource => "data-sources",
            PageKind::Function => "functions",
            PageKind::Ephemeral => "ephemeral-resources",
            PageKind::Action => "actions",
            PageKind::ListResource => "list-resources",
            PageKind::StateStore => "state-stores",
        }
    }

    /// As it is called in titles.
    pub fn title(self) -> &'static str {
        match self {
            PageKind::Provider => "Provider",
            PageKind::Resource => "Resource",
            PageKind::DataSource => "Data Source",
            PageKind::Function => "function",
            PageKind::Ephemeral => "Ephemeral Resource",
            PageKind::Action => "Action",
            PageKind::ListResource => "List Resource",
            PageKind::StateStore => "State Store",
        }
    }

    /// The begin and the end of the names of examples.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            PageKind::Provider => ("provider", ".tf"),
            PageKind::Resource => ("resource", ".tf"),
            PageKind::DataSource => ("data-source", ".tf"),
            PageKind::Function => ("function", ".tf"),
            PageKind::Ephemeral => ("ephemeral-resource", ".tf"),
            PageKind::Action => ("action", ".tf"),
            PageKind::ListResource => ("list-resource", ".tfquery.hcl"),
            PageKind::StateStore => ("state-store", ".tf"),
        }
    }
}

impl Described {
    /// The subjects of the pages of a kind, by name.
    pub fn subjects(&self, kind: PageKind) -> Vec<(&Arc<str>, Subject<'_>)> {
        let types = match kind {
            PageKind::Provider => return Vec::new(),
            PageKind::Function => {
                let of = |function| Subject::Function(function);
                return self.schemas.functions.iter().map(|(name, found)| (name, of(&**found))).collect();
            }
            PageKind::Resource => &self.schemas.managed,
            PageKind::DataSource => &self.schemas.data,
            PageKind::Ephemeral => &self.schemas.ephemeral,
            PageKind::Action => &self.schemas.actions,
            PageKind::ListResource => &self.schemas.list_resources,
            PageKind::StateStore => &self.schemas.state_stores,
        };
        let identity = |name: &Arc<str>| self.identities.get(name).filter(|_| kind == PageKind::Resource);
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
