//! The schemas of one command's providers: each is read once, from a process or from what was kept of an unchanged package.
//!
//! Never starts a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::addr;
use plugin::schema_cache::SchemaCache;
use terrane_protocol::schema::ProviderSchemas;
use tokio::sync::OnceCell;

pub struct KnownSchemas {
    /// None: every provider is asked.
    pub cache: Option<SchemaCache>,
    loaded: Mutex<HashMap<addr::Provider, Arc<OnceCell<Arc<dyn ProviderSchemas>>>>>,
}

impl KnownSchemas {
    pub fn new(cache: Option<SchemaCache>) -> KnownSchemas {
        KnownSchemas { cache, loaded: Mutex::default() }
    }

    /// Where the schemas of a provider are once they were read.
    pub fn of(&self, provider: &addr::Provider) -> Arc<OnceCell<Arc<dyn ProviderSchemas>>> {
        let mut loaded = self.loaded.lock().unwrap_or_else(|e| e.into_inner());
        loaded.entry(provider.clone()).or_default().clone()
    }

    /// What was kept of a package, by its hash.
    pub fn kept(&self, hash: &str) -> Option<Arc<dyn ProviderSchemas>> {
        self.cache.as_ref()?.schemas(hash)
    }
}
