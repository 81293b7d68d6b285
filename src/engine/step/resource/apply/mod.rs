//! Applying a planned change of one instance: plan again with the values that are known now, check, apply, check, record.
//!
//! Owns what happens around the request that changes an object. Never decides what is to change: the plan did.

pub mod destroy;
pub mod provision;
pub mod winrm;

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::moment::Moment;
use base::name::PROGRAM;
use base::telemetry::{self, Description, Detail};
use model::addr::{AbsResourceInstance, ConfigResource, InstanceKey};
use model::config::ProvisionerWhen;
use model::plan::{Action, ResourceChange};
use model::state::{DeposedKey, ObjectStatus};
use terrane_protocol::provider::ApplyRequest;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use crate::change::{breach_text, compatible, write_only};
use crate::engine_errors::{INVALID_PROVIDER_OBJECT, differs_from_plan, halted};
use crate::event::Event;
use crate::graph::Task;
use crate::graph::walk::Turn;
use crate::ports::Ports;
use crate::run::object::{Stored, mark, nonconforming, unknown_as_null, unknown_parts};
use crate::run::results::{Each, ModuleSlots, ResourceSlots};
use crate::run::{Run, Verb};
use crate::step::action;
use crate::step::resource::label::{shown_label, shown_label_or_tag};
use crate::step::resource::plan::change::{Forced, plan};
use crate::step::resource::read::data;
use crate::step::resource::read::upgrade::upgrade;
use crate::step::resource::record::save;
use crate::step::resource::{Instance, conditions, with_instance};

const INVALID_RESULT: &str = "Provider returned invalid result object after apply";

/// The slot of an instance: the index of its block in its module, and the position among its instances.
struct InstanceSlot {
    module: Arc<ModuleSlots>,
    block: u32,
    position: usize,
}

impl InstanceSlot {
    fn of(run: &Run, task: &Task) -> Option<InstanceSlot> {
        let addr = &task.change.addr;
        let module = run.results.find_module(&run.blocks.tree, &addr.module)?;
        let (_, block) = task.block?;
        let position = module.resources[block as usize].get()?.expansion.index_of(addr.key())?;
        Some(InstanceSlot { module, block, position })
    }

    fn slots(&self) -> Option<&ResourceSlots> {
        self.module.resources[self.block as usize].get()
    }

    fn publish(&self, value: Option<Value>) {
        if let Some(slots) = self.slots() {
            slots.instances[self.position].publish(value);
        }
    }
}

/// Lets those who wait for the value of a task's instance know that there will be none, if there is none yet.
pub fn publish_no_value(run: &Run, index: u32) {
    if let Some(place) = InstanceSlot::of(run, &run.schedule.tasks[index as usize]) {
        place.publish(None);
    }
}

pub async fn run(run: &Run, index: u32, turn: &mut Turn) -> Diagnostics {
    let describe = || describe_task(&run.schedule.tasks[index as usize]);
    telemetry::traced(Detail::Steps, describe, || apply_task(run, index, turn), Diagnostics::has_errors).await
}

/// The span of a change.
pub fn describe_task(task: &Task) -> Description {
    let span = Description::new("Apply resource instance changes");
    with_instance(span, &task.change.addr).with("opentofu.provider_instance.address", task.change.provider.to_string())
}

async fn apply_task(run: &Run, index: u32, turn: &mut Turn) -> Diagnostics {
    let task = &run.schedule.tasks[index as usize];
    let addr = &task.change.addr;
    let module = run.results.find_module(&run.blocks.tree, &addr.module);
    let place = InstanceSlot::of(run, task);
    let each = place.as_ref().and_then(|place| Some(place.slots()?.expansion.each(place.position)));
    let each = each.unwrap_or_else(|| planned_each(addr));
    if module.is_none() && task.block.is_some() && run.results.have_files_changed() {
        let what = format!("The module instance {}", addr.module);
        return differs_from_plan(&what, "it no longer exists").about(addr.to_string()).into();
    }
    let instance = match Instance::of_task(run, task, module, each) {
        Ok(instance) => instance,
        Err(error) => return error.into(),
    };
    let publish = |value: Option<Value>| {
        if let Some(place) = &place {
            place.publish(value);
        }
    };
    match addr.mode() {
        ResourceMode::Data => read_data(&instance, task, &publish).await,
        _ => apply_managed(&instance, task, turn, &publish).await,
    }
}

