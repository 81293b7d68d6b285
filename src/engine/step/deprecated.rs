//! OpenTofu's warnings about values that are whole modules: those of their deprecated outputs.

use base::diag::Diagnostics;
use lang::syntax::ast::{ExprKind, Expression, TraversalStep};
use model::addr::InstanceKey;

use crate::blocks::deprecated::{derived, is_quiet};
use crate::blocks::tree::Tree;
use crate::opentofu;
use crate::run::results::ModuleSlots;
use crate::run::{Run, Verb};

/// The warnings about an expression that names a called module, one for each deprecated output of each instance.
pub fn outputs_within(run: &Run, of: &ModuleSlots, value: &Expression) -> Diagnostics {
    let tree = &run.blocks.tree;
    let is_planned = matches!(run.verb, Verb::Plan { .. } | Verb::Import);
    let is_reported = opentofu::has_own_deprecations(run.dialect()) && is_planned;
    if !is_reported || !tree.has_deprecated_outputs() || is_quiet(tree, of.id) {
        return Diagnostics::new();
    }
    within(tree, of, value).unwrap_or_default()
}

fn within(tree: &Tree, of: &ModuleSlots, value: &Expression) -> Option<Diagnostics> {
    let ExprKind::Variable(traversal) = &value.node.kind else { return None };
    let (true, [TraversalStep::Attr { name: call, .. }]) = (traversal.root_name() == "module", &*traversal.steps)
    else {
        return None;
    };
    let index = tree.module(of.id).calls.get_index_of(&call.name)?;
    let (child, slots) = (tree.child(of.id, index as u32)?, of.calls[index].get()?);
    let mut outputs: Vec<_> =
        tree.module(child).outputs.values().filter(|output| output.deprecated.is_some()).collect();
    outputs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut found = Diagnostics::new();
    for key in (0..slots.expansion.len()).map(|i| slots.expansion.key(i)) {
        let step = match &key {
            InstanceKey::None => String::new(),
            InstanceKey::Str(key) => format!("{key}."),
            key => format!("{key}."),
        };
        for output in &outputs {
            let Some(deprecation) = &output.deprecated else { continue };
            let attribute = format!("This value's attribute {step}{}", output.name);
            let name = format!("module.{}{key}.{}", call.name, output.name);
            found.push(derived(tree, child, &attribute, &name, &deprecation.message).at(value.range()));
        }
    }
    Some(found)
}
