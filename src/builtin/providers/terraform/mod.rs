//! The `terraform` provider: `terraform_data`, `terraform_remote_state` and the functions of the language's own syntax.
//!
//! Never reads a state: states of other configurations come through a trait that the serving process implements.

mod data;
mod encode;
mod functions;
mod remote_state;

use std::sync::Arc;

use crate::model::provider::RemoteStates;
use crate::sdk::{Context, Error, Provider, Types, Values};

/// The provider. `RemoteStates` answers for `terraform_remote_state`.
pub struct Terraform(pub Arc<dyn RemoteStates>);

impl Provider for Terraform {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.without_destroy_plans();
        types.resource("terraform_data", data::Data);
        types.data_source("terraform_remote_state", remote_state::RemoteState(self.0.clone()));
        functions::add_to(types);
    }
}
