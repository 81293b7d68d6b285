//! What a kind of backend is, and what opening one gives.

use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::{Backend, Context};
use crate::hcp::Hcp;

/// A backend that configurations may name.
#[async_trait]
pub trait Kind: Send + Sync {
    fn name(&self) -> &str;

    /// The settings that its block has.
    fn schema(&self) -> Block;

    /// What is wrong with settings of the schema's type, as far as they alone show it. Connects to nothing. A problem with an
    /// attribute is shown at its place in the block, or at the block if it is not written there; one without, at no place.
    fn check(&self, _config: &Value, _context: &Context) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    /// What the provider that implements the backend says about settings, warnings included. Other backends say nothing.
    async fn ask(&self, _config: &Value) -> Vec<ProviderDiagnostic> {
        Vec::new()
    }

    /// Connects, with settings of the schema's type that are known, unmarked and checked. What the environment gives for
    /// settings that are null is read here, so that it is recorded nowhere.
    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>>;
}

/// What opening a backend gives.
#[derive(Clone)]
pub enum Opened {
    /// States in stores.
    States(Arc<dyn Backend>),
    /// HCP Terraform, which keeps states, and which operations may run on.
    Hcp(Arc<Hcp>),
}

impl Opened {
    /// The states, wherever they are.
    pub fn states(&self) -> &dyn Backend {
        match self {
            Opened::States(backend) => &**backend,
            Opened::Hcp(hcp) => &**hcp,
        }
    }

    /// As [`Opened::states`], for those who need nothing else.
    pub fn into_states(self) -> Arc<dyn Backend> {
        match self {
            Opened::States(backend) => backend,
            Opened::Hcp(hcp) => hcp,
        }
    }
}
