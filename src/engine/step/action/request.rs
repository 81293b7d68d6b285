//! Actions that were asked for: planned with the objects as they are, and invoked as planned.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr::parse::parse_reference;
use model::addr::{AbsActionInstance, AbsResourceInstance, InstanceKey, Resource, Subject};
use model::plan::{ActionInvocation, InvocationTrigger};
use model::schema::decode::references_in_body;
use terrane_protocol::schema::ResourceMode;
use terrane_value::{Marks, Value};

use super::instance::ActionInstance;
use super::invoke::invoke;
use super::plan::EPHEMERAL_CONFIG;
use crate::engine_errors::{
    actions_not_invoked, halted, missing_request, unexpected_deferral, uninitialized_reference,
};
use crate::graph::{Invocation, PlannedRequest, Request};
use crate::ids::{RequestId, ResourceId};
use crate::policy;
use crate::run::Run;
use crate::run::object::decode;
use crate::run::results::ModuleSlots;

pub async fn run(run: &Run, id: RequestId) -> Diagnostics {
    match &run.schedule.requests[id.index()] {
        Request::Plan(request) => plan(run, request).await,
        Request::Invoke(invocation) => apply(run, invocation).await,
    }
}

async fn apply(run: &Run, invocation: &Invocation) -> Diagnostics {
    if run.ports.stop.is_stopping() {
        let mut found = Diagnostics::from(halted());
        found.push(actions_not_invoked(&[invocation.planned.addr.to_string()]));
        return found;
    }
    if let Some(refused) = policy::at_apply::refused_request(run, &invocation.planned.addr) {
        return refused.at(run.blocks.tree.action(invocation.block).range.clone()).into();
    }
    invoke(run, invocation, invocation.planned.config.clone()).await
}

/// The object for which an action is invoked.
type CallingObject = Option<(AbsResourceInstance, Value)>;

async fn plan(run: &Run, request: &PlannedRequest) -> Diagnostics {
    let Some(module) = run.results.find_module(&run.blocks.tree, &request.target.module) else {
        return missing_request(&request.target).into();
    };
    let instances = instances(&module, request);
    if instances.is_empty() {
        return missing_request(&request.target).into();
    }
    let (callers, mut diagnostics) = callers(run, &module, request);
    for caller in callers {
        for addr in &instances {
            let (planned, found) = plan_one(run, request, addr.clone(), &caller).await;
            diagnostics.extend(found);
            if diagnostics.has_errors() {
                return diagnostics;
            }
            run.results.changes().invocations.extend(planned.map(Arc::new));
        }
    }
    diagnostics
}

/// The instances that the request names: without a key, all.
fn instances(module: &ModuleSlots, request: &PlannedRequest) -> Vec<AbsActionInstance> {
    let target = &request.target;
    let Some(expansion) = module.actions[request.block.index()].get() else { return Vec::new() };
    let keys: Vec<InstanceKey> = match &target.action.key {
        InstanceKey::None => (0..expansion.len()).map(|i| expansion.key(i)).collect(),
        key => expansion.index_of(key).map(|_| key.clone()).into_iter().collect(),
    };
    keys.into_iter().map(|key| target.action.action.instance(key).absolute(target.module.clone())).collect()
}

/// For which objects the action is invoked. One without an object, if its configuration does not speak of the caller.
fn callers(run: &Run, module: &ModuleSlots, request: &PlannedRequest) -> (Vec<CallingObject>, Diagnostics) {
    let (mut callers, mut diagnostics) = (Vec::new(), Diagnostics::new());
    if request.callers.is_empty() {
        return (vec![None], diagnostics);
    }
    for block in &request.callers {
        let found = objects(run, module, *block);
        if found.is_empty() {
            let caller = run.blocks.tree.config_addr(*block);
            let detail = format!(
                "Caller {caller} not found for action {}. The resource instance calling the action has not yet been created. \
                 Please run a complete plan/apply cycle to ensure the state matches the configuration before using the -invoke \
                 argument.",
                request.target
            );
            diagnostics.push(Diagnostic::error(PARTIALLY_APPLIED, detail));
        }
        let targets = &run.inputs.scope.targets;
        let is_targeted = |addr: &AbsResourceInstance| targets.is_empty() || targets.iter().any(|t| t.contains(addr));
        callers.extend(found.into_iter().filter(|(addr, _)| is_targeted(addr)).map(Some));
    }
    (callers, diagnostics)
}

