//! Applying the change of a managed instance: plan again, announce, apply, store, and what has to follow.

use base::diag::Diagnostics;
use model::config::ProvisionerWhen;
use model::config::policy_file::PolicyOperation;
use model::plan::{Action, ResourceChange};
use model::state::ObjectStatus;
use terrane_value::Value;

use super::report::{announce, announce_import, finish};
use super::{deposed, provision, request};
use crate::change::{breach_text, compatible};
use crate::graph::Task;
use crate::graph::walk::Turn;
use crate::policy;
use crate::run::object::Stored;
use crate::step::action;
use crate::step::resource::plan::change::plan_again;
use crate::step::resource::read::upgrade::upgrade;
use crate::step::resource::record::save;
use crate::step::resource::{Instance, conditions};

/// Applies the planned change of a managed instance; of a replacement, the creation.
pub async fn apply(
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
        true => diagnostics.take(deposed::depose(instance).await),
        false => None,
    };
    let Some(current) = diagnostics.take(current_object(instance).await) else { return diagnostics };
    let change = diagnostics.take(plan_again(instance, current.as_ref(), promised).await);
    let Some(change) = change else {
        diagnostics.extend(deposed::restore(instance, deposed.as_ref()).await);
        return diagnostics;
    };
    diagnostics.extend(check_promise(instance, promised, &change));
    if diagnostics.has_errors() {
        diagnostics.extend(deposed::restore(instance, deposed.as_ref()).await);
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
    let operation = if creates { PolicyOperation::Create } else { PolicyOperation::Update };
    diagnostics.extend(policy::at_apply::before_change(run, &change, operation));
    if diagnostics.has_errors() {
        diagnostics.extend(deposed::restore(instance, deposed.as_ref()).await);
        return diagnostics;
    }
    let started = run.ports.host.now();
    announce(instance, None, &change);
    diagnostics.extend(action::apply::before(instance, &task.invocations, &change.change.after).await);
    if diagnostics.has_errors() {
        diagnostics.extend(deposed::restore(instance, deposed.as_ref()).await);
        finish(instance, None, change.action, None, started, true);
        return diagnostics;
    }
    let (applied, found) = request::apply(instance, current, &change).await;
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
    policy::at_apply::after_change(run, &change);
    if let Some(applied) = applied.as_mut().filter(|a| !diagnostics.has_errors() && !a.value.is_null()) {
        publish(Some(applied.value.clone()));
        diagnostics.extend(follow_up(instance, task, applied, creates.then_some(turn)).await);
    }
    if diagnostics.has_errors() {
        diagnostics.extend(deposed::restore(instance, deposed.as_ref()).await);
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
async fn current_object(instance: &Instance<'_>) -> (Option<Option<Stored>>, Diagnostics) {
    let object = instance.run.results.states().current.instance(&instance.addr).and_then(|i| i.current.clone());
    match object {
        None => (Some(None), Diagnostics::new()),
        Some(object) => {
            let (stored, found) = upgrade(instance, &object).await;
            (stored.map(|stored| Some(stored).filter(|s| !s.value.is_null())), found)
        }
    }
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
