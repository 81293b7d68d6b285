//! Local values.

use base::diag::Diagnostics;
use lang::eval::evaluate;

use super::deprecated;
use crate::ids::ModuleId;
use crate::run::Run;
use crate::run::module_scope::ModuleScope;

pub fn run(run: &Run, module: ModuleId, index: u32) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let local = run.blocks.tree.local(module, index);
    for instance in run.results.module_instances(module) {
        let value = diagnostics.take(evaluate(&local.expr, &ModuleScope::new(run, instance)));
        diagnostics.extend(deprecated::outputs_within(run, instance, &local.expr));
        let _ = instance.locals[index as usize].set(value);
    }
    diagnostics
}
