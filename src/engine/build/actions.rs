//! Actions in the graph: their provider configurations and references, and the actions that were asked for.

use std::sync::Arc;

use base::diag::Diagnostic;
use model::addr::parse::parse_reference;
use model::addr::{AbsActionInstance, AbsProviderConfig, Subject};
use model::config::Action;
use model::plan::ActionInvocation;
use model::schema::decode::references_in_body;

use super::builder::Builder;
use crate::blocks::BlockId;
use crate::blocks::provider_configs::{keys, not_present, resolve};
use crate::blocks::references::{Gatherer, Need, Needs};
use crate::blocks::tree::{ModuleId, Tree};
use crate::engine_errors::missing_request;
use crate::graph::{Dag, Invocation, Node, NodeId, PlannedRequest, Request};

/// Gives each action its provider configuration.
pub fn assign_providers(builder: &mut Builder<'_>) {
    let tree = builder.tree;
    for module in tree.ids() {
        for (index, action) in tree.module(module).actions.values().enumerate() {
            let index = index as u32;
            let local = action.local_provider_config();
            let user = || format!("{} (config)", config_addr(tree, module, action));
            match resolve(tree, module, &action.provider, local.alias.as_deref()) {
                Some(addr) if keys(tree, &addr).is_some() => builder.diagnostics.push(repeated_provider(action, &addr)),
                Some(addr) => {
                    let provider = builder.provider(addr);
                    builder.provider_of_action.insert((module, index), provider);
                    builder.graph.connect(builder.action(module, index), builder.provider_nodes[provider as usize]);
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
    for index in 0..builder.tree.module(module).actions.len() as u32 {
        let node = builder.action(module, index) as usize;
        builder.needs[node] = needs(builder, module, index);
    }
}

fn needs(builder: &Builder<'_>, module: ModuleId, index: u32) -> Needs {
    let action = builder.tree.action(module, index);
    let callers = builder.tree.callers((module, index));
    let mut gatherer = Gatherer::new(builder.tree, builder.schemas, module);
    action.repetition().expressions().for_each(|expr| gatherer.expression(expr));
    if let (Some(body), Some(schema)) = (&action.config, builder.schemas.action(&action.provider, &action.addr.kind)) {
        gatherer.allow_self = !callers.is_empty();
        gatherer.shape_of_self = callers.first().and_then(|(module, index)| {
            let resource = builder.tree.resource(*module, *index);
            builder.schemas.resource(&resource.provider, &resource.addr)
        });
        gatherer.body(body, &schema.block);
    }
    // The change of a resource waits for the action, and not the other way round: what there is of it by then is what the action sees.
    gatherer.needs.on.retain(|need| !matches!(need, Need::Resource(m, i, _) if callers.contains(&(*m, *i))));
    gatherer.needs
}

/// Objects that a destroy removes wait for the actions that this invokes, and for what these see of the objects.
pub fn wait_for_destroy_actions(builder: &mut Builder<'_>, node: NodeId, (module, index): BlockId) {
    let resource = builder.tree.resource(module, index);
    let of_destroy = resource.lifecycle.action_triggers.iter().filter(|t| t.events.iter().any(|e| e.is_destroy()));
    for call in of_destroy.flat_map(|trigger| &trigger.actions) {
        if let Some(action) = builder.tree.module(module).actions.get_index_of(&call.action) {
            let to = [builder.action(module, action as u32), builder.resource(module, index)];
            to.into_iter().for_each(|to| builder.graph.connect(node, to));
        }
    }
}

/// Adds a node for each action that was asked for.
pub fn add_requests(builder: &mut Builder<'_>, targets: &[AbsActionInstance]) -> Vec<Request> {
    let mut requests = Vec::new();
    for target in targets {
        let found = builder.tree.find(&target.module.module()).and_then(|module| {
            let index = builder.tree.module(module).actions.get_index_of(&target.action.action)?;
            Some((module, index as u32))
        });
        let Some(block) = found else {
            builder.diagnostics.push(missing_request(target));
            continue;
        };
        let Some(provider) = builder.provider_of_action.get(&block).copied() else { continue };
        let action = builder.tree.action(block.0, block.1);
        let callers = match uses_caller(builder, action) {
            true => builder.tree.callers(block).to_vec(),
            false => Vec::new(),
        };
        let node = builder.add(Node::Request(requests.len() as u32));
        builder.graph.connect(node, builder.action(block.0, block.1));
        for (module, index) in &callers {
            builder.graph.connect(node, builder.resource(*module, *index));
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
    let block = builder.tree.find(&addr.module.module()).and_then(|module| {
        let index = builder.tree.module(module).actions.get_index_of(&addr.action.action)?;
        Some((module, index as u32))
    });
    let found = block.and_then(|block| Some((block, *builder.provider_of_action.get(&block)?)));
    if found.is_none() {
        builder.diagnostics.push(not_present(&addr.to_string(), &planned.provider));
    }
    found.map(|(block, provider)| Invocation { planned: planned.clone(), provider, block })
}

/// Adds a node to the graph of an apply for each action that the plan says was asked for.
pub fn add_invocations(graph: &mut Dag<Node>, builder: &Builder<'_>, requests: &[Request]) {
    for (index, request) in requests.iter().enumerate() {
        let node = graph.add(Node::Request(index as u32));
        if let Request::Invoke(invocation) = request {
            graph.connect(node, builder.provider_nodes[invocation.provider as usize]);
        }
    }
}
