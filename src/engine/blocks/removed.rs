//! `removed` blocks: whether objects without a block are destroyed or forgotten.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::Range;
use crate::model::addr::{ConfigResource, Module, Resource};
use crate::model::config::{Config, Removed};

/// The `removed` blocks of all modules, with addresses from the root.
#[derive(Default)]
pub struct RemovedBlocks(Vec<Statement>);

struct Statement {
    module: Module,
    /// None: everything in the module.
    resource: Option<Resource>,
    block: Removed,
}

impl RemovedBlocks {
    pub fn of(config: &Config) -> RemovedBlocks {
        let mut all = Vec::new();
        for module in config.modules() {
            for block in &module.removed {
                let path = block.module.0.iter().fold(module.path.clone(), |path, name| path.child(name));
                all.push(Statement { module: path, resource: block.resource.clone(), block: block.clone() });
            }
        }
        RemovedBlocks(all)
    }

    /// The block that speaks of a resource; the first one, if there are more.
    pub fn find(&self, resource: &ConfigResource) -> Option<&Removed> {
        let speaks_of = |s: &&Statement| match &s.resource {
            Some(named) => s.module == resource.module && *named == resource.resource,
            None => resource.module.starts_with(&s.module),
        };
        self.0.iter().find(speaks_of).map(|s| &s.block)
    }

    /// Errors: what was removed must not be declared any more.
    pub fn check(&self, config: &Config) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        for statement in &self.0 {
            let Some((kind, name, at)) = still_declared(statement, config) else { continue };
            let detail =
                format!("This statement declares that {name} was removed, but it is still declared in configuration.");
            diagnostics.push(Diagnostic::error(format!("Removed {kind} still exists"), detail).at(at));
        }
        diagnostics
    }
}

fn still_declared(statement: &Statement, config: &Config) -> Option<(&'static str, String, Range)> {
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
