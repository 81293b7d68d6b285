//! Import blocks in the graph: their target blocks wait for the references of the import.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::name::COMMAND;
use base::source::Range;
use lang::syntax::ast::{ExprKind, Expression};
use model::addr::{AbsProviderConfig, LocalProviderConfig};

use super::builder::Builder;
use crate::blocks::imports::{
    Generated, ImportStatement, Imports, NO_TARGET, address, has_key, is_static, not_static, statements,
};
use crate::blocks::provider_configs::{not_present, resolve};
use crate::blocks::references::{Gatherer, Need};
use crate::engine_errors::{INVALID_FOR_EACH, INVALID_IMPORT_ID};
use crate::graph::Node;
use crate::ids::{GeneratedId, NodeId, ROOT, ResourceId};
use crate::run::Verb;

/// Finds the block of every import, and makes those blocks wait for what the imports refer to. `generate`: write
/// configuration where there is none.
pub fn collect(builder: &mut Builder<'_>, verb: Verb, generate: bool) -> Imports {
    let mut imports = Imports { list: statements(builder.tree), ..Imports::default() };
    for index in 0..imports.list.len() {
        let statement = imports.list[index].clone();
        match builder.tree.find_resource(&statement.resource) {
            Some(block) => {
                imports.of_block.entry(block).or_default().push(index);
                let node = builder.resource(block);
                wait(builder, node, &statement, Some(block));
            }
            None if builder.tree.find(&statement.resource.module).is_none() => {
                let detail = format!(
                    "The configuration for the given import target {} does not exist. All target instances must have an \
                     associated configuration to be imported.",
                    address::address_text(&statement.import.to)
                );
                builder.diagnostics.push(Diagnostic::error(NO_TARGET, detail).at(statement.import.to.range()));
            }
            None if !is_static(&statement.import) => {
                fail_in_walk(builder, &statement, not_static(&statement.import.to));
            }
            None => match missing(&statement, verb, generate) {
                Some(error) => fail_in_walk(builder, &statement, error.into()),
                None if verb == Verb::Validate => {}
                None => add_generated(builder, &mut imports, statement),
            },
        }
    }
    imports
}

/// Errors that are reported during the walk, so that resources with a block are still validated and planned.
fn fail_in_walk(builder: &mut Builder<'_>, statement: &ImportStatement, errors: Diagnostics) {
    let node = builder.add(Node::Gate);
    builder.refused_imports.insert(node, statement.resource.clone());
    Arc::make_mut(&mut builder.needs[node.index()]).problems.extend(errors);
}

/// Makes the blocks that imports are for wait for what those refer to, and nothing else.
pub fn connect(builder: &mut Builder<'_>) {
    for statement in statements(builder.tree) {
        if let Some(block) = builder.tree.find_resource(&statement.resource) {
            let node = builder.resource(block);
            wait(builder, node, &statement, Some(block));
        }
    }
}

fn add_generated(builder: &mut Builder<'_>, imports: &mut Imports, statement: ImportStatement) {
    let import = statement.import.clone();
    let resource = &import.resource.resource;
    let implied = || LocalProviderConfig { local_name: resource.implied_provider().into(), alias: None };
    let local = import.provider_ref.as_ref().map_or_else(implied, |p| p.addr.clone());
    let provider = builder.tree.module(ROOT).provider_for_local_name(&local.local_name);
    let Some(addr) = resolve(builder.tree, ROOT, &provider, local.alias.as_deref()) else {
        let wanted = AbsProviderConfig::new(Default::default(), provider, local.alias.clone());
        builder.diagnostics.push(not_present(&resource.to_string(), &wanted));
        return;
    };
    let provider = builder.provider(addr);
    let node = builder.add(Node::Generate(GeneratedId::new(imports.generated.len())));
    builder.graph.connect(node, builder.provider_nodes[provider.index()]);
    wait(builder, node, &statement, None);
    imports.generated.push(Generated {
        resource: import.resource.clone(),
        provider,
        // Where the import names the provider, its block must name the same.
        written_provider: import.provider_ref.is_some().then_some(local),
        import,
    });
}

/// A node waits for what an import refers to.
fn wait(builder: &mut Builder<'_>, node: NodeId, statement: &ImportStatement, block: Option<ResourceId>) {
    let import = &statement.import;
    let mut gatherer = Gatherer::new(builder.tree, builder.schemas, statement.module);
    gatherer.maybe(import.for_each.as_ref());
    let of_for_each = gatherer.needs.places.len();
    gatherer.expression(import.by.expression());
    keys_of(&import.to).iter().for_each(|key| gatherer.expression(key));
    let needs = gatherer.needs;
    let is_own = |need: &Need| matches!(need, Need::Resource(id, _) if Some(*id) == block);
    for need in needs.on.iter().filter(|need| !is_own(need)) {
        let to = builder.node_of(need);
        builder.graph.connect(node, to);
    }
    let own = needs.places.iter().enumerate().find(|(_, (need, _))| is_own(need));
    let problems = &mut Arc::make_mut(&mut builder.needs[node.index()]).problems;
    match own {
        // It hides what else is wrong with the import.
        Some((at, (_, range))) => problems.push(refers_to_target(at < of_for_each, range)),
        None => problems.extend(needs.problems),
    }
}

fn refers_to_target(in_for_each: bool, range: &Range) -> Diagnostic {
    let (summary, detail) = match in_for_each {
        true => (INVALID_FOR_EACH, "The \"for_each\" expression cannot reference the resource being imported."),
        false => (INVALID_IMPORT_ID, "The import ID cannot reference the resource being imported."),
    };
    Diagnostic::error(summary, detail).of_kind(Kind::ImportOfItself).at(range.clone())
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
fn missing(statement: &ImportStatement, verb: Verb, generate: bool) -> Option<Diagnostic> {
    let import = &statement.import;
    let addr = address::address_text(&import.to);
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
