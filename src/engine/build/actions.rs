//! Actions in the graph: their provider configurations and references, and the actions that were asked for.

use std::sync::Arc;

use base::diag::Diagnostic;
use model::addr::parse::parse_reference;
use model::addr::{AbsActionInstance, AbsProviderConfig, Subject};
use model::config::Action;
use model::config::policy_file::PolicySet;
use model::plan::ActionInvocation;
use model::schema::decode::references_in_body;

use super::builder::Builder;
use super::judged;
use crate::blocks::provider_configs::{keys, not_present, resolve};
use crate::blocks::references::{Gatherer, Need, Needs};
use crate::blocks::tree::Tree;
use crate::engine_errors::missing_request;
use crate::graph::{Dag, Invocation, Node, PlannedRequest, Request};
use crate::ids::{ActionId, ModuleId, NodeId, RequestId, ResourceId};

/// Gives each action its provider configuration.
pub fn assign_providers(builder: &mut Builder<'_>) {
    let tree = builder.tree;
    for module in tree.ids() {
        for (index, action) in tree.module(module).actions.values().enumerate() {
            let id = ActionId::new(module, index);
            let local = action.local_provider_config();
            let user = || format!("{} (config)", config_addr(tree, module, action));
            match resolve(tree, module, &action.provider, local.alias.as_deref()) {
                Some(addr) if keys(tree, &addr).is_some() => builder.diagnostics.push(repeated_provider(action, &addr)),
                Some(addr) => {
                    let provider = builder.provider(addr);
                    builder.provider_of_action.insert(id, provider);
                    builder.graph.connect(builder.action(id), builder.provider_nodes[provider.index()]);
                }
                None => {
                    let path = tree.module(module).path.clone();
                    let wanted = AbsProviderConfig::new(path, action.provider.clone(), local.alias);
                    builder.diagnostics.push(not_present(&user(), &wanted));
                }
            }
        }
    }
}

/// The action as messages name its block.
pub fn config_addr(tree: &Tree, module: ModuleId, action: &Action) -> String {
    let path = &tree.module(module).path;
    if path.is_root() { action.addr.to_string() } else { format!("{path}.{}", action.addr) }
}

fn repeated_provider(action: &Action, addr: &AbsProviderConfig) -> Diagnostic {
    let range = action.provider_ref.as_ref().map_or_else(|| action.range.clone(), |r| r.range.clone());
    let detail = format!(
        "The provider configuration {addr} has \"for_each\" set, and actions cannot choose one of its instances. Use a provider \
         configuration without \"for_each\"."
    );
    Diagnostic::error("Unsupported provider instances", detail).at(range)
}

/// What the action blocks of a module refer to.
pub fn gather(builder: &mut Builder<'_>, module: ModuleId) {
    for index in 0..builder.tree.module(module).actions.len() {
        let id = ActionId::new(module, index);
        let node = builder.action(id);
        builder.needs[node.index()] = Arc::new(needs(builder, id));
    }
}

fn needs(builder: &Builder<'_>, id: ActionId) -> Needs {
    let action = builder.tree.action(id);
    let callers = builder.tree.callers(id);
    let mut gatherer = Gatherer::new(builder.tree, builder.schemas, id.module);
    action.repetition().expressions().for_each(|expr| gatherer.expression(expr));
    if let (Some(body), Some(schema)) = (&action.config, builder.schemas.action(&action.provider, &action.addr.kind)) {
        gatherer.allow_self = !callers.is_empty();
        gatherer.shape_of_self = callers.first().and_then(|caller| {
            let resource = builder.tree.resource(*caller);
            builder.schemas.resource(&resource.provider, &resource.addr)
        });
        gatherer.body(body, &schema.block);
    }
    // The change of a resource waits for the action, and not the other way round: what there is of it by then is what the action sees.
    gatherer.needs.on.retain(|need| !matches!(need, Need::Resource(id, _) if callers.contains(id)));
    gatherer.needs
}

/// Objects that a destroy removes wait for the actions that this invokes, and for what these see of the objects.
pub fn wait_for_destroy_actions(builder: &mut Builder<'_>, node: NodeId, block: ResourceId) {
    let resource = builder.tree.resource(block);
    let of_destroy = resource.lifecycle.action_triggers.iter().filter(|t| t.events.iter().any(|e| e.is_destroy()));
    for call in of_destroy.flat_map(|trigger| &trigger.actions) {
        if let Some(action) = builder.tree.find_action(block.module, &call.action) {
            let to = [builder.action(action), builder.resource(block)];
            to.into_iter().for_each(|to| builder.graph.connect(node, to));
        }
    }
}

/// Adds a node for each action that was asked for.
pub fn add_requests(builder: &mut Builder<'_>, targets: &[AbsActionInstance], policies: &PolicySet) -> Vec<Request> {
    let mut requests = Vec::new();
    for target in targets {
        let module = builder.tree.find(&target.module.module());
        let found = module.and_then(|module| builder.tree.find_action(module, &target.action.action));
        let Some(block) = found else {
            builder.diagnostics.push(missing_request(target));
            continue;
        };
        let Some(provider) = builder.provider_of_action.get(&block).copied() else { continue };
        let action = builder.tree.action(block);
        let callers = match uses_caller(builder, action) {
            true => builder.tree.callers(block).to_vec(),
            false => Vec::new(),
        };
        let node = builder.add(Node::Request(RequestId::new(requests.len())));
        builder.graph.connect(node, builder.action(block));
        for caller in &callers {
            builder.graph.connect(node, builder.resource(*caller));
        }
        for needed in judged::before_action(builder, policies, block.module) {
            builder.graph.connect(node, needed);
        }
        requests.push(Request::Plan(PlannedRequest { target: target.clone(), block, provider, callers }));
    }
    requests
}

fn uses_caller(builder: &Builder<'_>, action: &Action) -> bool {
    let (Some(body), Some(schema)) = (&action.config, builder.schemas.action(&action.provider, &action.addr.kind))
    else {
        return false;
    };
    references_in_body(body, &schema.block).iter().any(|(traversal, expr)| {
        parse_reference(traversal, &expr.file).is_ok_and(|reference| reference.subject == Subject::Caller)
    })
}

/// A planned invocation with its block and its provider configuration. None with an error.
pub fn invocation(builder: &mut Builder<'_>, planned: &Arc<ActionInvocation>) -> Option<Invocation> {
    let addr = &planned.addr;
    let module = builder.tree.find(&addr.module.module());
    let block = module.and_then(|module| builder.tree.find_action(module, &addr.action.action));
    let found = block.and_then(|block| Some((block, *builder.provider_of_action.get(&block)?)));
    if found.is_none() {
        builder.diagnostics.push(not_present(&addr.to_string(), &planned.provider));
    }
    found.map(|(block, provider)| Invocation { planned: planned.clone(), provider, block })
}

/// Adds a node to the graph of an apply for each action that the plan says was asked for.
pub fn add_invocations(graph: &mut Dag<Node>, builder: &Builder<'_>, requests: &[Request], policies: &PolicySet) {
    for (index, request) in requests.iter().enumerate() {
        let node = graph.add(Node::Request(RequestId::new(index)));
        if let Request::Invoke(invocation) = request {
            graph.connect(node, builder.provider_nodes[invocation.provider.index()]);
            for needed in judged::before_action(builder, policies, invocation.block.module) {
                graph.connect(node, needed);
            }
        }
    }
}
