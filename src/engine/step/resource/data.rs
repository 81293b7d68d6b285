//! Data sources: read in plan if everything that they depend on is settled, otherwise in apply.

use std::time::Duration;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::engine::change::proposed::planned_data_object;
use crate::engine::event::Event;
use crate::engine::results::Gathered;
use crate::lang::value::Value;
use crate::model::addr::ConfigResource;
use crate::model::plan::{Action, ActionReason};
use crate::model::provider::{ReadDataRequest, has_errors};
use crate::model::state::ObjectStatus;

use super::object::{Stored, mark, nonconforming, normalise};
use super::record::{new_change, note_change, put, shown_id};
use super::{Instance, conditions};

/// Reads the data source, or plans to. Returns what references see; none with errors.
pub async fn plan(instance: &Instance<'_>, refresh_only: bool) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let config = diagnostics.take(instance.evaluate());
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let is_known = config.is_wholly_known();
    let is_pending = dependencies_pending(instance);
    if !is_known || is_pending {
        if refresh_only {
            return (Some(Value::unknown(instance.schema.implied_type().clone())), diagnostics);
        }
        let (bare, marks) = config.unmark_deep_with_paths();
        let after = mark(&planned_data_object(&instance.schema.block, &bare), &marks, &instance.schema.block);
        let mut change = new_change(instance, Action::Read, instance.null(), after.clone());
        change.reason = match is_known {
            false => ActionReason::ReadBecauseConfigUnknown,
            true => ActionReason::ReadBecauseDependencyPending,
        };
        note_change(run, change);
        put(run, instance, None, None, false);
        diagnostics.extend(conditions::postconditions(instance, &after));
        return (Some(after), diagnostics);
    }
    let (stored, found) = read(instance, &config).await;
    diagnostics.extend(found);
    let Some(stored) = stored else { return (None, diagnostics) };
    put(run, instance, None, Some(stored.encode(&instance.schema)), false);
    diagnostics.extend(conditions::postconditions(instance, &stored.value));
    (Some(stored.value), diagnostics)
}

/// True if something that must be done first has a planned change.
fn dependencies_pending(instance: &Instance<'_>) -> bool {
    let run = instance.run;
    let Some(block) = instance.block else { return false };
    let has_conditions = instance.config.is_some_and(|config| {
        !config.lifecycle.preconditions.is_empty() || !config.lifecycle.postconditions.is_empty()
    });
    // With conditions, anything upstream may be what makes them hold.
    let barriers = if has_conditions { run.dependencies.get(&block) } else { run.read_barriers.get(&block) };
    let Some(barriers) = barriers.filter(|b| !b.is_empty()) else { return false };
    let gathered = run.results.gathered();
    barriers.iter().any(|resource| is_pending(&gathered, instance, resource))
}

fn is_pending(gathered: &Gathered, instance: &Instance<'_>, resource: &ConfigResource) -> bool {
    if resource.resource.mode != crate::model::addr::ResourceMode::Managed {
        return false;
    }
    let module = &instance.addr.module;
    // Other instances of this module have dependencies of their own.
    match resource.module == module.module() {
        true => gathered.pending_in.contains(&resource.resource.absolute(module.clone())),
        false => gathered.pending.contains(resource),
    }
}

/// Asks the provider. None with errors.
pub async fn read(instance: &Instance<'_>, config: &Value) -> (Option<Stored>, Diagnostics) {
    let run = instance.run;
    let addr = &instance.addr;
    let (bare, marks) = config.unmark_deep_with_paths();
    let (meta, mut diagnostics) = instance.provider_meta();
    let found = instance.provider.validate_data_config(addr.kind(), bare.clone()).await;
    diagnostics.extend(instance.about(found));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    run.ports.observer.event(Event::ReadStarted { addr: addr.clone() });
    let started = run.ports.host.now();
    let request = ReadDataRequest { kind: addr.kind().into(), config: bare, provider_meta: meta };
    let (value, found) = instance.provider.read_data_source(request).await;
    let failed = has_errors(&found);
    diagnostics.extend(instance.about(found));
    let finish = |id: Option<(String, String)>, failed: bool| {
        let elapsed = elapsed(started, run.ports.host.now());
        run.ports.observer.event(Event::ReadFinished { addr: addr.clone(), id, elapsed, failed });
    };
    let wrong = match failed {
        true => None,
        false => check_answer(instance, &value),
    };
    if failed || wrong.is_some() {
        diagnostics.extend(wrong);
        finish(None, true);
        return (None, diagnostics);
    }
    let value = mark(&normalise(&instance.schema.block, &value), &marks, &instance.schema.block);
    finish(shown_id(&value), false);
    let stored = Stored {
        value,
        private: std::sync::Arc::from([]),
        status: ObjectStatus::Ready,
        dependencies: std::sync::Arc::from([]),
        create_before_destroy: false,
    };
    (Some(stored), diagnostics)
}

fn check_answer(instance: &Instance<'_>, value: &Value) -> Option<Diagnostic> {
    let (addr, provider) = (&instance.addr, &instance.provider_addr.provider);
    if let Some(wrong) = nonconforming(value, instance.schema.implied_type()) {
        let what = format!("Provider \"{provider}\" produced an invalid object for {addr}: {wrong}.");
        return Some(instance.bug("Provider produced invalid object", what));
    }
    if value.is_null() {
        let what = format!("Provider \"{provider}\" produced a null object for {addr}.");
        return Some(instance.bug("Provider produced null object", what));
    }
    if !value.is_wholly_known() {
        let what = format!("Provider \"{provider}\" produced a value for {addr} that is not wholly known.");
        return Some(instance.bug("Provider produced invalid object", what));
    }
    None
}

/// The time between two moments of the host's clock.
pub fn elapsed(from: (i64, u32), to: (i64, u32)) -> Duration {
    let nanos = |(seconds, nanos): (i64, u32)| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    Duration::from_nanos(u64::try_from(nanos(to) - nanos(from)).unwrap_or(0))
}
