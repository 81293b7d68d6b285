//! Query: the lists of the root module, with what they refer to. Nothing is planned.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use model::plan::{ListResults, PlanScope};
use terrane_protocol::schema::ResourceMode;

use super::prepare::{RunRequest, prepare};
use crate::engine_errors;
use crate::execute::execute;
use crate::input::QueryInput;
use crate::policy;
use crate::ports::Ports;
use crate::run::{Inputs, Query, Verb};

pub async fn query(input: QueryInput, ports: &Ports) -> (Vec<Arc<ListResults>>, Diagnostics) {
    if !input.facts.config().root.resources.keys().any(|addr| addr.mode == ResourceMode::List) {
        let detail = "The configuration does not contain any resources that can be queried.";
        return (Vec::new(), Diagnostic::error("No resources to query", detail).into());
    }
    let verb = Verb::Plan { refresh_only: false, pre_destroy: false };
    let request = RunRequest {
        inputs: Inputs {
            variables: input.variables,
            scope: PlanScope { policies: input.policies, ..PlanScope::default() },
            plan_time: Some(ports.host.now()),
            query: Some(Query { generate: input.generate_config }),
            ..Inputs::default()
        },
        ..RunRequest::new(verb, &input.facts, input.state, input.parallelism)
    };
    match prepare(request, ports).await {
        Ok(run) => {
            let (run, mut diagnostics) = execute(run).await;
            diagnostics.extend(policy::at_query::finish(&run));
            if ports.stop.is_stopping() && !diagnostics.iter().any(engine_errors::is_halted) {
                diagnostics.push(engine_errors::halted());
            }
            let lists = std::mem::take(&mut *run.results.lists());
            (lists.into_values().collect(), diagnostics)
        }
        Err(diagnostics) => (Vec::new(), diagnostics),
    }
}
