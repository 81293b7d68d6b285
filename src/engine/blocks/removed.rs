//! `removed` blocks: whether objects without a block are destroyed or forgotten.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use model::addr::{ConfigResource, Module, Resource};
use model::config::{Config, Removed};
use rustc_hash::FxHashMap;

/// The `removed` blocks of all modules, with addresses from the root.
#[derive(Default)]
pub struct RemovedBlocks {
    all: Vec<RemovedStatement>,
    /// The first one for each resource and for each module.
    of_resources: FxHashMap<ConfigResource, usize>,
    of_modules: FxHashMap<Module, usize>,
}

struct RemovedStatement {
    module: Module,
    /// None: everything in the module.
    resource: Option<Resource>,
    block: Removed,
}

impl RemovedBlocks {
    pub fn of(config: &Config) -> RemovedBlocks {
        let mut blocks = RemovedBlocks::default();
        for module in config.modules() {
            for block in &module.removed {
                let path = block.module.0.iter().fold(module.path.clone(), |path, name| path.child(name));
                let index = blocks.all.len();
                match &block.resource {
                    Some(resource) => blocks.of_resources.entry(resource.in_module(path.clone())).or_insert(index),
                    None => blocks.of_modules.entry(path.clone()).or_insert(index),
                };
                blocks.all.push(RemovedStatement {
                    module: path,
                    resource: block.resource.clone(),
                    block: block.clone(),
                });
            }
        }
        blocks
    }

    /// The block that speaks of a resource; the first one, if there are more.
    pub fn find(&self, resource: &ConfigResource) -> Option<&Removed> {
        if self.all.is_empty() {
            return None;
        }
        let around = (0..=resource.module.0.len()).map(|depth| Module(resource.module.0[..depth].into()));
        let of_modules = around.filter_map(|module| self.of_modules.get(&module));
        let first = of_modules.chain(self.of_resources.get(resource)).min()?;
        Some(&self.all[*first].block)
    }

    /// Errors: what was removed must not be declared any more.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for statement in &self.all {
            let Some((kind, name, at)) = still_declared(statement, config) else { continue };
            let detail =
                format!("This statement declares that {name} was removed, but it is still declared in configuration.");
            diagnostics.push(Diagnostic::error(format!("Removed {kind} still exists"), detail).at(at));
        }
        diagnostics
    }
}

fn still_declared(statement: &RemovedStatement, config: &Config) -> Option<(&'static str, String, Range)> {
    match &statement.resource {
        Some(resource) => {
            let declared = config.module(&statement.module)?.resources.get(resource)?;
            let name = resource.in_module(statement.module.clone()).to_string();
            Some(("resource", name, declared.range.clone()))
        }
        None => {
            let parent = config.module(&statement.module.parent()?)?;
            let call = parent.calls.get(statement.module.0.last()?)?;
            Some(("module", statement.module.to_string(), call.range.clone()))
        }
    }
}
