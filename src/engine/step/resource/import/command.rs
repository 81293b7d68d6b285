//! The step of the import command for its instance: it requests the object from the provider, and all objects
//! that the provider returns with it become managed.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use model::addr::AbsResourceInstance;
use model::provider_diagnostics::about_body;
use rustc_hash::FxHashMap;
use terrane_protocol::provider::{ClientCapabilities, ImportedObject, has_errors};
use terrane_value::Value;

use super::{IMPORT, IMPORTED_WRITE_ONLY, no_such_object, nothing_returned, stored};
use crate::blocks::imports::Named;
use crate::change::write_only;
use crate::event::Event;
use crate::step::resource::Instance;
use crate::step::resource::read::refresh;
use crate::step::resource::record::put;

/// Imports into an instance of a block. Returns what references see; none with errors.
pub async fn import(instance: &Instance<'_>, id: &Arc<str>) -> (Option<Value>, Diagnostics) {
    let (addr, observer) = (&instance.addr, &instance.run.ports.observer);
    observer.event(Event::ImportRequested { addr: addr.clone(), id: id.clone() });
    // A deferral is not looked at: an object that is not there is not read either.
    let answer = instance.provider.import_resource_state(
        addr.kind(),
        id,
        ClientCapabilities::of_resource(false, &instance.schema.block),
    );
    let response = instance.answered(IMPORT, answer).await;
    let failed = has_errors(&response.diagnostics);
    let mut diagnostics = about_body(response.diagnostics, None, None);
    if failed {
        return (None, diagnostics);
    }
    let objects = response.objects;
    if objects.is_empty() {
        diagnostics.push(nothing_returned(&Named::Id(id.clone())));
        return (None, diagnostics);
    }
    diagnostics.extend(objects.iter().flat_map(|object| check_write_only(instance, object)));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let kinds = objects.iter().map(|object| object.kind.clone()).collect();
    observer.event(Event::ImportPrepared { addr: addr.clone(), kinds });
    let addrs = addresses(addr, &objects);
    diagnostics.extend(addrs.iter().filter_map(|addr| already_managed(instance, addr)));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut found = None;
    for (object, to) in objects.into_iter().zip(addrs) {
        let is_this = to == *addr;
        let value = diagnostics.take(adopt(instance, object, to).await);
        found = if is_this { value } else { found };
    }
    (found.filter(|_| !diagnostics.has_errors()), diagnostics)
}

/// Where each of the objects goes: to the instance, by its own type; a second one of a type to a name with a number.
fn addresses(addr: &AbsResourceInstance, objects: &[ImportedObject]) -> Vec<AbsResourceInstance> {
    let mut counts: FxHashMap<Arc<str>, usize> = FxHashMap::default();
    let of = |object: &ImportedObject| {
        let mut to = addr.clone();
        let resource = &mut to.resource.resource;
        if !object.kind.is_empty() {
            resource.kind = object.kind.clone();
        }
        match counts.entry(resource.kind.clone()).and_modify(|count| *count += 1).or_default() {
            0 => {}
            count => resource.name = format!("{}-{count}", resource.name).into(),
        }
        to
    };
    objects.iter().map(of).collect()
}

fn check_write_only(instance: &Instance<'_>, object: &ImportedObject) -> Diagnostics {
    let provider = instance.provider_addr.to_string();
    write_only::errors(&instance.schema.block, &object.state, &instance.addr, IMPORTED_WRITE_ONLY, &|attribute| {
        format!("Provider {provider:?} returned a value for the write-only attribute {attribute} during import.")
    })
}

fn already_managed(instance: &Instance<'_>, addr: &AbsResourceInstance) -> Option<Diagnostic> {
    instance.run.prior.state.instance(addr)?;
    let detail = format!(
        "{PROGRAM} is already managing a remote object for {addr}. To import to this address you must first remove the \
         existing object from the state."
    );
    Some(Diagnostic::error(format!("Resource already managed by {PROGRAM}"), detail))
}

/// Reads an object, and puts it into the state.
async fn adopt(asked: &Instance<'_>, object: ImportedObject, to: AbsResourceInstance) -> (Option<Value>, Diagnostics) {
    if object.kind.is_empty() {
        return (None, Diagnostic::error(format!("import of {to} didn't set type"), "").into());
    }
    let Some(schema) = asked.run.blocks.schemas.kind(&asked.provider_addr.provider, to.mode(), to.kind()) else {
        let detail = format!("provider does not support resource type {:?}", to.kind());
        return (None, Diagnostic::error(detail, "").into());
    };
    // Not the instance of the block: the reference lets nothing of the block tell how it is read.
    let instance = Instance {
        run: asked.run,
        addr: to,
        config: None,
        block: None,
        module: None,
        each: Default::default(),
        provider: asked.provider.clone(),
        provider_addr: asked.provider_addr,
        schema,
        create_before_destroy: false,
        deferral: Default::default(),
    };
    let (current, mut found) = refresh::refresh(&instance, stored(&instance, object), None).await;
    if found.has_errors() {
        return (None, without_address(found));
    }
    let Some(current) = current else {
        found.push(no_such_object(&instance.addr));
        return (None, without_address(found));
    };
    put(&instance, None, Some(current.encode(&instance.schema)));
    (Some(current.value), without_address(found))
}

/// As the reference has them where it reads an object for the command.
fn without_address(found: Diagnostics) -> Diagnostics {
    found.into_iter().map(|diagnostic| Diagnostic { address: None, ..diagnostic }).collect()
}
