//! `import` blocks, and what the import command asks for: which objects become managed, under which ids. Blocks are
//! evaluated in the module that they stand in, beside the block of the resource that they are for. Never asks a provider:
//! the steps of the resource do.

mod address;
mod expand;

use crate::base::name::COMMAND;
use crate::engine::mistakes::INVALID_IMPORT_ID;
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::build::config::Builder;
use super::graph::{Node, NodeId};
use super::provider_configs::{not_present, resolve};
use super::references::{Gatherer, Need};
use super::run::{Run, Verb};
use super::tree::{ModuleId, ROOT, Tree};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::syntax::ast::{ExprKind, Expression, TraversalStep};
use crate::model::addr::{AbsProviderConfig, AbsResourceInstance, ConfigResource, LocalProviderConfig};
use crate::model::config::Import;

pub use expand::{Named, expand, named};

const NO_TARGET: &str = "Configuration for import target does not exist";

/// The import blocks of a run.
#[derive(Default)]
pub struct Imports {
    list: Vec<Statement>,
    of_block: FxHashMap<(ModuleId, u32), Vec<usize>>,
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
pub struct Statement {
    pub module: ModuleId,
    pub import: Import,
    pub resource: ConfigResource,
}

/// An import whose resource has no block yet.
pub struct Generated {
    pub import: Import,
    pub resource: ConfigResource,
    pub provider: u32,
    /// The provider configuration, where it is not the one that the type's name implies.
    pub written_provider: Option<LocalProviderConfig>,
}

impl Imports {
    pub fn of(&self, block: (ModuleId, u32)) -> impl Iterator<Item = &Statement> {
        self.of_block.get(&block).into_iter().flatten().map(|i| &self.list[*i])
    }

