//! Data sources: read in plan if their dependencies have no pending changes, otherwise in apply.

use base::diag::{CheckedKind, Diagnostic, Diagnostics, Severity};
use model::addr::ConfigResource;
use model::config::Check;
use model::plan::{Action, ActionReason};
use model::state::{CheckStatus, Object, ObjectStatus};
use terrane_protocol::provider::{ReadDataRequest, has_errors};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use crate::change::proposed::planned_data_object;
use crate::engine_errors::INVALID_PROVIDER_OBJECT;
use crate::event::{Event, ObjectLabel};
use crate::run::object::{Stored, mark, nonconforming, unknown_as_null};
use crate::run::records::{CheckRecord, PlannedChanges};
use crate::step::check::addr;
use crate::step::resource::label::shown_label;
use crate::step::resource::record::{new_change, note_change, put};
use crate::step::resource::{Instance, conditions, deferral, ephemeral_use};

/// Reads the data source, or plans to. Returns what references see; none with errors.
pub async fn plan(instance: &Instance<'_>) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let config = diagnostics.take(instance.evaluate());
    diagnostics.extend(ephemeral_use(instance, &config));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let is_known = config.is_wholly_known();
    let deferred = deferral::reason(instance, instance.dependencies());
    let is_pending = deferred.is_some() || dependencies_pending(instance);
    if !is_known || is_pending {
        if run.plans_nothing() {
            put(instance, None, None);
            let unknown = Value::unknown(instance.schema.implied_type().clone());
            diagnostics.extend(conditions::postconditions(instance, &unknown));
            // Observed: an instance with a key is absent, as it will be from the state.
            return ((!run.is_refresh_only()).then_some(unknown), diagnostics);
        }
        let after = planned_object(instance, &config);
        let mut change = new_change(instance, Action::Read, instance.null(), after.clone());
        change.reason = match is_known {
            false => ActionReason::ReadBecauseConfigUnknown,
            true => ActionReason::ReadBecauseDependencyPending,
        };
        if let Some(reason) = deferred {
            run.results.changes().defer(change, reason);
            return (Some(after), diagnostics);
        }
        note_change(&run.results, change);
        put(instance, None, None);
        diagnostics.extend(conditions::postconditions(instance, &after));
        return (Some(after), diagnostics);
    }
    let (stored, found) = read(instance, &config).await;
    if let Some(reason) = instance.deferral.get().filter(|_| !found.has_errors()) {
        diagnostics.extend(found);
        let after = planned_object(instance, &config);
        let mut change = new_change(instance, Action::Read, instance.null(), after.clone());
        change.reason = ActionReason::ReadBecauseDependencyPending;
        run.results.changes().defer(change, *reason);
        return (Some(after), diagnostics);
    }
    if let Some(check) = instance.check_around() {
        let value = stored.as_ref().map_or_else(|| planned_object(instance, &config), |stored| stored.value.clone());
        diagnostics.extend(for_check(instance, check, found));
        if !run.plans_nothing() {
            let mut change = new_change(instance, Action::Read, instance.null(), value.clone());
            change.reason = ActionReason::ReadBecauseCheckNested;
            note_change(&run.results, change);
        }
        let kept = encode(instance, &object_of(instance, unknown_as_null(&value)));
        put(instance, None, Some(kept));
        return (Some(value), diagnostics);
    }
    diagnostics.extend(found);
    let Some(stored) = stored else { return (None, diagnostics) };
    put(instance, None, Some(encode(instance, &stored)));
    diagnostics.extend(conditions::postconditions(instance, &stored.value));
    (Some(stored.value), diagnostics)
}

/// The form that the state keeps.
pub fn encode(instance: &Instance<'_>, stored: &Stored) -> Object {
    Object { schema_version: instance.schema.version_in(ResourceMode::Data), ..stored.encode(&instance.schema) }
}

/// The object before it is read.
pub fn planned_object(instance: &Instance<'_>, config: &Value) -> Value {
    let (bare, marks) = config.unmark_deep_with_paths();
    mark(&planned_data_object(&instance.schema.block, &bare), &marks, &instance.schema.block)
}

fn ephemeral_use(instance: &Instance<'_>, config: &Value) -> Diagnostics {
    let body = instance.config.map(|c| &c.body);
    ephemeral_use::check(config, &instance.schema.block, body, &instance.addr.to_string())
}

/// What was said of a data source inside a check block: errors make the check fail, and nothing else.
pub fn for_check(instance: &Instance<'_>, check: &Check, found: Diagnostics) -> Diagnostics {
    let module = &instance.addr.module;
    let problems: Vec<String> =
        found.iter().filter(|d| d.is_error()).map(|d| format!("{}: {}", d.summary, d.detail)).collect();
    if !problems.is_empty() {
        let message = match problems.as_slice() {
            [only] => only.clone(),
            all => {
                let lines: Vec<String> = all.iter().map(|p| format!("\n- {p}")).collect();
                format!("{} problems:\n{}", all.len(), lines.concat())
            }
        };
        let checked = addr(&module.to_string(), &check.name);
        let mut checks = instance.run.results.checks();
        checks.failed.insert(checked.clone());
        checks.records.push(CheckRecord {
            kind: "check",
            config_addr: addr(&module.module().to_string(), &check.name),
            addr: checked,
            status: CheckStatus::Fail,
            message: Some(message),
        });
    }
    let checked = addr(&module.to_string(), &check.name);
    let as_warning = |d: Diagnostic| {
        let mut d = d.about_rule_of(CheckedKind::CheckData, &*checked);
        d.severity = Severity::Warning;
        d.of_check = true;
        d
    };
    found.into_iter().map(as_warning).collect()
}

