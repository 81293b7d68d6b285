//! Importing an existing object by its ID or identity.
//!
//! Owns the requests for objects that the state does not have yet. Never plans their changes.

pub mod command;
pub mod generate;

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr::AbsResourceInstance;
use model::plan::{DeferredReason, Importing};
use model::state::ObjectStatus;
use terrane_protocol::provider::{ClientCapabilities, ImportResponse, ImportedObject, has_errors, identity_text};
use terrane_value::{Marks, Value};

use crate::blocks::imports::Named;
use crate::change::write_only;
use crate::engine_errors::INVALID_PROVIDER_OBJECT;
use crate::event::Event;
use crate::opentofu;
use crate::run::object::{Stored, mark, nonconforming};
use crate::step::resource::Instance;
use crate::step::resource::read::{identity, refresh};

/// The request in the plugin protocol.
pub const IMPORT: &str = "ImportResourceState";
/// The summary where an imported object has a value that no provider may give.
pub const IMPORTED_WRITE_ONLY: &str = "Import returned a non-null value for a write-only attribute";

/// The object as it is outside. None with errors.
pub async fn import(instance: &Instance<'_>, named: &Named) -> (Option<Stored>, Diagnostics) {
    let (addr, kind) = (&instance.addr, instance.addr.kind());
    let (objects, mut diagnostics) = match named {
        Named::Id(id) => {
            instance.run.ports.observer.event(Event::ImportPlanned { addr: addr.clone(), by: format!("id={id}") });
            let answer = instance.provider.import_resource_state(kind, id, client(instance));
            settled(instance, instance.answered(IMPORT, answer).await)
        }
        Named::Identity(value) => by_identity(instance, value).await,
        Named::Unknown => {
            let _ = instance.deferral.set(DeferredReason::ResourceConfigUnknown);
            return (None, Diagnostics::new());
        }
    };
    let Some(objects) = objects else { return (None, diagnostics) };
    let with = describe(named);
    let refuse = |summary: &str, what: String| Diagnostic::error(summary, what);
    let mut objects = objects.into_iter().filter(|object| *object.kind == *kind);
    let Some(object) = objects.next() else {
        if instance.is_deferred() {
            return (None, diagnostics);
        }
        diagnostics.push(nothing_returned(named));
        return (None, diagnostics);
    };
    if objects.next().is_some() {
        let what = format!(
            "While attempting to import with {with}, the provider returned multiple resource instance states. This is not \
             currently supported."
        );
        // The first one is still read, as the reference does.
        diagnostics.push(refuse("Multiple import states not supported", what));
    }
    if matches!(named, Named::Identity(_)) && object.identity.is_none() && !instance.is_deferred() {
        diagnostics.push(refuse(&format!("import of {addr} didn't return an identity"), String::new()));
        return (None, diagnostics);
    }
    if object.state.is_null() && instance.is_deferred() {
        return (None, diagnostics);
    }
    if object.state.is_null() {
        let what = format!("While attempting to import with {with}, the provider returned an instance with no state.");
        diagnostics.push(refuse("Import returned null resource", what));
        return (None, diagnostics);
    }
    if let Some(wrong) = nonconforming(&object.state, instance.schema.implied_type()) {
        let provider = &instance.provider_addr.provider;
        let what = format!("Provider \"{provider}\" planned an invalid value for {addr} during import: {wrong}.");
        diagnostics.push(instance.bug(INVALID_PROVIDER_OBJECT, what));
        return (None, diagnostics);
    }
    let (schema, provider) = (&instance.schema.block, instance.provider_addr.to_string());
    let written = write_only::errors(schema, &object.state, addr, IMPORTED_WRITE_ONLY, &|attribute| {
        format!(
            "While attempting to import with {with}, the provider {provider:?} returned a value for the write-only attribute \
             {attribute}."
        )
    });
    if written.has_errors() {
        diagnostics.extend(written);
        return (None, diagnostics);
    }
    let current = diagnostics.take(refresh::refresh(instance, stored(instance, object), None).await);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    if current.is_none() && !instance.is_deferred() {
        diagnostics.push(no_such_object(addr));
    }
    (current, diagnostics)
}

