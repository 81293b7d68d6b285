//! The import command: one object becomes managed.

use base::diag::Diagnostics;
use model::state::State;

use super::prepare::{RunRequest, prepare};
use crate::blocks::imports::Requested;
use crate::execute::execute;
use crate::input::ImportInput;
use crate::ports::Ports;
use crate::run::{Inputs, Verb};

pub async fn import(input: ImportInput, ports: &Ports) -> (Option<State>, Diagnostics) {
    let request = RunRequest {
        // The reference does not know the time of a plan here.
        inputs: Inputs { variables: input.variables, ..Inputs::default() },
        import: Some(Requested { addr: input.addr, id: input.id }),
        ..RunRequest::new(Verb::Import, &input.facts, input.state, input.parallelism)
    };
    let (run, found) = match prepare(request, ports).await {
        Ok(run) => execute(run).await,
        Err(found) => return (None, found),
    };
    if found.has_errors() {
        return (None, found);
    }
    let mut state = std::mem::take(&mut run.results.states().current);
    state.outputs.retain(|name, _| run.blocks.config.root.outputs.contains_key(name));
    state.checks = None;
    (Some(state), found)
}
