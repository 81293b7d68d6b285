//! The imports of a resource, evaluated once their references are available. Never calls a provider: the
//! steps of the resource do that.

mod values;

use base::diag::{Diagnostic, Diagnostics};
use model::addr::AbsResourceInstance;
use model::config::ImportBy;
use model::provider_diagnostics::about_body;
use terrane_value::Type;
pub use values::{ImportContext, expand, named};

use crate::blocks::imports::{ImportStatement, NO_TARGET};
use crate::ids::ResourceId;
use crate::opentofu;
use crate::pending_request::PendingRequest;
use crate::run::results::Expansion;
use crate::run::{Run, Verb};
use crate::step::expansion::Unknown;
use crate::step::resource::read::identity::IDENTITY_SCHEMAS;

/// The type that the identities of a block's imports are converted to. None: there are none, or with errors.
pub async fn identity_type(run: &Run, block: ResourceId) -> (Option<Type>, Diagnostics) {
    let by_identity = |statement: &ImportStatement| matches!(statement.import.by, ImportBy::Identity(_));
    if !run.blocks.imports.of(block).any(by_identity) {
        return (None, Diagnostics::new());
    }
    let config = run.blocks.tree.resource(block);
    let provider = match run.ports.providers.unconfigured(&config.provider).await {
        Ok(provider) => provider,
        Err(errors) => return (None, errors),
    };
    let subject = run.blocks.tree.config_addr(block);
    let request = PendingRequest { name: IDENTITY_SCHEMAS, provider: &config.provider, subject: &subject };
    match request.answered(&run.ports, provider.identity_schema(&config.addr.kind)).await {
        // A type without identities is an error when the object is imported.
        Ok(schema) => (Some(schema.unwrap_or_default().import_type()), Diagnostics::new()),
        Err(found) => (None, about_body(found, None, Some(&subject.to_string()))),
    }
}

/// Validates the imports of a block, as far as this is possible without values. `identity`: as [`identity_type`].
pub fn validate(run: &Run, block: ResourceId, identity: Option<&Type>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in run.blocks.imports.of(block) {
        diagnostics
            .extend(expand(run, statement, Some(block), ImportContext { identity, unknown: Unknown::Skipped }).1);
        if diagnostics.has_errors() {
            break;
        }
    }
    diagnostics
}

/// Notes which instances of a block are imported. Those that the state has already are left as they are.
pub fn plan(run: &Run, block: ResourceId, identity: Option<&Type>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let is_destroy = matches!(run.verb, Verb::Plan { pre_destroy: true, .. });
    for statement in run.blocks.imports.of(block) {
        if diagnostics.has_errors() {
            break;
        }
        let known = ImportContext { identity, unknown: Unknown::of_run(run) };
        for (addr, named) in diagnostics.take(expand(run, statement, Some(block), known)) {
            let is_stored = run.prior.state.instance(&addr).is_some();
            if is_stored && (is_destroy || !opentofu::checks_imports_of_stored_objects(run.dialect())) {
                // The object is destroyed, although an import names it.
                continue;
            }
            match without_instance(run, block, &addr) {
                Some(error) if opentofu::reports_unmatched_imports_last(run.dialect()) => {
                    run.results.unmatched_imports().push(error)
                }
                Some(error) => diagnostics.push(error),
                None if is_stored => {}
                None => drop(run.results.imports().insert(addr, named)),
            }
        }
    }
    diagnostics
}

/// Checks that a block has the instance that the import command asks for, if it is the block's.
pub fn check_requested(run: &Run, block: ResourceId) -> Diagnostics {
    let addr = run.blocks.imports.requested.as_ref().map(|requested| &requested.addr);
    let of_block = addr.filter(|addr| run.blocks.tree.find_resource(&addr.config()) == Some(block));
    of_block.and_then(|addr| without_instance(run, block, addr)).into_iter().collect()
}

/// The error of an import whose block does not have the instance.
fn without_instance(run: &Run, block: ResourceId, addr: &AbsResourceInstance) -> Option<Diagnostic> {
    if run.results.is_undecided(&run.blocks.tree, &addr.module) {
        return None;
    }
    if let Some(module) = run.results.find_module(&run.blocks.tree, &addr.module) {
        // Without slots, the block could not be expanded, which is reported separately.
        let slots = module.resources[block.index()].get();
        let may_have = |expansion: &Expansion| {
            matches!(expansion, Expansion::Unknown(_)) || expansion.index_of(addr.key()).is_some()
        };
        if slots.is_none_or(|slots| may_have(&slots.expansion)) {
            return None;
        }
    }
    let detail = format!(
        "The configuration for the given import {addr} does not exist. All target instances must have an associated \
         configuration to be imported."
    );
    Some(Diagnostic::error(NO_TARGET, detail))
}