/// The objects of a resource in the state.
fn objects(run: &Run, module: &ModuleSlots, block: ResourceId) -> Vec<(AbsResourceInstance, Value)> {
    let resource = run.blocks.tree.resource(block);
    let Some(schema) = run.blocks.schemas.resource(&resource.provider, &resource.addr) else { return Vec::new() };
    let addr = resource.addr.absolute(module.addr.clone());
    let states = run.results.states();
    let stored = states.current.resources.get(&addr).into_iter().flat_map(|stored| &stored.instances);
    stored
        .filter_map(|(key, instance)| {
            let object = decode(instance.current.as_ref()?, &schema).ok()?;
            Some((addr.instance(key.clone()), object.value))
        })
        .collect()
}

const PARTIALLY_APPLIED: &str = "Partially applied configuration";

async fn plan_one(
    run: &Run,
    request: &PlannedRequest,
    addr: AbsActionInstance,
    caller: &CallingObject,
) -> (Option<ActionInvocation>, Diagnostics) {
    let action = match ActionInstance::find(run, request.block, addr, None) {
        Ok(action) => action,
        Err(error) => return (None, error.into()),
    };
    let mut address = action.addr.to_string();
    if let Some((caller, _)) = caller {
        address = format!("{address}, called from {}", caller.resource);
    }
    let (config, mut diagnostics) = action.evaluate(caller.as_ref().map(|(_, value)| value.clone()), &address);
    if !diagnostics.has_errors() && !config.is_wholly_known() {
        diagnostics.extend(without_objects(run, &action));
    }
    diagnostics.extend(check_complete(&action, &config).filter(|_| !diagnostics.has_errors()));
    let Some(provider) = run.results.provider(request.provider).filter(|_| !diagnostics.has_errors()) else {
        return (None, diagnostics);
    };
    let answer = action.ask_for_plan(&provider, &config, &address).await;
    diagnostics.extend(answer.diagnostics);
    if answer.deferred.is_some() && !run.inputs.scope.deferral_allowed {
        diagnostics.push(unexpected_deferral(&action.addr));
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let invocation = ActionInvocation {
        addr: action.addr.clone(),
        provider: run.blocks.providers.configs.get(request.provider).addr.clone(),
        trigger: InvocationTrigger::Request { caller: caller.as_ref().map(|(addr, _)| addr.clone()) },
        config,
    };
    if let Some(reason) = answer.deferred {
        run.results.changes().defer_invocation(invocation, reason);
        return (None, diagnostics);
    }
    (Some(invocation), diagnostics)
}

/// The references of an action's configuration to resources that have no object yet.
fn without_objects(run: &Run, action: &ActionInstance<'_>) -> Diagnostics {
    let Some(body) = &action.config.config else { return Diagnostics::new() };
    let states = run.results.states();
    let is_missing = |resource: &Resource| {
        resource.mode == ResourceMode::Managed
            && !states.current.resources.contains_key(&resource.absolute(action.addr.module.clone()))
    };
    let references = references_in_body(body, &action.schema.block).into_iter();
    let references = references.filter_map(|(traversal, expr)| parse_reference(&traversal, &expr.file).ok());
    references
        .filter_map(|reference| match reference.subject {
            Subject::Resource(resource) => Some((resource, reference.range)),
            Subject::ResourceInstance(of) => Some((of.resource, reference.range)),
            _ => None,
        })
        .filter(|(resource, _)| is_missing(resource))
        .map(|(resource, range)| {
            let detail = format!(
                "The resource {resource} has no objects in the state yet. Please run a complete plan/apply cycle to ensure the \
                 state matches the configuration before using the -invoke argument."
            );
            uninitialized_reference("resource", detail).at(range)
        })
        .collect()
}

/// Apply does not evaluate the configuration again.
fn check_complete(action: &ActionInstance<'_>, config: &Value) -> Option<Diagnostic> {
    let (summary, detail) = if !config.is_wholly_known() {
        let detail = format!(
            "The action {} contains unknown values while planning. This means it is referencing resources that have not yet been \
             created, please run a complete plan/apply cycle to ensure the state matches the configuration before using the \
             -invoke argument.",
            action.addr
        );
        (PARTIALLY_APPLIED, detail)
    } else if config.deep_marks().contains(Marks::EPHEMERAL) {
        let detail = format!(
            "The configuration of an action that is invoked by \"{COMMAND} apply -invoke\" must be fully planned, and cannot \
             contain ephemeral values. Use values that are not ephemeral, or a resource with an action_trigger block."
        );
        (EPHEMERAL_CONFIG, detail)
    } else {
        return None;
    };
    Some(Diagnostic::error(summary, detail).at(action.config.range.clone()))
}
