//! The processes of providers that keep the states: they run until the command ends, longer than those of an operation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use base::diag::Diagnostics;
use engine::ports::Providers;
use model::addr;
use model::deps::Lock;
use terrane_protocol::provider::Provider;

use super::root::Root;

/// Providers whose processes live until [`Self::end`].
#[async_trait]
pub trait LastingProviders: Providers {
    /// Ends all processes, and waits for them.
    async fn end(&self);
}

/// All of one command.
#[derive(Default)]
pub struct StoreProcesses {
    /// By the folder in which they start, address and version.
    providers: Mutex<HashMap<(Root, addr::Provider, String), Arc<dyn LastingProviders>>>,
    /// Processes in which a store is configured, by provider, store and all settings.
    configured: Mutex<HashMap<String, Arc<dyn Provider>>>,
    /// Providers that this command installed and that the lock file need not have yet.
    selected: Mutex<Lock>,
    /// Those of them with hashes of this platform's packages only.
    only_here: Mutex<Vec<addr::Provider>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoreProcesses {
    /// What starts the processes of a provider in a version, in a folder; `make` makes it when it is first asked for.
    pub fn of_provider(
        &self,
        (root, provider): (&Root, &addr::Provider),
        version: &str,
        make: impl FnOnce() -> Result<Arc<dyn LastingProviders>, Diagnostics>,
    ) -> Result<Arc<dyn LastingProviders>, Diagnostics> {
        let key = (root.clone(), provider.clone(), version.to_owned());
        let mut providers = locked(&self.providers);
        if let Some(found) = providers.get(&key) {
            return Ok(found.clone());
        }
        let made = make()?;
        providers.insert(key, made.clone());
        Ok(made)
    }

    /// Selects packages for the rest of the command. `only_here`: those with hashes of this platform's packages only.
    pub fn select(&self, lock: Lock, only_here: Vec<addr::Provider>) {
        locked(&self.selected).providers.extend(lock.providers);
        locked(&self.only_here).extend(only_here);
    }

    /// Selected providers with hashes of this platform's packages only.
    pub fn only_here(&self) -> Vec<addr::Provider> {
        locked(&self.only_here).clone()
    }

    pub fn selected(&self) -> Lock {
        locked(&self.selected).clone()
    }

    pub fn configured(&self, key: &str) -> Option<Arc<dyn Provider>> {
        locked(&self.configured).get(key).cloned()
    }

    pub fn set_configured(&self, key: &str, provider: &Arc<dyn Provider>) {
        locked(&self.configured).insert(key.to_owned(), provider.clone());
    }

    /// Ends all processes, however the command ended.
    pub async fn end(&self) {
        locked(&self.configured).clear();
        let all: Vec<_> = locked(&self.providers).drain().map(|(_, providers)| providers).collect();
        for providers in all {
            providers.end().await;
        }
    }
}
