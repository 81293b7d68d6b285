//! Validate: checks with types and schemas only.

use super::prepare::{RunRequest, prepare};
use crate::base::diag::Diagnostics;
use crate::engine::execute::execute;
use crate::engine::input::ValidateInput;
use crate::engine::ports::Ports;
use crate::engine::run::Verb;
use crate::model::state::State;

pub async fn validate(input: ValidateInput, ports: &Ports) -> Diagnostics {
    let request = RunRequest::new(Verb::Validate, &input.config, State::default(), input.parallelism);
    match prepare(request, ports).await {
        Ok(run) => execute(run).await.1,
        Err(diagnostics) => diagnostics,
    }
}