/// What `count.index` and `each.key` are in an instance that was planned and that its block, which a file decides on, does not have
/// any more.
fn planned_each(addr: &AbsResourceInstance) -> Each {
    match addr.key() {
        InstanceKey::None | InstanceKey::Wildcard => Each::None,
        InstanceKey::Int(i) => usize::try_from(*i).map_or(Each::None, Each::Index),
        InstanceKey::Str(key) => Each::Key(key.clone()),
    }
}

async fn read_data(instance: &Instance<'_>, task: &Task, publish: &(dyn Fn(Option<Value>) + Sync)) -> Diagnostics {
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let config = diagnostics.take(instance.evaluate());
    if instance.run.results.have_files_changed() && !diagnostics.has_errors() {
        let (planned, now) = (&task.change.change.after, data::planned_object(instance, &config));
        let mut breaches = compatible::object_compatible(&instance.schema.block, planned, &now);
        breaches.extend(compatible::replaced_nulls(planned, &now));
        let addr = instance.addr.to_string();
        let error = |breach| differs_from_plan(&addr, &breach_text(breach, None)).about(addr.clone());
        diagnostics.extend(breaches.iter().map(error));
    }
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let (stored, found) = data::read(instance, &config).await;
    let stored = match instance.check_around() {
        Some(check) => {
            diagnostics.extend(data::for_check(instance, check, found));
            let unread = || data::object_of(instance, data::planned_object(instance, &config));
            Some(stored.unwrap_or_else(unread))
        }
        None => {
            diagnostics.extend(found);
            stored
        }
    };
    let Some(stored) = stored else { return diagnostics };
    let known = Stored { value: unknown_as_null(&stored.value), ..stored.clone() };
    let object = data::encode(instance, &known);
    diagnostics
        .extend(save(instance.run, &instance.addr, instance.provider_addr, |place| place.current = Some(object)).await);
    publish(Some(stored.value.clone()));
    diagnostics.extend(conditions::postconditions(instance, &stored.value));
    diagnostics
}

async fn apply_managed(
    instance: &Instance<'_>,
    task: &Task,
    turn: &mut Turn,
    publish: &(dyn Fn(Option<Value>) + Sync),
) -> Diagnostics {
    let run = instance.run;
    let promised = &task.change;
    if promised.action != Action::DeleteThenCreate {
        announce_import(&run.ports, promised);
    }
    let mut diagnostics = Diagnostics::new();
    let deposed = match promised.action.creates_first() {
        true => diagnostics.take(depose(instance).await),
        false => None,
    };
    let Some(current) = diagnostics.take(current_object(instance).await) else { return diagnostics };
    let forced = if promised.action.is_replace() { Forced::ByRequest } else { Forced::No };
    let forced = if current.is_none() { Forced::No } else { forced };
    let (change, found) = plan(instance, current.as_ref(), forced, Some(promised)).await;
    diagnostics.extend(found);
    let Some(change) = change else {
        diagnostics.extend(restore(instance, deposed.as_ref()).await);
        return diagnostics;
    };
    diagnostics.extend(check_promise(instance, promised, &change));
    if diagnostics.has_errors() {
        diagnostics.extend(restore(instance, deposed.as_ref()).await);
        return diagnostics;
    }
    let change = creating_half(change, &instance.null());
    if change.action == Action::NoOp {
        let value = current.as_ref().map_or_else(|| change.change.after.clone(), |c| c.value.clone());
        publish(Some(value.clone()));
        diagnostics.extend(conditions::postconditions(instance, &value));
        return diagnostics;
    }
    let creates = change.action == Action::Create;
    let started = run.ports.host.now();
    announce(instance, None, &change);
    diagnostics.extend(action::apply::before(instance, &task.invocations, &change.change.after).await);
    if diagnostics.has_errors() {
        diagnostics.extend(restore(instance, deposed.as_ref()).await);
        finish(instance, None, change.action, None, started, true);
        return diagnostics;
    }
    let (applied, found) = apply(instance, current, &change).await;
    diagnostics.extend(found);
    let mut applied = applied.map(|applied| tainted_if(applied, creates && diagnostics.has_errors()));
    if let Some(applied) = &mut applied {
        applied.dependencies =
            instance.block.and_then(|b| run.blocks.order.dependencies.get(&b).cloned()).unwrap_or_default();
    }
    let is_settled = !creates || diagnostics.has_errors() || !may_taint(instance, task);
    if is_settled && !diagnostics.has_errors() && applied.as_ref().is_some_and(|a| !a.value.is_null()) {
        diagnostics.extend(action::apply::report_due(run, &task.invocations, false).await);
    }
    // Until what may taint it has run, a new object is tainted, in case this process ends.
    diagnostics.extend(store(instance, applied.clone().map(|a| tainted_if(a, !is_settled)).as_ref()).await);
    if let Some(applied) = applied.as_mut().filter(|a| !diagnostics.has_errors() && !a.value.is_null()) {
        publish(Some(applied.value.clone()));
        diagnostics.extend(follow_up(instance, task, applied, creates.then_some(turn)).await);
    }
    if diagnostics.has_errors() {
        diagnostics.extend(restore(instance, deposed.as_ref()).await);
    }
    let failed = diagnostics.has_errors();
    finish(instance, None, change.action, applied.as_ref().map(|a| &a.value), started, failed);
    // They are of use where the change failed, too: whether the object is as it should be is another question.
    let value = applied.map(|a| a.value).filter(|value| !value.is_null());
    let value = value.unwrap_or_else(|| Value::unknown(instance.schema.implied_type().clone()));
    diagnostics.extend(conditions::postconditions(instance, &value));
    diagnostics
}

