//! Planning one managed instance: its object as it is now, its change, and what follows from the change.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::ConfigResource;
use model::plan::{Action, Refresh, ResourceChange};
use rustc_hash::FxHashSet;
use terrane_value::Value;

use super::change;
use super::prevention::check_prevent_destroy;
use super::replace::Forced;
use crate::blocks::imports::Named;
use crate::opentofu;
use crate::run::Verb;
use crate::run::object::Stored;
use crate::run::results::InstanceSlot;
use crate::step::action;
use crate::step::resource::read::refresh;
use crate::step::resource::read::upgrade::upgrade;
use crate::step::resource::record::{new_change, note_change, note_drift, put, put_previous};
use crate::step::resource::{Instance, conditions, deferral, import};

/// Plans one managed instance. Returns what references see; none with errors.
pub async fn plan(instance: &Instance<'_>, slot: &InstanceSlot) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = instance.check_destroy_argument();
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let dependencies = instance.block.and_then(|b| run.blocks.order.dependencies.get(&b).cloned()).unwrap_or_default();
    let present = diagnostics.take(present(instance, &dependencies).await);
    let Some(present) = present else { return (None, diagnostics) };
    if run.plans_nothing() {
        let value = diagnostics.take(refreshed_alone(instance, slot, present.current));
        return (value, diagnostics);
    }
    let Some(change) = diagnostics.take(change_of(instance, &present).await) else { return (None, diagnostics) };
    if let Some(reason) = deferral::reason(instance, &dependencies) {
        let value = change.change.after.clone();
        slot.publish(Some(value.clone()));
        diagnostics.extend(deferral::defer(instance, change, reason));
        return (Some(value), diagnostics);
    }
    if let (Action::NoOp, Some(current)) = (change.action, present.current) {
        store_dependencies(instance, current, dependencies);
    }
    let value = diagnostics.take(add_to_plan(instance, slot, change).await);
    (value, diagnostics)
}

/// The object of an instance, brought up to date.
#[derive(Default)]
struct Present {
    current: Option<Stored>,
    /// The plan without a change, because of which the object was not read.
    unchanged: Option<ResourceChange>,
    /// What names the object that the instance imports.
    importing: Option<Named>,
}

/// The object as it is now: the stored one or, if there is none, the one to import. None with errors.
async fn present(instance: &Instance<'_>, dependencies: &Arc<[ConfigResource]>) -> (Option<Present>, Diagnostics) {
    let run = instance.run;
    let (mut present, mut diagnostics) = stored(instance, dependencies).await;
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let is_ahead_of_destroy = matches!(run.verb, Verb::Plan { pre_destroy: true, .. });
    present.importing = run.results.imports().remove(&instance.addr).filter(|_| !is_ahead_of_destroy);
    if let (None, Some(named)) = (&present.current, &present.importing) {
        present.current = diagnostics.take(import::import(instance, named).await);
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        if !instance.is_deferred() {
            put(instance, None, present.current.as_ref().map(|c| c.encode(&instance.schema)));
        }
    }
    (Some(present), diagnostics)
}

/// The stored object as it is now. With errors it is of no use.
async fn stored(instance: &Instance<'_>, dependencies: &Arc<[ConfigResource]>) -> (Present, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    let object = run.prior.state.instance(&instance.addr).and_then(|s| s.current.as_ref());
    let Some(object) = object else { return (Present::default(), diagnostics) };
    let Some(mut stored) = diagnostics.take(upgrade(instance, object).await) else {
        return (Present::default(), diagnostics);
    };
    put_previous(instance, None, stored.encode_unless_null(&instance.schema));
    stored.create_before_destroy = instance.create_before_destroy;
    if opentofu::stores_destroy_argument_at_once(run.dialect()) {
        stored.keep = instance.keep();
    }
    stored.provider_key = instance.provider_addr.key.clone();
    let is_upgraded = object.schema_version != instance.schema.version;
    let unchanged = match run.inputs.scope.refresh {
        Refresh::Changed if !is_upgraded => unchanged(instance, &stored).await,
        _ => None,
    };
    let before = stored.value.clone();
    let mut current = Some(stored);
    if let Some(stored) = current.take_if(|_| run.inputs.scope.refresh != Refresh::Never && unchanged.is_none()) {
        current = diagnostics.take(refresh::refresh(instance, stored, None).await);
        if diagnostics.has_errors() {
            return (Present::default(), diagnostics);
        }
        if instance.is_deferred() {
            // What the provider could not read yet stays as it is.
            return (Present { current, unchanged, importing: None }, diagnostics);
        }
        note_drift(instance, object, &before, current.as_ref().map(|c| &c.value));
        if let Some(current) = &mut current {
            current.dependencies = merge(dependencies, &current.dependencies);
        }
    }
    current = current.filter(|c| !c.value.is_null());
    let mut kept = current.as_ref().map(|c| c.encode(&instance.schema));
    if let (Refresh::Never, Some(kept)) = (run.inputs.scope.refresh, &mut kept) {
        kept.sensitive = object.sensitive.clone();
    }
    put(instance, None, kept);
    (Present { current, unchanged, importing: None }, diagnostics)
}