/// True if something that must be done first has a planned change.
fn dependencies_pending(instance: &Instance<'_>) -> bool {
    let run = instance.run;
    let Some(block) = instance.block else { return false };
    let has_conditions = instance.config.is_some_and(|config| {
        !config.lifecycle.preconditions.is_empty() || !config.lifecycle.postconditions.is_empty()
    });
    // With conditions, anything upstream may be what makes them hold.
    let barriers = if has_conditions {
        run.blocks.order.dependencies.get(&block)
    } else {
        run.blocks.order.read_barriers.get(&block)
    };
    let Some(barriers) = barriers.filter(|b| !b.is_empty()) else { return false };
    let changes = run.results.changes();
    barriers.iter().any(|resource| is_pending(&changes, instance, resource))
}

fn is_pending(changes: &PlannedChanges, instance: &Instance<'_>, resource: &ConfigResource) -> bool {
    if resource.resource.mode != ResourceMode::Managed {
        return false;
    }
    let module = &instance.addr.module;
    // Other instances of this module have dependencies of their own.
    match resource.module == module.module() {
        true => changes.pending_in.contains(&resource.resource.absolute(module.clone())),
        false => changes.pending.contains(resource),
    }
}

/// Asks the provider. None with errors.
pub async fn read(instance: &Instance<'_>, config: &Value) -> (Option<Stored>, Diagnostics) {
    let run = instance.run;
    let addr = &instance.addr;
    let (bare, marks) = config.unmark_deep_with_paths();
    let (meta, mut diagnostics) = instance.provider_meta();
    let found = instance.provider.validate_data_config(addr.kind(), bare.clone());
    let found = instance.answered("ValidateDataResourceConfig", found).await;
    diagnostics.extend(instance.about(found));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    run.ports.observer.event(Event::ReadStarted { addr: addr.clone() });
    let started = run.ports.host.now();
    let client = instance.client();
    let (kind, address) = (addr.kind().into(), addr.to_string());
    let request = ReadDataRequest { kind, address, config: bare, provider_meta: meta, client };
    let response = instance.provider.read_data_source(request).await;
    let (value, failed) = (response.state, has_errors(&response.diagnostics));
    diagnostics.extend(instance.about(response.diagnostics));
    let finish = |label: Option<ObjectLabel>, failed: bool| {
        let elapsed = run.ports.host.since(started);
        run.ports.observer.event(Event::ReadFinished { addr: addr.clone(), label, elapsed, failed });
    };
    let wrong = match failed {
        true => None,
        false if response.deferred.is_some() => instance.note_deferral(response.deferred),
        false => check_answer(instance, &value),
    };
    if failed || wrong.is_some() {
        diagnostics.extend(wrong);
        finish(None, true);
        return (None, diagnostics);
    }
    if instance.is_deferred() {
        finish(None, false);
        return (None, diagnostics);
    }
    let marks = run.ports.doubles.derived.sensitive_paths(marks, &instance.schema.block);
    let value = mark(&value, &marks, &instance.schema.block);
    finish(shown_label(&value), false);
    (Some(object_of(instance, value)), diagnostics)
}

/// A data source's object with a value and nothing else.
pub fn object_of(instance: &Instance<'_>, value: Value) -> Stored {
    Stored {
        value,
        identity: None,
        private: std::sync::Arc::from([]),
        status: ObjectStatus::Ready,
        dependencies: std::sync::Arc::from([]),
        create_before_destroy: false,
        keep: false,
        provider_key: instance.provider_addr.key.clone(),
    }
}

fn check_answer(instance: &Instance<'_>, value: &Value) -> Option<Diagnostic> {
    let (addr, provider) = (&instance.addr, instance.provider_addr.to_string());
    if let Some(wrong) = nonconforming(value, instance.schema.implied_type()) {
        let what = format!("Provider {provider:?} produced an invalid value for {addr}: {wrong}.");
        return Some(instance.bug(INVALID_PROVIDER_OBJECT, what));
    }
    if value.is_null() {
        let what = format!("Provider {provider:?} produced a null value for {addr}.");
        return Some(instance.bug("Provider produced null object", what));
    }
    if !value.is_wholly_known() {
        let what = format!("Provider {provider:?} produced a value for {addr} that is not wholly known.");
        return Some(instance.bug(INVALID_PROVIDER_OBJECT, what));
    }
    None
}
