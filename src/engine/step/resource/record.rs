//! Recording: the result of a step goes to the plan, the state and the observer.

use crate::base::diag::Diagnostics;
use crate::engine::run::results::Results;
use crate::engine::run::{Prior, Run, Verb};
use crate::lang::value::{Path, Type, Value};
use crate::model::addr::{AbsProviderConfig, AbsResourceInstance};
use crate::model::plan::{Action, ActionReason, Change, ResourceChange};
use crate::model::state::{DeposedKey, Instance as StateInstance, Object};

use super::Instance;

/// What tells people which object is meant: its id, unless that is unknown or secret.
pub fn shown_id(value: &Value) -> Option<(String, String)> {
    text_attribute(value, "id")
}

/// As `shown_id`, with the name where there is no id.
pub fn shown_id_or_name(value: &Value) -> Option<(String, String)> {
    let tag = || {
        let tags = value.get("tags").filter(|tags| !tags.is_sensitive())?;
        text_attribute(tags, "name")
            .or_else(|| text_attribute(tags, "Name"))
            .map(|(key, text)| (format!("tags.{key}"), text))
    };
    shown_id(value).or_else(|| text_attribute(value, "name")).or_else(tag)
}

fn text_attribute(value: &Value, name: &str) -> Option<(String, String)> {
    let part = value.get(name)?;
    if value.is_sensitive() || part.is_sensitive() || *part.ty() != Type::String {
        return None;
    }
    part.as_str().filter(|text| !text.is_empty()).map(|text| (name.to_string(), text.to_string()))
}

/// A change with what all changes of an instance share.
pub fn new_change(instance: &Instance<'_>, action: Action, before: Value, after: Value) -> ResourceChange {
    ResourceChange {
        addr: instance.addr.clone(),
        previous_addr: previous_addr(&instance.run.prior, &instance.addr),
        deposed: None,
        provider: instance.provider_addr.clone(),
        action,
        reason: ActionReason::None,
        change: Change { before, after },
        required_replace: Vec::<Path>::new(),
        private: std::sync::Arc::from([]),
        importing: None,
        identity: Default::default(),
        generated_config: None,
    }
}

/// Where the object was before this run.
pub fn previous_addr(prior: &Prior, addr: &AbsResourceInstance) -> AbsResourceInstance {
    prior.moved.get(addr).unwrap_or(addr).clone()
}

/// Writes or removes an object of the state that plan builds: as read, or as refreshed.
pub fn put(
    results: &Results,
    instance: &Instance<'_>,
    deposed: Option<&DeposedKey>,
    object: Option<Object>,
    previous: bool,
) {
    let key = &instance.provider_addr.key;
    let object = object.map(|object| Object { provider_key: key.clone(), ..object });
    let mut states = results.states();
    let state = if previous { &mut states.previous } else { &mut states.current };
    let place = state.instance_mut(&instance.addr, instance.provider_addr);
    place_object(place, deposed, object);
    state.prune(&instance.addr);
}

fn place_object(place: &mut StateInstance, deposed: Option<&DeposedKey>, object: Option<Object>) {
    match (deposed, object) {
        (None, object) => place.current = object,
        (Some(key), Some(object)) => drop(place.deposed.insert(key.clone(), object)),
        (Some(key), None) => drop(place.deposed.remove(key)),
    }
}

/// Changes the working state of an apply and makes the change durable.
pub async fn save(
    run: &Run,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    change: impl FnOnce(&mut StateInstance),
) -> Diagnostics {
    let instance = {
        let mut states = run.results.states();
        let place = states.current.instance_mut(addr, provider);
        change(place);
        let instance = place.clone();
        states.current.prune(addr);
        instance
    };
    match run.ports.sink.finished(addr, provider, &instance).await {
        Ok(()) => Diagnostics::new(),
        Err(errors) => errors,
    }
}

/// Notes what refreshing found changed outside: in the current object, for the reference looks at no other. Other marks
/// than those that the state had of it count too; where nothing else is planned, a new address as well.
pub fn note_drift(instance: &Instance<'_>, stored: &Object, before: &Value, after: Option<&Value>) {
    let (action, after) = match after {
        // The provider upgraded the object to none.
        None if before.is_null() => return,
        None => (Action::Delete, Value::null(before.ty().clone())),
        Some(after) if after == before && has_stored_marks(stored, after) => {
            let run = instance.run;
            let only_this = matches!(run.verb, Verb::Plan { refresh_only: true, .. });
            if !only_this || !run.prior.moved.contains_key(&instance.addr) {
                return;
            }
            (Action::NoOp, after.clone())
        }
        Some(after) => (Action::Update, after.clone()),
    };
    let change = new_change(instance, action, before.clone(), after);
    instance.run.results.changes().drift.push(change);
}

/// Whether a value has exactly the marks that the state keeps of an object.
fn has_stored_marks(stored: &Object, value: &Value) -> bool {
    if stored.sensitive.is_empty() && !value.has_marks_deep() {
        return true;
    }
    value.unmark_deep().0.mark_at_paths(&stored.sensitive) == *value
}

/// Adds a change to the plan.
pub fn note_change(results: &Results, change: ResourceChange) {
    results.changes().add(change);
}
