//! Refreshing: reading the current object from the provider.

use base::diag::Diagnostics;
use model::addr::AbsResourceInstance;
use model::state::DeposedKey;
use terrane_protocol::provider::{ReadRequest, has_errors};

use crate::engine_errors::INVALID_PROVIDER_OBJECT;
use crate::event::Event;
use crate::ports::Ports;
use crate::run::object::{Stored, mark, nonconforming, normalise};
use crate::step::resource::Instance;
use crate::step::resource::label::shown_label;

/// Reports a refresh that ends without an object, however that happens.
struct RefreshReport<'r> {
    ports: &'r Ports,
    addr: &'r AbsResourceInstance,
    deposed: Option<&'r DeposedKey>,
    is_complete: bool,
}

impl Drop for RefreshReport<'_> {
    fn drop(&mut self) {
        if !self.is_complete {
            let (addr, deposed) = (self.addr.clone(), self.deposed.cloned());
            self.ports.observer.event(Event::RefreshFailed { addr, deposed });
        }
    }
}

/// The object as it is now; none: it is gone. With errors and if the provider defers, the object as it was.
pub async fn refresh(
    instance: &Instance<'_>,
    stored: Stored,
    deposed: Option<&DeposedKey>,
) -> (Option<Stored>, Diagnostics) {
    let run = instance.run;
    let addr = &instance.addr;
    let (meta, mut diagnostics) = instance.provider_meta();
    if diagnostics.has_errors() {
        return (Some(stored), diagnostics);
    }
    let (prior, marks) = match stored.value.has_marks_deep() {
        true => stored.value.unmark_deep_with_paths(),
        false => (stored.value.clone(), Vec::new()),
    };
    let label = shown_label(&stored.value);
    run.ports.observer.event(Event::RefreshStarted { addr: addr.clone(), deposed: deposed.cloned(), label });
    let mut report = RefreshReport { ports: &run.ports, addr, deposed, is_complete: false };
    let request = ReadRequest {
        kind: addr.kind().into(),
        current: prior,
        current_identity: stored.identity.clone(),
        private: stored.private.clone(),
        provider_meta: meta,
        client: instance.client(),
    };
    let response = instance.answered("ReadResource", instance.provider.read_resource(request)).await;
    let failed = has_errors(&response.diagnostics);
    diagnostics.extend(instance.about(response.diagnostics));
    if !failed {
        diagnostics.extend(instance.note_deferral(response.deferred));
    }
    if failed || response.deferred.is_some() {
        return (Some(stored), diagnostics);
    }
    let provider = &instance.provider_addr.provider;
    if let Some(wrong) = nonconforming(&response.new_state, instance.schema.implied_type()) {
        let what = format!("Provider \"{provider}\" planned an invalid value for {addr} during refresh: {wrong}.");
        diagnostics.push(instance.bug(INVALID_PROVIDER_OBJECT, what));
        return (Some(stored), diagnostics);
    }
    let value = normalise(&instance.schema.block, &response.new_state);
    if !value.is_wholly_known() {
        let what = format!(
            "Provider \"{provider}\" planned an invalid value for {addr} during refresh: The returned state contains unknown \
             values."
        );
        diagnostics.push(instance.bug(INVALID_PROVIDER_OBJECT, what));
        return (Some(stored), diagnostics);
    }
    let written = instance.check_write_only(INVALID_PROVIDER_OBJECT, &value, "during refresh");
    if written.has_errors() {
        diagnostics.extend(written);
        return (Some(stored), diagnostics);
    }
    let value = if value.is_null() { value } else { mark(&value, &marks, &instance.schema.block) };
    // An unchanged object takes no memory a second time.
    let value = if value == stored.value { stored.value.clone() } else { value };
    let label = shown_label(&value);
    report.is_complete = true;
    run.ports.observer.event(Event::RefreshFinished { addr: addr.clone(), deposed: deposed.cloned(), label });
    if value.is_null() {
        return (None, diagnostics);
    }
    let identity = response.identity.or(stored.identity);
    (Some(Stored { value, identity, private: response.private, ..stored }), diagnostics)
}