/// The import command defers nothing.
fn client(instance: &Instance<'_>) -> ClientCapabilities {
    ClientCapabilities::of_resource(instance.run.inputs.scope.deferral_allowed, &instance.schema.block)
}

/// An imported object of an instance, before it is read.
pub fn stored(instance: &Instance<'_>, object: ImportedObject) -> Stored {
    Stored {
        value: mark(&object.state, &[], &instance.schema.block),
        identity: object.identity,
        private: object.private,
        status: ObjectStatus::Ready,
        dependencies: Arc::from([]),
        create_before_destroy: instance.create_before_destroy,
        keep: instance.keep() && opentofu::stores_destroy_argument_at_once(instance.run.dialect()),
        provider_key: instance.provider_addr.key.clone(),
    }
}

/// The error of an import that the provider answered with no object at all.
pub fn nothing_returned(named: &Named) -> Diagnostic {
    let detail =
        format!("While attempting to import with {}, the provider returned no instance states.", describe(named));
    Diagnostic::error("Import returned no resources", detail)
}

/// The error of an imported object that is not there when it is read.
pub fn no_such_object(addr: &AbsResourceInstance) -> Diagnostic {
    let detail = format!(
        "While attempting to import an existing object to {:?}, the provider detected that no object exists with the given \
         id. Only pre-existing objects can be imported; check that the id is correct and that it is associated with the \
         provider's configured region or endpoint, or use \"{COMMAND} apply\" to create a new remote object for this resource.",
        addr.to_string()
    );
    Diagnostic::error("Cannot import non-existent remote object", detail)
}

/// How a plan says by what an object was imported: of an identity, all that the provider knows.
pub fn importing(named: &Named, imported: Option<&Stored>) -> Importing {
    let identity = || imported?.identity.as_ref().map(|identity| identity.json.to_string());
    match named {
        Named::Id(id) => Importing { id: Some(id.to_string()), identity: None },
        Named::Identity(_) => Importing { id: None, identity: identity() },
        Named::Unknown => Importing { id: None, identity: None },
    }
}

fn describe(named: &Named) -> String {
    match named {
        Named::Id(id) => format!("ID {id}"),
        Named::Identity(value) => format!("Identity {}", identity_text(value)),
        Named::Unknown => "an unknown ID".to_owned(),
    }
}

async fn by_identity(instance: &Instance<'_>, value: &Value) -> (Option<Vec<ImportedObject>>, Diagnostics) {
    let (kind, addr) = (instance.addr.kind(), &instance.addr);
    let mut diagnostics = Diagnostics::new();
    for (mark, what) in [(Marks::SENSITIVE, "sensitive"), (Marks::EPHEMERAL, "ephemeral")] {
        if value.deep_marks().contains(mark) {
            let detail = format!("Import identity for {addr} must not contain {what} values\n");
            diagnostics.push(Diagnostic::error("Invalid import identity", detail));
        }
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    instance
        .run
        .ports
        .observer
        .event(Event::ImportPlanned { addr: addr.clone(), by: format!("identity={}", identity_text(value)) });
    match identity::schema(instance).await {
        Ok(Some(_)) => {}
        Ok(None) => return (None, Diagnostic::error(format!("unknown identity type {kind:?}"), "").into()),
        Err(found) => return (None, found),
    }
    let answer = instance.provider.import_by_identity(kind, value.clone(), client(instance));
    settled(instance, instance.answered(IMPORT, answer).await)
}

/// The objects of an answer. None with errors.
fn settled(instance: &Instance<'_>, response: ImportResponse) -> (Option<Vec<ImportedObject>>, Diagnostics) {
    let failed = has_errors(&response.diagnostics);
    let mut diagnostics = instance.about(response.diagnostics);
    if !failed {
        diagnostics.extend(instance.note_deferral(response.deferred));
    }
    (Some(response.objects).filter(|_| !diagnostics.has_errors()), diagnostics)
}