/// Whether something that follows a creation may taint the object.
fn may_taint(instance: &Instance<'_>, task: &Task) -> bool {
    provision::any(instance, ProvisionerWhen::Create) || action::apply::may_taint(&task.invocations)
}

/// What follows a creation or an update: provisioners, then actions. `turn`: of a creation.
async fn follow_up(instance: &Instance<'_>, task: &Task, applied: &mut Stored, turn: Option<&mut Turn>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let creates = turn.is_some();
    if creates {
        diagnostics.extend(provision::run(instance, &applied.value, ProvisionerWhen::Create, turn).await);
        if diagnostics.has_errors() {
            applied.status = ObjectStatus::Tainted;
        }
    }
    if !diagnostics.has_errors() {
        let reported = !creates || !may_taint(instance, task);
        let ended = action::apply::after(instance, &task.invocations, &applied.value, reported).await;
        diagnostics.extend(ended.diagnostics);
        if ended.tainted {
            applied.status = ObjectStatus::Tainted;
        }
    }
    if creates && (may_taint(instance, task) || applied.is_tainted()) {
        diagnostics.extend(store(instance, Some(applied)).await);
    }
    diagnostics
}

fn tainted_if(mut object: Stored, tainted: bool) -> Stored {
    if tainted {
        object.status = ObjectStatus::Tainted;
    }
    object
}

/// The current object as a value; `None` inside if there is none. None with errors.
pub async fn current_object(instance: &Instance<'_>) -> (Option<Option<Stored>>, Diagnostics) {
    let object = instance.run.results.states().current.instance(&instance.addr).and_then(|i| i.current.clone());
    match object {
        None => (Some(None), Diagnostics::new()),
        Some(object) => {
            let (stored, found) = upgrade(instance, &object).await;
            (stored.map(|stored| Some(stored).filter(|s| !s.value.is_null())), found)
        }
    }
}

/// Puts the current object aside, under a new key.
async fn depose(instance: &Instance<'_>) -> (Option<DeposedKey>, Diagnostics) {
    let run = instance.run;
    let Some(key) = run.deposed_key(&instance.addr) else { return (None, Diagnostics::new()) };
    let set_aside = key.clone();
    let found = save(run, &instance.addr, instance.provider_addr, move |place| {
        if let Some(object) = place.current.take() {
            place.deposed.insert(set_aside, object);
        }
    })
    .await;
    (Some(key), found)
}

/// A replacement that was not made gives its place back to the object that was put aside.
async fn restore(instance: &Instance<'_>, deposed: Option<&DeposedKey>) -> Diagnostics {
    let Some(key) = deposed else { return Diagnostics::new() };
    save(instance.run, &instance.addr, instance.provider_addr, |place| {
        if place.current.is_none() {
            place.current = place.deposed.remove(key);
        }
    })
    .await
}

async fn store(instance: &Instance<'_>, object: Option<&Stored>) -> Diagnostics {
    let object = object.filter(|o| !o.value.is_null()).map(|o| o.encode(&instance.schema));
    save(instance.run, &instance.addr, instance.provider_addr, |place| place.current = object).await
}

/// Of a replacement, what is left to do here: creating.
fn creating_half(mut change: ResourceChange, null: &Value) -> ResourceChange {
    if change.action.is_replace() {
        change.action = Action::Create;
        change.change.before = null.clone();
    }
    change
}

