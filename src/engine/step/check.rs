//! `check` blocks: assertions whose failures are warnings.

use base::diag::Diagnostics;

use super::condition::{Checked, ConditionKind, check, examine_message};
use crate::ids::ModuleId;
use crate::run::module_scope::ModuleScope;
use crate::run::results::Results;
use crate::run::{Run, Verb};

pub fn run(run: &Run, module: ModuleId, index: u32) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let block = run.blocks.tree.check(module, index);
    let path = &run.blocks.tree.module(module).path;
    for instance in run.results.module_instances(module) {
        let scope = ModuleScope::new(run, instance);
        match run.verb {
            Verb::Validate => {
                block.asserts.iter().for_each(|assert| diagnostics.extend(examine_message(assert, &scope)))
            }
            Verb::Plan { .. } | Verb::Import | Verb::Apply { .. } => {
                let of = Checked {
                    config_addr: addr(&path.to_string(), &block.name),
                    addr: addr(&instance.addr.to_string(), &block.name),
                };
                // Without its data there is nothing to judge.
                if !has_failed(&run.results, &of.addr) {
                    diagnostics.extend(check(
                        &run.results,
                        ConditionKind::Assertion,
                        &block.asserts,
                        &scope,
                        &of,
                        true,
                    ));
                }
            }
            _ => {}
        }
    }
    diagnostics
}

/// The address of a check block in a module, or in an instance of one.
pub fn addr(module: &str, name: &str) -> String {
    if module.is_empty() { format!("check.{name}") } else { format!("{module}.check.{name}") }
}

fn has_failed(results: &Results, addr: &str) -> bool {
    results.checks().failed.contains(addr)
}
