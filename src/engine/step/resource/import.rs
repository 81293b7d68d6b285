//! Importing: an object that exists outside becomes known by its id.

use crate::engine::mistakes::INVALID_PROVIDER_OBJECT;
use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::engine::event::Event;
use crate::model::provider::has_errors;
use crate::model::state::ObjectStatus;

use super::object::{Stored, mark, nonconforming};
use super::{Instance, read};

/// The object as it is outside. None with errors.
pub async fn import(instance: &Instance<'_>, id: &str) -> (Option<Stored>, Diagnostics) {
    let (addr, kind) = (&instance.addr, instance.addr.kind());
    instance.run.ports.observer.event(Event::ImportPlanned { addr: addr.clone(), id: id.to_string() });
    let (objects, found) = instance.provider.import_resource_state(kind, id).await;
    let failed = has_errors(&found);
    let mut diagnostics = instance.about(found);
    if failed {
        return (None, diagnostics);
    }
    let refuse = |summary: &str, what: String| Diagnostic::error(summary, what);
    let mut objects: Vec<_> = objects.into_iter().filter(|object| *object.kind == *kind).collect();
    let object = match (objects.pop(), objects.is_empty()) {
        (Some(only), true) => only,
        (Some(_), false) => {
            let what = format!(
                "While attempting to import with ID {id:?}, the provider returned multiple resource instance states. This is \
                 not currently supported."
            );
            diagnostics.push(refuse("Multiple import states not supported", what));
            return (None, diagnostics);
        }
        (None, _) => {
            let what = format!("While attempting to import with ID {id:?}, the provider returned no instance states.");
            diagnostics.push(refuse("Import returned no resources", what));
            return (None, diagnostics);
        }
    };
    if object.state.is_null() {
        let what =
            format!("While attempting to import with ID {id:?}, the provider returned an instance with no state.");
        diagnostics.push(refuse("Import returned null resource", what));
        return (None, diagnostics);
    }
    if let Some(wrong) = nonconforming(&object.state, instance.schema.implied_type()) {
        let provider = &instance.provider_addr.provider;
        let what = format!("Provider \"{provider}\" planned an invalid value for {addr} during import: {wrong}.");
        diagnostics.push(instance.bug(INVALID_PROVIDER_OBJECT, what));
        return (None, diagnostics);
    }
    let stored = Stored {
        value: mark(&object.state, &[], &instance.schema.block),
        private: object.private,
        status: ObjectStatus::Ready,
        dependencies: Arc::from([]),
        create_before_destroy: instance.create_before_destroy,
    };
    let current = diagnostics.take(read::refresh(instance, stored, None).await);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    if current.is_none() {
        let what = format!(
            "While attempting to import an existing object to {:?}, the provider detected that no object exists with the \
             given id. Only pre-existing objects can be imported; check that the id is correct and that it is associated \
             with the provider's configured region or endpoint, or use \"terrane apply\" to create a new remote object for \
             this resource.",
            addr.to_string()
        );
        diagnostics.push(refuse("Cannot import non-existent remote object", what));
    }
    (current, diagnostics)
}