/// Whether the change is still what the plan promised.
fn check_promise(instance: &Instance<'_>, promised: &ResourceChange, actual: &ResourceChange) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let (addr, provider) = (&instance.addr, &instance.provider_addr.provider);
    let summary = "Provider produced inconsistent final plan";
    let expanding = format!(
        "When expanding the plan for {addr} to include new values learned so far during apply, provider \"{provider}\""
    );
    let settled = promised.action == Action::Update && actual.action == Action::NoOp;
    if promised.action != actual.action && !settled {
        let what = format!("{expanding} changed the planned action from {:?} to {:?}.", promised.action, actual.action);
        diagnostics.push(instance.bug(summary, what));
    }
    let (planned, after) = (&promised.change.after, &actual.change.after);
    for breach in compatible::object_compatible(&instance.schema.block, planned, after) {
        let text = breach_text(&breach, Some("Root object"));
        let what = format!("{expanding} produced an invalid new value for {text}.");
        diagnostics.push(instance.bug(summary, what));
    }
    diagnostics
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

/// Asks the provider to make the change, and checks what it made. The object is what to keep, errors or not.
pub async fn apply(
    instance: &Instance<'_>,
    current: Option<Stored>,
    change: &ResourceChange,
) -> (Option<Stored>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    let destroys = change.action == Action::Delete;
    let config = match destroys {
        true => instance.null(),
        false => diagnostics.take(instance.evaluate()),
    };
    if !destroys && !config.is_wholly_known() {
        diagnostics.push(still_unknown(instance, &config));
    }
    let meta = diagnostics.take(instance.provider_meta());
    if diagnostics.has_errors() {
        return (current, diagnostics);
    }
    let (before, before_marks) = change.change.before.unmark_deep_with_paths();
    let (after, after_marks) = change.change.after.unmark_deep_with_paths();
    if change.action == Action::Update && before == after && before_marks != after_marks {
        // Only what is secret changed: nothing to ask the provider for.
        let object = current.map(|c| {
            let identity = change.identity.after.clone().or(c.identity.clone());
            Stored { value: change.change.after.clone(), identity, ..c }
        });
        return (object, diagnostics);
    }
    if run.ports.stop.is_stopping() {
        diagnostics.push(halted());
        return (current, diagnostics);
    }
    if let Err(errors) = run.ports.sink.started(&instance.addr, change.deposed.as_ref()).await {
        diagnostics.extend(errors);
        return (current, diagnostics);
    }
    let request = ApplyRequest {
        kind: instance.addr.kind().into(),
        prior: before,
        planned: after.clone(),
        config: config.unmark_deep().0,
        planned_private: change.private.clone(),
        planned_identity: change.identity.after.clone(),
        provider_meta: meta,
    };
    // Nothing reports a slow answer here: the events of a change in progress do.
    let response = instance.provider.apply_resource_change(request).await;
    diagnostics.extend(instance.about(response.diagnostics));
    let value = match check_type(instance, &response.new_state) {
        Ok(()) => response.new_state,
        // A failed call has no answer worth checking.
        Err(_) if diagnostics.has_errors() => return (current, diagnostics),
        Err(error) => {
            diagnostics.push(error);
            return (current, diagnostics);
        }
    };
    let value = check_new_value(instance, change, value, response.legacy_type_system, &mut diagnostics);
    if destroys && !value.is_null() && !diagnostics.has_errors() {
        diagnostics.push(left_object(instance));
    }
    if value.is_null() {
        if !destroys && !diagnostics.has_errors() {
            diagnostics.push(null_object(instance, change.action));
        }
        // On errors a missing answer must not lose the object that was there.
        return (if diagnostics.has_errors() { current } else { None }, diagnostics);
    }
    let failed = diagnostics.has_errors();
    let object = Stored {
        value: mark(&value, &after_marks, &instance.schema.block),
        identity: response.identity.or_else(|| current.as_ref().and_then(|c| c.identity.clone())),
        private: response.private,
        status: current.as_ref().filter(|_| failed).map_or(ObjectStatus::Ready, |c| c.status),
        dependencies: kept_dependencies(current.as_ref()),
        create_before_destroy: instance.create_before_destroy && !destroys,
        keep: instance.keep(),
        provider_key: instance.provider_addr.key.clone(),
    };
    (Some(object), diagnostics)
}

/// The value that the provider made of the object, without what no provider may give. Reports what is wrong with it.
fn check_new_value(
    instance: &Instance<'_>,
    change: &ResourceChange,
    value: Value,
    legacy_type_system: bool,
    diagnostics: &mut Diagnostics,
) -> Value {
    let value = check_write_only(instance, value, diagnostics);
    let value = check_known(instance, value, diagnostics);
    if change.action == Action::Delete || diagnostics.has_errors() || legacy_type_system {
        return value;
    }
    for breach in compatible::object_compatible(&instance.schema.block, &change.change.after, &value) {
        let what = format!(
            "When applying changes to {}, provider {:?} produced an unexpected new value: {}.",
            instance.addr,
            instance.provider_addr.to_string(),
            breach_text(&breach, Some("Root object"))
        );
        diagnostics.push(instance.bug("Provider produced inconsistent result after apply", what));
    }
    value
}

fn kept_dependencies(current: Option<&Stored>) -> Arc<[ConfigResource]> {
    current.map_or_else(|| Arc::from([]), |c| c.dependencies.clone())
}

fn still_unknown(instance: &Instance<'_>, config: &Value) -> Diagnostic {
    let paths: Vec<String> = unknown_parts(config).iter().map(ToString::to_string).collect();
    Diagnostic::error(
        "Configuration contains unknown value",
        format!(
            "configuration for {} still contains unknown values during apply (this is a bug in {PROGRAM}; please report \
             it!)\nThe following paths in the resource configuration are unknown:\n{}",
            instance.addr,
            paths.join("\n")
        ),
    )
}

fn check_type(instance: &Instance<'_>, value: &Value) -> Result<(), Diagnostic> {
    let (addr, provider) = (&instance.addr, instance.provider_addr.to_string());
    match nonconforming(value, instance.schema.implied_type()) {
        None => Ok(()),
        Some(wrong) => {
            let what = format!(
                "Provider {provider:?} produced an invalid value after apply for {addr}. The result cannot not be saved in \
                 the {PROGRAM} state.\n\n{wrong}."
            );
            Err(instance.bug(INVALID_PROVIDER_OBJECT, what))
        }
    }
}

/// Only a destruction may leave no object.
fn null_object(instance: &Instance<'_>, action: Action) -> Diagnostic {
    let detail = format!(
        "After applying a {action:?} plan, the provider returned a null object for {}. Only destroying should always produce a \
         null value, so this is always a bug in the provider and should be reported in the provider's own repository.",
        instance.addr
    );
    Diagnostic::error(INVALID_RESULT, detail)
}

/// A destruction must leave none. What is left is kept.
fn left_object(instance: &Instance<'_>) -> Diagnostic {
    let detail = format!(
        "After applying a {:?} plan, the provider returned a non-null object for {}. Destroying should always produce a null \
         value, so this is always a bug in the provider and should be reported in the provider's own repository. {PROGRAM} will \
         still save this errant object in the state for debugging and recovery.",
        Action::Delete,
        instance.addr
    );
    Diagnostic::error(INVALID_RESULT, detail)
}

/// Values of write-only attributes are errors. They become null, so that the rest of the object can be kept.
fn check_write_only(instance: &Instance<'_>, value: Value, diagnostics: &mut Diagnostics) -> Value {
    let found = instance.check_write_only(INVALID_PROVIDER_OBJECT, &value, "after apply");
    if !found.has_errors() {
        return value;
    }
    diagnostics.extend(found);
    write_only::without_values(&instance.schema.block, &value)
}

/// Nothing may be unknown after apply; what is becomes null, so that the rest can be kept.
fn check_known(instance: &Instance<'_>, value: Value, diagnostics: &mut Diagnostics) -> Value {
    if value.is_wholly_known() {
        return value;
    }
    for path in unknown_parts(&value) {
        diagnostics.push(Diagnostic::error(
            INVALID_RESULT,
            format!(
                "After the apply operation, the provider still indicated an unknown value for {}{path}. All values must be \
                 known after apply, so this is always a bug in the provider and should be reported in the provider's own \
                 repository. {PROGRAM} will still save the other known object values in the state.",
                instance.addr
            ),
        ));
    }
    unknown_as_null(&value)
}

impl Run {
    /// The key under which the current object of an instance is put aside; the same for all steps of a run.
    pub fn deposed_key(&self, addr: &model::addr::AbsResourceInstance) -> Option<DeposedKey> {
        debug_assert!(matches!(self.verb, Verb::Apply { .. }));
        let states = self.results.states();
        let instance = states.current.instance(addr)?;
        instance.current.as_ref()?;
        let key = loop {
            let mut bytes = [0; 4];
            self.ports.host.random(&mut bytes);
            let key = DeposedKey(format!("{:08x}", u32::from_be_bytes(bytes)).into());
            if !instance.deposed.contains_key(&key) {
                break key;
            }
        };
        self.results.deposed().insert(addr.clone(), key.clone());
        Some(key)
    }
}
