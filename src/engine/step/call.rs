//! Module calls: the instances of a module.

use std::sync::{Arc, OnceLock};

use base::diag::Diagnostics;

use super::expansion::{Unknown, expand};
use crate::ids::ModuleId;
use crate::policy;
use crate::run::module_scope::ModuleScope;
use crate::run::results::{CallSlots, Each, Expansion, ModuleSlots};
use crate::run::{Run, Verb};

pub fn run(run: &Run, module: ModuleId, index: u32) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let Some(child) = run.blocks.tree.child(module, index) else { return diagnostics };
    let call = run.blocks.tree.call(module, index);
    let validating = run.verb == Verb::Validate;
    let mut all = Vec::new();
    for parent in run.results.module_instances(module) {
        let scope = ModuleScope::new(run, parent);
        let unknown = if validating { Unknown::Skipped } else { Unknown::of_run(run) };
        let expansion = diagnostics.take(expand(call.repetition(), &scope, unknown));
        if let Some(Expansion::Unknown(_)) = &expansion {
            run.results.changes().has_deferrals = true;
        }
        let slots = match expansion {
            _ if validating => {
                let each = match (&call.count, &call.for_each) {
                    (Some(_), _) => Each::UnknownIndex,
                    (_, Some(_)) => Each::UnknownEntry,
                    _ => Each::None,
                };
                call_slots(run, parent, child, &call.name, Expansion::Single, |_| each.clone())
            }
            Some(expansion) => {
                let of = expansion.clone();
                call_slots(run, parent, child, &call.name, expansion, |i| of.each(i))
            }
            None => continue,
        };
        all.extend(slots.instances.iter().filter(|instance| !instance.is_overridden).cloned());
        let _ = parent.calls[index as usize].set(slots);
    }
    run.results.set_module_instances(child, all);
    // With variables, the last one of them does this.
    if run.blocks.tree.module(child).variables.is_empty() {
        diagnostics.extend(policy::at_apply::with_variables(run, child));
    }
    diagnostics
}

fn call_slots(
    run: &Run,
    parent: &Arc<ModuleSlots>,
    child: ModuleId,
    name: &str,
    expansion: Expansion,
    each: impl Fn(usize) -> Each,
) -> CallSlots {
    let tree = &run.blocks.tree;
    let instance = |i: usize| {
        let addr = parent.addr.child(name, expansion.key(i));
        // Validation looks at all that is written.
        let given = run.ports.doubles.overrides.module(&addr).filter(|_| run.verb != Verb::Validate);
        match given {
            Some(given) => ModuleSlots::overridden(tree, child, addr, each(i), &given.values),
            None => ModuleSlots::new(tree, child, addr, each(i)),
        }
    };
    let instances = (0..expansion.len()).map(instance).collect();
    CallSlots { expansion, instances, whole: OnceLock::new() }
}
