//! The `terraform` provider: `terraform_data`, `terraform_remote_state` and the functions of the language's own syntax.
//!
//! Never reads a state: states of other configurations come through a trait that the serving process implements.

mod data;
mod encode;
mod functions;
mod remote_state;

use std::sync::Arc;

use crate::builtin::sdk::BuiltIn;
use crate::model::provider::RemoteStates;

/// `states` answers for `terraform_remote_state`.
pub fn provider(states: Arc<dyn RemoteStates>) -> BuiltIn {
    BuiltIn::new(
        vec![("terraform_data", Box::new(data::Data::new()))],
        vec![("terraform_remote_state", Box::new(remote_state::RemoteState::new(states)))],
        vec![],
        functions::all(),
    )
}
