//! Recording: the result of a step goes to the plan, the state and the observer.

use base::diag::Diagnostics;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::plan::{Action, ActionReason, Change, ResourceChange};
use model::state::{DeposedKey, Instance as StateInstance, Object, State};
use model::version::at_least;
use terrane_value::{Path, Value};

use super::Instance;
use crate::policy;
use crate::run::records::States;
use crate::run::results::Results;
use crate::run::{Prior, Run, Verb};

/// A change with what all changes of an instance share.
pub fn new_change(instance: &Instance<'_>, action: Action, before: Value, after: Value) -> ResourceChange {
    change_of(&instance.run.prior, &instance.addr, instance.provider_addr, action, before, after)
}

/// As `new_change`, of an instance that no provider serves.
pub fn change_of(
    prior: &Prior,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    action: Action,
    before: Value,
    after: Value,
) -> ResourceChange {
    ResourceChange {
        addr: addr.clone(),
        previous_addr: previous_addr(prior, addr),
        deposed: None,
        provider: provider.clone(),
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

/// Writes or removes an object of the refreshed state that a plan builds.
pub fn put(instance: &Instance<'_>, deposed: Option<&DeposedKey>, object: Option<Object>) {
    let mut states = instance.run.results.states();
    let States { current, previous } = &mut *states;
    put_in(current, previous, instance, deposed, object);
}

/// Writes or removes an object of the state as it was read, which a plan brings to current schemas.
pub fn put_previous(instance: &Instance<'_>, deposed: Option<&DeposedKey>, object: Option<Object>) {
    let mut states = instance.run.results.states();
    let States { current, previous } = &mut *states;
    put_in(previous, current, instance, deposed, object);
}

/// Changes one of the two states; what both have alike takes memory once.
fn put_in(
    state: &mut State,
    other: &State,
    instance: &Instance<'_>,
    deposed: Option<&DeposedKey>,
    object: Option<Object>,
) {
    let key = &instance.provider_addr.key;
    let object = object.map(|object| Object { provider_key: key.clone(), ..object });
    let place = state.instance_mut(&instance.addr, instance.provider_addr);
    place_object(place, deposed, object);
    state.prune(&instance.addr);
    state.share_instance(&instance.addr, other);
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
    policy::at_apply::after_saving(run, addr);
    match run.ports.sink.finished(addr, provider, &instance).await {
        Ok(()) => Diagnostics::new(),
        Err(errors) => errors,
    }
}

/// Notes what refreshing found changed outside: in the current object, for the reference looks at no other. Other marks
/// than those that the state had of it counted too, before Terraform 1.12; where nothing else is planned, a new address as well.
pub fn note_drift(instance: &Instance<'_>, stored: &Object, before: &Value, after: Option<&Value>) {
    let (action, after) = match after {
        // The provider upgraded the object to none.
        None if before.is_null() => return,
        None => (Action::Delete, Value::null(before.ty().clone())),
        Some(after) if after == before && (at_least(12) || has_stored_marks(stored, after)) => {
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
