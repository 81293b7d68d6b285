//! The imports of a resource, evaluated once their references are available. Never calls a provider: the
//! steps of the resource do that.

mod values;
pub mod written;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::engine::blocks::BlockId;
use crate::engine::blocks::imports::NO_TARGET;
use crate::engine::run::Run;
use crate::model::addr::AbsResourceInstance;

pub use values::{expand, named};

/// Validates the imports of a block, as far as this is possible without values.
pub fn validate(run: &Run, block: BlockId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in run.blocks.imports.of(block) {
        diagnostics.extend(expand(run, statement, Some(block), true).1);
        if diagnostics.has_errors() {
            break;
        }
    }
    diagnostics
}

/// Notes which instances of a block are imported. Those that the state has already are left as they are.
pub fn plan(run: &Run, block: BlockId) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in run.blocks.imports.of(block) {
        if diagnostics.has_errors() {
            break;
        }
        for (addr, named) in diagnostics.take(expand(run, statement, Some(block), false)) {
            if run.prior.state.instance(&addr).is_some() {
                continue;
            }
            match without_instance(run, block, &addr) {
                Some(error) => diagnostics.push(error),
                None => drop(run.results.imports().insert(addr, named)),
            }
        }
    }
    diagnostics
}

/// Checks that a block has the instance that the import command asks for, if it is the block's.
pub fn check_requested(run: &Run, block: BlockId) -> Diagnostics {
    let addr = run.blocks.imports.requested.as_ref().map(|requested| &requested.addr);
    let of_block = addr.filter(|addr| run.blocks.tree.find_resource(&addr.config()) == Some(block));
    of_block.and_then(|addr| without_instance(run, block, addr)).into_iter().collect()
}

/// The error of an import whose block does not have the instance.
fn without_instance(run: &Run, block: BlockId, addr: &AbsResourceInstance) -> Option<Diagnostic> {
    if let Some(module) = run.results.find_module(&run.blocks.tree, &addr.module) {
        // Without slots, the block could not be expanded, which is reported separately.
        let slots = module.resources[block.1 as usize].get();
        if slots.is_none_or(|slots| slots.expansion.index_of(addr.key()).is_some()) {
            return None;
        }
    }
    let detail = format!(
        "The configuration for the given import {addr} does not exist. All target instances must have an associated \
         configuration to be imported."
    );
    Some(Diagnostic::error(NO_TARGET, detail))
}
