//! Destroying one object: a current one, or a deposed one of this or an earlier run.

use base::diag::Diagnostics;
use base::telemetry::{self, Detail};
use model::addr::InstanceKey;
use model::config::{ActionEvent, ProvisionerWhen};
use model::plan::{Action, ResourceChange};
use model::state::DeposedKey;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::provision;
use super::report::{announce, announce_import, describe_task, finish};
use super::request::apply;
use crate::graph::Task;
use crate::ids::TaskId;
use crate::policy;
use crate::run::Run;
use crate::run::results::Each;
use crate::step::action;
use crate::step::resource::Instance;
use crate::step::resource::plan::orphan;
use crate::step::resource::read::upgrade::upgrade;
use crate::step::resource::record::save;

pub async fn run(run: &Run, id: TaskId) -> Diagnostics {
    let describe = || describe_task(&run.schedule.tasks[id.index()]);
    telemetry::traced(Detail::Steps, describe, || destroy_task(run, id), Diagnostics::has_errors).await
}

async fn destroy_task(run: &Run, id: TaskId) -> Diagnostics {
    let task = &run.schedule.tasks[id.index()];
    let change = &task.change;
    if change.action == Action::CreateThenForget {
        // Nothing was put aside if the replacement failed.
        let Some(key) = run.results.deposed().get(&change.addr).cloned() else { return Diagnostics::new() };
        return save(run, &change.addr, &change.provider, |place| drop(place.deposed.remove(&key))).await;
    }
    if change.action == Action::Forget || change.addr.mode() == ResourceMode::Data {
        if let Some(error) = policy::at_apply::refused_with_module(run, &change.addr) {
            return error.into();
        }
        return save(run, &change.addr, &change.provider, |place| match &change.deposed {
            Some(key) => drop(place.deposed.remove(key)),
            None => place.current = None,
        })
        .await;
    }
    if change.action == Action::DeleteThenCreate {
        announce_import(&run.ports, change);
    }
    let module = run.results.find_module(&run.blocks.tree, &change.addr.module);
    let instance = match Instance::of_task(run, task, module, each(task)) {
        Ok(instance) => instance,
        Err(error) => return error.into(),
    };
    let deposed = match change.action {
        // The object that the replacement put aside; none if there was nothing to put aside.
        Action::CreateThenDelete => match run.results.deposed().get(&change.addr).cloned() {
            Some(key) => Some(key),
            None => return Diagnostics::new(),
        },
        _ => change.deposed.clone(),
    };
    destroy(&instance, task, deposed).await
}

/// In destroy provisioners `count.index` and `each.key` come from the address: the block may have changed.
fn each(task: &Task) -> Each {
    match task.change.addr.key() {
        InstanceKey::None | InstanceKey::Wildcard => Each::None,
        InstanceKey::Int(i) => usize::try_from(*i).map_or(Each::None, Each::Index),
        InstanceKey::Str(key) => Each::Entry(key.clone(), Value::dynamic()),
    }
}

async fn destroy(instance: &Instance<'_>, task: &Task, deposed: Option<DeposedKey>) -> Diagnostics {
    let (run, change) = (instance.run, &task.change);
    let object = run.results.states().current.instance(&instance.addr).and_then(|i| match &deposed {
        Some(key) => i.deposed.get(key).cloned(),
        None => i.current.clone(),
    });
    let Some(object) = object else { return Diagnostics::new() };
    let (stored, mut diagnostics) = upgrade(instance, &object).await;
    let Some(stored) = stored.filter(|s| !s.value.is_null()) else { return diagnostics };
    let half = match &deposed {
        None => destroying_half(instance, change),
        // Destroying an object that was put aside is planned when it is due, as the reference does.
        Some(key) => {
            let planned = orphan::plan_destroy(instance, &stored, Some(key.clone()), change.reason).await;
            let Some(planned) = diagnostics.take(planned) else { return diagnostics };
            planned
        }
    };
    diagnostics.extend(policy::at_apply::before_deletion(run, change, &half));
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let started = run.ports.host.now();
    announce(instance, deposed.as_ref(), &half);
    if !stored.is_tainted() && deposed.is_none() {
        diagnostics.extend(provision::run(instance, &stored.value, ProvisionerWhen::Destroy, None).await);
        if diagnostics.has_errors() {
            finish(instance, deposed.as_ref(), half.action, Some(&stored.value), started, true);
            return diagnostics;
        }
    }
    let value = stored.value.clone();
    diagnostics.extend(action::apply::destroying(run, &task.invocations, ActionEvent::BeforeDestroy).await);
    if diagnostics.has_errors() {
        finish(instance, deposed.as_ref(), half.action, Some(&value), started, true);
        return diagnostics;
    }
    let (left, found) = apply(instance, Some(stored), &half).await;
    diagnostics.extend(found);
    if left.is_none() && !diagnostics.has_errors() {
        diagnostics.extend(action::apply::report_due(run, &task.invocations, true).await);
    }
    let left = left.map(|left| left.encode(&instance.schema));
    let saved = save(run, &instance.addr, instance.provider_addr, |place| match (&deposed, left) {
        (None, left) => place.current = left,
        (Some(key), Some(left)) => drop(place.deposed.insert(key.clone(), left)),
        (Some(key), None) => drop(place.deposed.remove(key)),
    })
    .await;
    diagnostics.extend(saved);
    if !diagnostics.has_errors() {
        diagnostics.extend(action::apply::destroying(run, &task.invocations, ActionEvent::AfterDestroy).await);
    }
    finish(instance, deposed.as_ref(), half.action, Some(&value), started, diagnostics.has_errors());
    diagnostics
}

/// The destruction of the current object; of a replacement, that half.
fn destroying_half(instance: &Instance<'_>, change: &ResourceChange) -> ResourceChange {
    let mut half = change.clone();
    half.action = Action::Delete;
    if change.action.is_replace() {
        // The planned identity is that of the other half.
        half.identity.after = None;
    }
    half.change.after = instance.null();
    half
}
