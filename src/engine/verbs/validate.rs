//! Validate: checks with types and schemas only.

use base::diag::Diagnostics;
use model::state::State;

use super::prepare::{RunRequest, prepare};
use crate::execute::execute;
use crate::input::ValidateInput;
use crate::ports::Ports;
use crate::run::Verb;

pub async fn validate(input: ValidateInput, ports: &Ports) -> Diagnostics {
    let request = RunRequest::new(Verb::Validate, &input.facts, State::default(), input.parallelism);
    match prepare(request, ports).await {
        Ok(run) => execute(run).await.1,
        Err(diagnostics) => diagnostics,
    }
}
