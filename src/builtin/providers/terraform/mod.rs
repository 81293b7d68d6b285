//! The `terraform` provider: `terraform_data`, `terraform_remote_state` and the functions of the language's own syntax.
//!
//! Never reads a state: states of other configurations come through a trait that the serving process implements.

mod data;
mod encode;
mod functions;
mod remote_state;
mod store;

use std::sync::Arc;

use terrane_protocol::provider::RemoteStates;
use terrane_sdk::{Context, Error, Provider, Types, Values};

pub struct Terraform {
    /// What answers for `terraform_remote_state`.
    pub remote_states: Arc<dyn RemoteStates>,
    /// Whether `terraform_data` has the block `store`.
    pub has_data_stores: bool,
}

impl Provider for Terraform {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.without_destroy_plans();
        types.resource("terraform_data", data::Data { has_store: self.has_data_stores });
        types.data_source("terraform_remote_state", remote_state::RemoteState(self.remote_states.clone()));
        functions::add_to(types);
    }
}
