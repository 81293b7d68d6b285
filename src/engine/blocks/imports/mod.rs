//! `import` blocks, and the request of the import command: their locations and the block that each is
//! for. Never evaluates one: that is the steps' work.

pub mod address;

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{ExprKind, Expression, TraversalStep};
use lang::syntax::syntax_errors::not_a_reference;
use model::addr::parse::{INSTANCE_REQUIRED, INVALID_ADDRESS};
use model::addr::{AbsResourceInstance, ConfigResource, LocalProviderConfig};
use model::config::Import;
use rustc_hash::FxHashMap;
use terrane_value::Value;

use super::tree::Tree;
use crate::ids::{ModuleId, ProviderId, ResourceId};
use crate::opentofu;

/// The summary where an import has nothing to go to.
pub const NO_TARGET: &str = "Configuration for import target does not exist";

/// The import blocks of a run.
#[derive(Default)]
pub struct Imports {
    pub list: Vec<ImportStatement>,
    pub of_block: FxHashMap<ResourceId, Vec<usize>>,
    /// Those for which configuration is to be written.
    pub generated: Vec<Generated>,
    /// What the import command asks for, in place of all blocks.
    pub requested: Option<Requested>,
}

/// An object that the import command brings in.
#[derive(Clone, Debug)]
pub struct Requested {
    pub addr: AbsResourceInstance,
    pub id: Arc<str>,
}

/// An import block where it stands, with the address from the root of the block that it is for.
#[derive(Clone)]
pub struct ImportStatement {
    pub module: ModuleId,
    pub import: Import,
    pub resource: ConfigResource,
}

/// An import whose resource has no block yet.
pub struct Generated {
    pub import: Import,
    pub resource: ConfigResource,
    pub provider: ProviderId,
    /// The provider configuration, where it is not the one that the type's name implies.
    pub written_provider: Option<LocalProviderConfig>,
}

impl Imports {
    pub fn of(&self, block: ResourceId) -> impl Iterator<Item = &ImportStatement> {
        self.of_block.get(&block).into_iter().flatten().map(|i| &self.list[*i])
    }

    /// True if there is an import for a resource without a block, which could be written.
    pub fn stand_for(&self, resource: &ConfigResource, tree: &Tree) -> bool {
        let found =
            self.list.iter().any(|s| s.resource == *resource && s.import.for_each.is_none() && !has_key(&s.import.to));
        found && tree.find_resource(resource).is_none()
    }
}

/// What names an object to import, with its values.
#[derive(Clone, Debug)]
pub enum Named {
    Id(Arc<str>),
    /// An object of the type that the provider wants, with marks.
    Identity(Value),
    /// Not known yet: the import is deferred.
    Unknown,
}

/// The import blocks of all modules.
pub fn statements(tree: &Tree) -> Vec<ImportStatement> {
    let mut all = Vec::new();
    for module in tree.ids() {
        let this = tree.module(module);
        for import in &this.imports {
            let inner = import.resource.module.0.iter();
            let path = inner.fold(this.path.clone(), |path, name| path.child(name));
            let resource = import.resource.resource.in_module(path);
            all.push(ImportStatement { module, import: import.clone(), resource });
        }
    }
    all
}

/// Whether the keys of an import may be expressions, which need a `for_each` in some dialects.
pub fn is_static(import: &Import) -> bool {
    opentofu::has_free_import_keys(import.to.file.dialect())
        || import.for_each.is_some()
        || matches!(import.to.kind(), ExprKind::Variable(_))
}

pub fn not_static(to: &Expression) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(not_a_reference(to.range()));
    diagnostics.push(Diagnostic::error(INVALID_ADDRESS, INSTANCE_REQUIRED).at(Range::nowhere()));
    diagnostics
}

/// Whether the address ends with a key.
pub fn has_key(to: &Expression) -> bool {
    match to.kind() {
        ExprKind::Index { .. } => true,
        ExprKind::Variable(traversal) => {
            matches!(traversal.steps.last(), Some(TraversalStep::Index { .. }))
        }
        _ => false,
    }
}
