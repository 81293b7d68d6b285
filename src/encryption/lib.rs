//! Encryption of states and plans, compatible with OpenTofu in both directions.
//!
//! Owns the meaning of an `encryption` configuration: key providers, methods, and a [`Cipher`] for each target.
//! Never knows where states and plans are stored, nor their content, except serial and lineage.

mod aes;
mod cipher;
mod command;
mod error;
mod external;
mod key;
mod metadata;
mod method;
mod needs;
mod opentofu;
mod origin;
mod payload;
mod providers;
mod reference;
mod scope;
mod services;
mod settings;
mod setup;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use aes::{AesError, SealedFrames};
use base::diag::{Diagnostic, Diagnostics};
pub use cipher::{Cipher, Layout, Opened};
pub use error::{SealError, explained};
pub use key::DerivedKeys;
use model::config::{self, StaticContext, UNENCRYPTED};
pub use needs::missing_variable;
pub use payload::{Outside, PayloadError, is_sealed, outside};
pub use services::{Answer, HttpClient, HttpClients, HttpError, HttpSettings, Services};
use setup::Setup;

/// What is encrypted in a working directory, with its keys.
#[derive(Clone, Debug, Default)]
pub struct Encryption {
    /// None: states are kept as they are.
    pub state: Option<Arc<Cipher>>,
    /// None: plans are kept as they are.
    pub plan: Option<Arc<Cipher>>,
    /// The variables that passphrases are made from and whose values plans keep.
    pub passphrase_variables: Vec<Arc<str>>,
    remote_default: Option<Arc<Cipher>>,
    remotes: BTreeMap<Arc<str>, Arc<Cipher>>,
}

impl Encryption {
    /// Makes the keys that a configuration asks for. `early` gives variables and locals a meaning. None with errors.
    pub async fn new(
        config: Arc<config::Encryption>,
        early: StaticContext,
        services: Services,
    ) -> (Option<Encryption>, Diagnostics) {
        let mut diags = Diagnostics::new();
        for _ in config.methods.iter().filter(|method| &*method.kind == UNENCRYPTED) {
            diags.push(unencrypted().at_opt(config.range.clone()));
        }
        let kept = needs::passphrase_variables(&config, &early).into_iter().filter(|variable| !variable.ephemeral);
        let passphrase_variables = kept.map(|variable| variable.name.clone()).collect();
        let setup = Arc::new(Setup::new(config.clone(), early, services));
        let mut encryption = Encryption { passphrase_variables, ..Encryption::default() };
        if let Some(target) = &config.state {
            encryption.state = take_new(&mut diags, Cipher::of_state("state", target, &setup).await);
        }
        if let Some(target) = &config.plan {
            encryption.plan = take_new(&mut diags, Cipher::of_plan(target, &setup).await);
        }
        if let Some(target) = &config.remote_default {
            let cipher = Cipher::of_state("remote.default", target, &setup).await;
            encryption.remote_default = take_new(&mut diags, cipher);
        }
        for (name, target) in &config.remotes {
            let title = format!("remote.remote_state_datasource.{name}");
            let cipher = take_new(&mut diags, Cipher::of_state(&title, target, &setup).await);
            encryption.remotes.extend(cipher.map(|cipher| (name.clone(), cipher)));
        }
        let sound = !diags.has_errors();
        (sound.then_some(encryption), diags)
    }

    /// The cipher for the state that a data source reads, by its address without `data.terraform_remote_state.` and without
    /// the `module.` at its start.
    pub fn remote(&self, name: &str) -> Option<&Arc<Cipher>> {
        self.remotes.get(name).or(self.remote_default.as_ref())
    }

    /// True if anything is encrypted, or might be.
    pub fn is_configured(&self) -> bool {
        self.state.is_some() || self.plan.is_some() || self.remote_default.is_some() || !self.remotes.is_empty()
    }
}

/// Targets share methods and key providers, whose problems are reported once.
fn take_new<T>(diags: &mut Diagnostics, (value, found): (T, Diagnostics)) -> T {
    diags.extend_new(found);
    value
}

fn unencrypted() -> Diagnostic {
    Diagnostic::warning(
        "Unencrypted method configured",
        "Method unencrypted is present in configuration. This is a security risk and should only be enabled during migrations.",
    )
}