    /// True if there is an import for a resource without a block, which could be written.
    pub fn stand_for(&self, resource: &ConfigResource, tree: &Tree) -> bool {
        let found =
            self.list.iter().any(|s| s.resource == *resource && s.import.for_each.is_none() && !has_key(&s.import.to));
        found && tree.find_resource(resource).is_none()
    }
}

/// Finds the block of every import, and makes those blocks wait for what the imports refer to. `generate`: write
/// configuration where there is none.
pub fn collect(builder: &mut Builder<'_>, verb: Verb, generate: bool) -> Imports {
    let mut imports = Imports { list: statements(builder.tree), ..Imports::default() };
    for index in 0..imports.list.len() {
        let statement = imports.list[index].clone();
        match builder.tree.find_resource(&statement.resource) {
            Some(block) => {
                imports.of_block.entry(block).or_default().push(index);
                let node = builder.resource(block.0, block.1);
                wait(builder, node, &statement, Some(block));
            }
            None if builder.tree.find(&statement.resource.module).is_none() => {
                let detail = format!(
                    "The configuration for the given import target {} does not exist. All target instances must have an \
                     associated configuration to be imported.",
                    address::shown(&statement.import.to)
                );
                builder.diagnostics.push(Diagnostic::error(NO_TARGET, detail).at(statement.import.to.range()));
            }
            None if !expand::is_static(&statement.import) => {
                fail_in_walk(builder, expand::not_static(&statement.import.to));
            }
            None => match missing(&statement, verb, generate) {
                Some(error) => fail_in_walk(builder, error.into()),
                None if verb == Verb::Validate => {}
                None => add_generated(builder, &mut imports, statement),
            },
        }
    }
    imports
}

/// Errors that the walk finds: what has a block is validated and planned all the same.
fn fail_in_walk(builder: &mut Builder<'_>, errors: Diagnostics) {
    let node = builder.add(Node::Gate);
    builder.needs[node as usize].mistakes.extend(errors);
}

/// Makes the blocks that imports are for wait for what those refer to, and nothing else.
pub fn connect(builder: &mut Builder<'_>) {
    for statement in statements(builder.tree) {
        if let Some(block) = builder.tree.find_resource(&statement.resource) {
            let node = builder.resource(block.0, block.1);
            wait(builder, node, &statement, Some(block));
        }
    }
}

/// The import blocks of all modules.
fn statements(tree: &Tree) -> Vec<Statement> {
    let mut all = Vec::new();
    for module in tree.ids() {
        let this = tree.module(module);
        for import in &this.imports {
            let inner = import.resource.module.0.iter();
            let path = inner.fold(this.path.clone(), |path, name| path.child(name));
            let resource = import.resource.resource.in_module(path);
            all.push(Statement { module, import: import.clone(), resource });
        }
    }
    all
}

fn add_generated(builder: &mut Builder<'_>, imports: &mut Imports, statement: Statement) {
    let import = statement.import.clone();
    let resource = &import.resource.resource;
    let implied = LocalProviderConfig { local_name: resource.implied_provider().into(), alias: None };
    let local = import.provider_ref.as_ref().map_or_else(|| implied.clone(), |p| p.addr.clone());
    let provider = builder.tree.module(ROOT).provider_for_local_name(&local.local_name);
    let Some(addr) = resolve(builder.tree, ROOT, &provider, local.alias.as_deref()) else {
        let wanted = AbsProviderConfig::new(Default::default(), provider, local.alias.clone());
        builder.diagnostics.push(not_present(&resource.to_string(), &wanted));
        return;
    };
    let provider = builder.provider(addr);
    let node = builder.add(Node::Generate(imports.generated.len() as u32));
    builder.graph.connect(node, builder.provider_nodes[provider as usize]);
    wait(builder, node, &statement, None);
    imports.generated.push(Generated {
        resource: import.resource.clone(),
        provider,
        written_provider: (local != implied).then_some(local),
        import,
    });
}

/// A node waits for what an import refers to.
fn wait(builder: &mut Builder<'_>, node: NodeId, statement: &Statement, block: Option<(ModuleId, u32)>) {
    let import = &statement.import;
    let mut gatherer = Gatherer::new(builder.tree, builder.schemas, statement.module);
    gatherer.maybe(import.for_each.as_ref());
    gatherer.expression(import.by.expression());
    keys_of(&import.to).iter().for_each(|key| gatherer.expression(key));
    let needs = gatherer.needs;
    for need in needs.on {
        if let Need::Resource(module, index, _) = need
            && Some((module, index)) == block
        {
            let detail = "The import ID cannot reference the resource being imported.";
            let error = Diagnostic::error(INVALID_IMPORT_ID, detail).at(import.by.expression().range());
            builder.needs[node as usize].mistakes.push(error);
            continue;
        }
        let to = builder.node_of(&need);
        builder.graph.connect(node, to);
    }
    builder.needs[node as usize].mistakes.extend(needs.mistakes);
}

/// The keys of an address that are expressions.
fn keys_of(to: &Expression) -> Vec<Expression> {
    match to.kind() {
        ExprKind::Index { collection, key, .. } => {
            let mut keys = keys_of(&to.part(collection));
            keys.push(to.part(key));
            keys
        }
        ExprKind::RelativeTraversal { source, .. } => keys_of(&to.part(source)),
        _ => Vec::new(),
    }
}

/// The error for an import without a block; none if its block is to be written.
fn missing(statement: &Statement, verb: Verb, generate: bool) -> Option<Diagnostic> {
    let import = &statement.import;
    let addr = address::shown(&import.to);
    let resource = &statement.resource;
    let error = |detail: String| Some(Diagnostic::error(NO_TARGET, detail).at(import.to.range()));
    if !resource.module.is_root() {
        return error(format!(
            "Resource {resource} not found. Only resources within the root module are eligible for config generation."
        ));
    }
    if import.for_each.is_some() || has_key(&import.to) {
        return error(
            "The given import block is not compatible with config generation. The -generate-config-out option cannot be \
             used with import blocks which use for_each, or resources which use for_each or count."
                .into(),
        );
    }
    if generate || verb == Verb::Validate {
        return None;
    }
    error(format!(
        "The configuration for the given import target {addr} does not exist. If you wish to automatically generate config \
         for this resource, use the -generate-config-out option within {COMMAND} plan. Otherwise, make sure the target \
         resource exists within your configuration. For example:\n\n  {COMMAND} plan -generate-config-out=generated.tf"
    ))
}

fn has_key(to: &Expression) -> bool {
    match to.kind() {
        ExprKind::Index { .. } => true,
        ExprKind::Variable(traversal) => {
            matches!(traversal.steps.last(), Some(TraversalStep::Index { .. }))
        }
        _ => false,
    }
}

/// The imports of a block as far as they can be told without values.
pub fn validate(run: &Run, block: (ModuleId, u32)) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in run.imports.of(block) {
        diagnostics.extend(expand(run, statement, Some(block), true).1);
        if diagnostics.has_errors() {
            break;
        }
    }
    diagnostics
}

/// Notes which instances of a block are imported. Those that the state has already are left as they are.
pub fn plan(run: &Run, block: (ModuleId, u32)) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in run.imports.of(block) {
        if diagnostics.has_errors() {
            break;
        }
        for (addr, named) in diagnostics.take(expand(run, statement, Some(block), false)) {
            if run.state.instance(&addr).is_some() {
                continue;
            }
            match without_instance(run, block, &addr) {
                Some(error) => diagnostics.push(error),
                None => drop(run.results.gathered().imports.insert(addr, named)),
            }
        }
    }
    diagnostics
}

/// Checks that a block has the instance that the import command asks for, if it is the block's.
pub fn check_requested(run: &Run, block: (ModuleId, u32)) -> Diagnostics {
    let addr = run.imports.requested.as_ref().map(|requested| &requested.addr);
    let of_block = addr.filter(|addr| run.tree.find_resource(&addr.config()) == Some(block));
    of_block.and_then(|addr| without_instance(run, block, addr)).into_iter().collect()
}

/// The error of an import whose block does not have the instance.
fn without_instance(run: &Run, block: (ModuleId, u32), addr: &AbsResourceInstance) -> Option<Diagnostic> {
    if let Some(module) = run.results.find_module(&run.tree, &addr.module) {
        // Without slots, the block could not be expanded, which is an error of its own.
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
