//! Actions: which instances a block has, what its configuration is for a caller, planning and invoking it.
//!
//! An action has no state: the change of an object invokes it, or a request. Never changes an object itself.

pub mod apply;
mod call;
mod instance;
mod invoke;
pub mod plan;
pub mod request;
pub mod validate;

use base::diag::Diagnostics;

use super::expansion::{Unknown, expand};
use crate::ids::ActionId;
use crate::run::module_scope::ModuleScope;
use crate::run::{Run, Verb};

/// Whether anything may be evaluated of an action in this run.
pub fn is_evaluated(run: &Run) -> bool {
    match run.verb {
        Verb::Validate => true,
        Verb::Plan { pre_destroy: true, .. } | Verb::Apply { refresh_only: true } => false,
        Verb::Plan { refresh_only: true, .. } => !run.inputs.scope.requested_actions.is_empty(),
        Verb::Plan { .. } | Verb::PlanDestroy | Verb::Apply { .. } => true,
        // What these do was planned, or invokes nothing.
        Verb::ApplyDestroy | Verb::Import | Verb::Evaluate => false,
    }
}

/// Expands a block, where something may invoke it.
pub async fn run(run: &Run, block: ActionId) -> Diagnostics {
    match run.verb {
        Verb::Validate => validate::without_caller(run, block).await,
        _ if is_evaluated(run) => expand_instances(run, block),
        _ => Diagnostics::new(),
    }
}

fn expand_instances(run: &Run, block: ActionId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let action = run.blocks.tree.action(block);
    for instance in run.results.module_instances(block.module) {
        let found = expand(action.repetition(), &ModuleScope::new(run, instance), Unknown::of_run(run));
        if let Some(expansion) = diagnostics.take(found) {
            let _ = instance.actions[block.index()].set(expansion);
        }
    }
    diagnostics
}