/// The plan of an object that nothing changes, as far as can be said without reading it.
async fn unchanged(instance: &Instance<'_>, stored: &Stored) -> Option<ResourceChange> {
    let (forced, found) = Forced::of(instance);
    if found.has_errors() || forced != Forced::No || instance.run.plans_nothing() || stored.value.is_null() {
        return None;
    }
    let (change, found) = change::without_conditions(instance, stored).await;
    change.filter(|change| change.action == Action::NoOp && !found.has_errors())
}

/// Ends with the refreshed object where nothing is planned. Returns what references see.
fn refreshed_alone(
    instance: &Instance<'_>,
    slot: &InstanceSlot,
    current: Option<Stored>,
) -> (Option<Value>, Diagnostics) {
    if let (Some(reason), Some(current)) = (instance.deferral.get(), &current) {
        let change = new_change(instance, Action::Read, current.value.clone(), current.value.clone());
        instance.run.results.changes().defer(change, *reason);
    }
    let value = current.map(|c| c.value);
    let mut diagnostics = conditions::preconditions(instance);
    slot.publish(value.clone());
    let known = value.clone().unwrap_or_else(|| Value::unknown(instance.schema.implied_type().clone()));
    diagnostics.extend(conditions::postconditions(instance, &known));
    (value, diagnostics)
}

/// The planned change. None with errors.
async fn change_of(instance: &Instance<'_>, present: &Present) -> (Option<ResourceChange>, Diagnostics) {
    let (forced, mut diagnostics) = Forced::of(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let current = present.current.as_ref();
    let change = diagnostics.take(match &present.unchanged {
        Some(unchanged) => change::confirmed(instance, unchanged).await,
        None => change::plan(instance, current, forced).await,
    });
    let importing = present.importing.as_ref().map(|named| import::importing(named, current));
    (change.map(|change| ResourceChange { importing, ..change }), diagnostics)
}

/// Stores what an object depends on now, if it is not changed: there is no step of apply that would.
fn store_dependencies(instance: &Instance<'_>, mut current: Stored, dependencies: Arc<[ConfigResource]>) {
    if current.dependencies != dependencies {
        current.dependencies = dependencies;
        put(instance, None, Some(current.encode(&instance.schema)));
    }
}

/// Adds a change to the plan, with the actions that it invokes. Returns what references see; none with errors.
async fn add_to_plan(
    instance: &Instance<'_>,
    slot: &InstanceSlot,
    change: ResourceChange,
) -> (Option<Value>, Diagnostics) {
    let value = change.change.after.clone();
    let mut diagnostics = check_prevent_destroy(instance, &change);
    let triggering = action::plan::has_triggers(instance).then(|| change.clone());
    note_change(&instance.run.results, change);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    slot.publish(Some(value.clone()));
    diagnostics.extend(conditions::postconditions(instance, &value));
    if let Some(change) = triggering {
        diagnostics.extend(action::plan::triggered(instance, &change).await);
    }
    (Some(value), diagnostics)
}

/// What the configuration says joined with what is stored, sorted by text.
fn merge(configured: &Arc<[ConfigResource]>, stored: &Arc<[ConfigResource]>) -> Arc<[ConfigResource]> {
    if configured == stored {
        return stored.clone();
    }
    let known: FxHashSet<&ConfigResource> = configured.iter().collect();
    let extra: Vec<&ConfigResource> = stored.iter().filter(|s| !known.contains(s)).collect();
    match () {
        () if extra.is_empty() => configured.clone(),
        () if extra.len() + configured.len() == stored.len() => stored.clone(),
        () => {
            let mut all: Vec<ConfigResource> = configured.iter().chain(extra).cloned().collect();
            all.sort_by_cached_key(ToString::to_string);
            all.into()
        }
    }
}
