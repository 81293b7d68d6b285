//! The blocks that say where states are: `backend` and `cloud`; `state_store` has its own file.

use std::sync::Arc;

use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::Body;

use crate::addr;
use crate::config::providers::requirements::ProviderRequirement;

/// `backend "type" {}`, `state_store "type" {}`, or `cloud {}`, whose kind is `cloud`.
#[derive(Clone, Debug)]
pub struct Backend {
    pub kind: Arc<str>,
    pub is_cloud_block: bool,
    /// The provider of a `state_store` block; other blocks have none.
    pub store: Option<StoreProvider>,
    pub kind_range: Range,
    pub body: Body,
    pub range: Range,
}

/// The provider of a state store.
#[derive(Clone, Debug)]
pub struct StoreProvider {
    /// Its local name: the label of the block within.
    pub name: Arc<str>,
    /// Its configuration.
    pub body: Body,
    pub range: Range,
    /// None until the requirements are known, and if nothing requires it.
    pub requirement: Option<ProviderRequirement>,
}

impl StoreProvider {
    /// The provider is known: it is required, or the built-in one.
    pub fn is_resolved(&self) -> bool {
        self.requirement.is_some() || &*self.name == "terraform"
    }

    /// The provider that the name stands for; with an entry in `required_providers`, the one of that.
    pub fn source(&self) -> addr::Provider {
        match &self.requirement {
            Some(requirement) => requirement.source.clone(),
            None => addr::Provider::builtin(&self.name),
        }
    }
}

/// A `backend` block.
pub fn decode(block: &Block) -> Backend {
    Backend {
        kind: block.label(0).clone(),
        is_cloud_block: false,
        store: None,
        kind_range: block.label_range(0),
        body: block.body.clone(),
        range: block.header_range(),
    }
}

/// A `cloud` block.
pub fn decode_cloud(block: &Block) -> Backend {
    Backend {
        kind: "cloud".into(),
        is_cloud_block: true,
        store: None,
        kind_range: block.kind_range(),
        body: block.body.clone(),
        range: block.header_range(),
    }
}
