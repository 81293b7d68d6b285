//! Whether a configuration has a block `store` of `terraform_data`, which Terraform 1.16 introduced.
//!
//! Only then does the built-in provider have it: otherwise objects and schemas are those of the reference.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use lang::syntax::body::BodySchema;
use model::config::{Config, Resource};
use terrane_protocol::schema::ResourceMode;

use crate::setup::Setup;

static STORE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().block("store", &[]).block("dynamic", &["type"]));

/// Remembers it for the providers that are started from now on.
pub fn note(setup: &Setup, config: &Config) {
    if config.modules().iter().any(|module| module.resources.values().any(has_store)) {
        setup.data_stores.store(true, Ordering::Relaxed);
    }
}

fn has_store(resource: &Resource) -> bool {
    let addr = &resource.addr;
    addr.mode == ResourceMode::Managed
        && &*addr.kind == "terraform_data"
        && resource
            .body
            .partial_content(&STORE)
            .0
            .blocks
            .iter()
            .any(|block| block.kind.as_str() == "store" || &**block.label(0) == "store")
}
