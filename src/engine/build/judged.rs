//! The variables by which policies judge modules: a run with targets or requested actions may not need them otherwise.

use model::config::policy_file::{PolicyKind, PolicySet};

use super::builder::Builder;
use crate::graph::Node;
use crate::ids::{ModuleId, NodeId};

/// What must be evaluated before an action of the module may be invoked: the variables of judged modules that it is in.
pub fn before_action(builder: &Builder<'_>, policies: &PolicySet, mut module: ModuleId) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    while let Some((parent, call)) = builder.tree.parent(module) {
        if is_judged(builder, policies, module) {
            nodes.push(builder.call(parent, call));
            nodes.extend(variables(builder, module));
        }
        module = parent;
    }
    nodes
}

/// Adds the variables of judged modules to a limited run, as far as this needs nothing but values: it does not widen what the run is about.
/// `order`: dependencies before dependents.
pub fn activate_values(builder: &Builder<'_>, policies: &PolicySet, order: &[NodeId], active: &mut [bool]) {
    let mut wanted = Vec::new();
    for module in builder.tree.ids() {
        if let Some((parent, call)) = builder.tree.parent(module)
            && active[builder.call(parent, call).index()]
            && is_judged(builder, policies, module)
        {
            wanted.extend(variables(builder, module));
        }
    }
    if wanted.is_empty() {
        return;
    }
    let graph = &builder.graph;
    let mut known = active.to_vec();
    for node in order {
        let is_value = matches!(graph.node(*node), Node::Variable { .. } | Node::Local { .. });
        if is_value && graph.dependencies(*node).iter().all(|needed| known[needed.index()]) {
            known[node.index()] = true;
        }
    }
    wanted.retain(|node| known[node.index()]);
    let needed = graph.reachable(wanted);
    active.iter_mut().zip(needed).for_each(|(active, needed)| *active |= needed);
}

fn is_judged(builder: &Builder<'_>, policies: &PolicySet, module: ModuleId) -> bool {
    policies.is_about(PolicyKind::Module, &builder.tree.module(module).source)
}

fn variables(builder: &Builder<'_>, module: ModuleId) -> impl Iterator<Item = NodeId> {
    let count = builder.tree.module(module).variables.len() as u32;
    (0..count).map(move |index| builder.variable(module, index))
}
