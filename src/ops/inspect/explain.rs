//! `explain`: why a plan does what it does to an object.

use std::path::PathBuf;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::suggest;
use model::addr::{AbsResourceInstance, command_line};
use model::causes::{self, Dependent, Explanation};

use super::show::{self, ShowRequest, ShowSubject};
use crate::interface::listen::Listener;
use crate::interface::planning::Planned;
use crate::interface::requests::{OperationRequest, PlanRequest};
use crate::run;
use crate::setup::Setup;

/// Most instances that an error names.
const MOST_NAMES: usize = 10;

#[derive(Clone, Debug)]
pub struct ExplainRequest {
    /// The address of a resource instance.
    pub address: String,
    /// A saved plan; None: a new one is made.
    pub plan: Option<PathBuf>,
    /// What a new plan is made for.
    pub operation: OperationRequest,
    /// What a change of the object would reach is asked for too.
    pub dependents: bool,
}

/// The answers about an object.
#[derive(Clone, Debug)]
pub struct Answers {
    /// One for each object at the address: the current one, deposed ones.
    pub explanations: Vec<Explanation>,
    /// None if they were not asked for.
    pub dependents: Option<Vec<Dependent>>,
}

/// The answers, with warnings; without them, the errors. `listener` hears how a new plan is made.
pub async fn run(
    setup: &Setup,
    request: &ExplainRequest,
    listener: Arc<dyn Listener>,
) -> (Option<Answers>, Diagnostics) {
    let addr = match command_line::resource_instance(&request.address) {
        Ok(addr) => addr,
        Err(problems) => return (None, problems),
    };
    let (planned, mut diagnostics) = match &request.plan {
        Some(path) => saved_plan(setup, path.display().to_string()).await,
        None => new_plan(setup, request, &listener).await,
    };
    let Some(planned) = planned.filter(|_| !diagnostics.has_errors()) else { return (None, diagnostics) };
    let explanations = causes::explain(&planned.plan, &planned.config, &addr);
    if explanations.is_empty() {
        diagnostics.push(no_such_object(&request.address, &addr, &planned));
        return (None, diagnostics);
    }
    let dependents = request.dependents.then(|| causes::dependents(&planned.plan, &planned.config, &addr));
    (Some(Answers { explanations, dependents }), diagnostics)
}

async fn saved_plan(setup: &Setup, path: String) -> (Option<Planned>, Diagnostics) {
    match show::run(setup, &ShowRequest::Plan(path)).await {
        Ok((ShowSubject::Plan { planned }, warnings)) => (Some(*planned), warnings),
        // `show` gives nothing else for a plan.
        Ok((_, warnings)) => (None, warnings),
        Err(problems) => (None, problems),
    }
}

async fn new_plan(
    setup: &Setup,
    request: &ExplainRequest,
    listener: &Arc<dyn Listener>,
) -> (Option<Planned>, Diagnostics) {
    let request = PlanRequest { operation: request.operation.clone(), out: None, generate: None };
    run::plan_here(setup, &request, listener).await
}

/// Names the instances of the same resource, or the address that was probably meant.
fn no_such_object(given: &str, addr: &AbsResourceInstance, planned: &Planned) -> Diagnostic {
    let all = causes::addresses(&planned.plan);
    let resource = addr.containing_resource();
    let beside = all.iter().filter(|other| other.containing_resource() == resource);
    let names: Vec<String> = beside.map(|other| format!("\n  - {other}")).take(MOST_NAMES).collect();
    let hint = match names.is_empty() {
        false => format!(" It has these instances of the resource:\n{}", names.concat()),
        true => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            suggest::name(given, all.iter().map(String::as_str))
                .map_or_else(String::new, |close| format!(" Did you mean {close:?}?"))
        }
    };
    let detail = format!(
        "The plan has no object with the address {given}. Give the address of a resource instance, with its key if it has one, that the \
         configuration or the state has and that the plan does not leave out.{hint}"
    );
    Diagnostic::error("No such object in the plan", detail)
}

#[cfg(test)]
mod tests {
    use model::addr::parse::parse_abs_instance;
    use model::config::{Config, Module};
    use model::plan::Plan;

    use super::*;

    #[test]
    fn errors_about_addresses_of_an_empty_plan_have_no_hint() {
        let config = Arc::new(Config { root: Arc::new(Module::default()) });
        let planned = Planned { plan: Arc::new(Plan::default()), config, schemas: Default::default() };
        let addr = parse_abs_instance("a.b").unwrap();
        let error = no_such_object("a.b", &addr, &planned);
        assert!(error.detail.ends_with("that the plan does not leave out."), "{}", error.detail);
    }
}
