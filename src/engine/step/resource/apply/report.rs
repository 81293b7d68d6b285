//! The events and the span of a change.

use base::moment::Moment;
use base::telemetry::Description;
use model::plan::{Action, ResourceChange};
use model::state::DeposedKey;
use terrane_value::Value;

use crate::event::Event;
use crate::graph::Task;
use crate::ports::Ports;
use crate::step::resource::label::{shown_label, shown_label_or_tag};
use crate::step::resource::{Instance, with_instance};

/// The span of a change.
pub fn describe_task(task: &Task) -> Description {
    let span = Description::new("Apply resource instance changes");
    with_instance(span, &task.change.addr).with("opentofu.provider_instance.address", task.change.provider.to_string())
}

/// Tells that the plan imported the object: it is in the state already.
pub fn announce_import(ports: &Ports, change: &ResourceChange) {
    let Some(importing) = &change.importing else { return };
    let by = match (&importing.id, &change.identity.before) {
        (Some(id), _) => format!("id={id}"),
        (None, Some(identity)) => format!("identity={}", identity.text()),
        (None, None) => return,
    };
    let addr = &change.addr;
    ports.observer.event(Event::ImportStarted { addr: addr.clone(), by: by.clone() });
    ports.observer.event(Event::ImportFinished { addr: addr.clone(), by });
}

/// Tells that a change begins.
pub fn announce(instance: &Instance<'_>, deposed: Option<&DeposedKey>, change: &ResourceChange) {
    instance.run.ports.observer.event(Event::ApplyStarted {
        addr: instance.addr.clone(),
        deposed: deposed.cloned(),
        action: change.action,
        label: shown_label_or_tag(&change.change.before),
    });
}

/// Tells how a change ended.
pub fn finish(
    instance: &Instance<'_>,
    deposed: Option<&DeposedKey>,
    action: Action,
    value: Option<&Value>,
    started: Moment,
    failed: bool,
) {
    let host = &instance.run.ports.host;
    instance.run.ports.observer.event(Event::ApplyFinished {
        addr: instance.addr.clone(),
        deposed: deposed.cloned(),
        action,
        label: value.and_then(shown_label),
        elapsed: host.since(started),
        failed,
    });
}
