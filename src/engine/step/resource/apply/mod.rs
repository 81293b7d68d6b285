//! Applying a planned change of one instance: plan again with the values that are known now, check, apply, check, record.
//!
//! Owns what happens around the request that changes an object. Never decides what is to change: the plan did.

mod deposed;
pub mod destroy;
mod managed;
pub mod provision;
mod report;
mod request;
pub mod winrm;

use std::sync::Arc;

use base::diag::Diagnostics;
use base::telemetry::{self, Detail};
use model::addr::{AbsResourceInstance, InstanceKey};
use report::describe_task;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use crate::change::{breach_text, compatible};
use crate::engine_errors::differs_from_plan;
use crate::graph::Task;
use crate::graph::walk::Turn;
use crate::ids::{ResourceId, TaskId};
use crate::run::Run;
use crate::run::object::{Stored, unknown_as_null};
use crate::run::results::{Each, ModuleSlots, ResourceSlots};
use crate::step::resource::read::data;
use crate::step::resource::record::save;
use crate::step::resource::{Instance, conditions};

/// The slot of a task's instance: its block, and the position among its instances.
struct TaskSlot {
    module: Arc<ModuleSlots>,
    block: ResourceId,
    position: usize,
}

impl TaskSlot {
    fn of(run: &Run, task: &Task) -> Option<TaskSlot> {
        let addr = &task.change.addr;
        let module = run.results.find_module(&run.blocks.tree, &addr.module)?;
        let block = task.block?;
        let position = module.resources[block.index()].get()?.expansion.index_of(addr.key())?;
        Some(TaskSlot { module, block, position })
    }

    fn slots(&self) -> Option<&ResourceSlots> {
        self.module.resources[self.block.index()].get()
    }

    fn publish(&self, value: Option<Value>) {
        if let Some(slots) = self.slots() {
            slots.instances[self.position].publish(value);
        }
    }
}

/// Lets those who wait for the value of a task's instance know that there will be none, if there is none yet.
pub fn publish_no_value(run: &Run, id: TaskId) {
    if let Some(place) = TaskSlot::of(run, &run.schedule.tasks[id.index()]) {
        place.publish(None);
    }
}

pub async fn run(run: &Run, id: TaskId, turn: &mut Turn) -> Diagnostics {
    let describe = || describe_task(&run.schedule.tasks[id.index()]);
    telemetry::traced(Detail::Steps, describe, || apply_task(run, id, turn), Diagnostics::has_errors).await
}

async fn apply_task(run: &Run, id: TaskId, turn: &mut Turn) -> Diagnostics {
    let task = &run.schedule.tasks[id.index()];
    let addr = &task.change.addr;
    let module = run.results.find_module(&run.blocks.tree, &addr.module);
    let place = TaskSlot::of(run, task);
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
        _ => managed::apply(&instance, task, turn, &publish).await,
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
