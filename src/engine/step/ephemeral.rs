//! Ephemeral resources: opened when a walk needs them, closed after their last use, and never stored.

use base::diag::{Diagnostic, Diagnostics};
use model::addr::AbsResourceInstance;
use model::provider_diagnostics::about_body;
use terrane_protocol::provider::{ClientCapabilities, ProviderDiagnostics, Severity, has_errors};
use terrane_value::{Marks, Value};

use super::expansion::{Unknown, expand};
use super::resource::{Instance, conditions, provider_choice};
use crate::engine_errors;
use crate::event::{EphemeralVerb, Event};
use crate::graph::walk::Turn;
use crate::ids::ResourceId;
use crate::ports::Ports;
use crate::run::module_scope::ModuleScope;
use crate::run::object::{mark, nonconforming};
use crate::run::renewal::{NextRenewal, Renewal};
use crate::run::results::{OpenEphemeral, ResourceSlots};
use crate::run::{Run, Verb};

/// Opens every instance of a block.
pub async fn run(run: &Run, block: ResourceId, _turn: &mut Turn) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let config = run.blocks.tree.resource(block);
    if run.verb == Verb::Evaluate {
        return diagnostics;
    }
    for parent in run.results.module_instances(block.module) {
        let scope = ModuleScope::new(run, parent);
        let found = expand(config.repetition(), &scope, Unknown::of_run(run));
        let Some(expansion) = diagnostics.take(found) else { continue };
        let _ = parent.resources[block.index()].set(ResourceSlots::new(expansion));
        let Some(slots) = parent.resources[block.index()].get() else { continue };
        for (position, slot) in slots.instances.iter().enumerate() {
            let addr = config.addr.absolute(parent.addr.clone()).instance(slots.expansion.key(position));
            let each = slots.expansion.each(position);
            let provider = match provider_choice::provider(run, block, parent, &each) {
                Ok(provider) => provider,
                Err(errors) => {
                    diagnostics.extend(errors);
                    slot.publish(None);
                    continue;
                }
            };
            let block = Some(block);
            let value = match Instance::new(run, addr, block, provider, Some(parent.clone()), each) {
                Ok(instance) => diagnostics.take(open(&instance).await),
                Err(error) => {
                    diagnostics.push(error);
                    None
                }
            };
            slot.publish(value);
        }
    }
    diagnostics
}

/// The value of an open instance; unknown while its configuration is. None with errors.
async fn open(instance: &Instance<'_>) -> (Option<Value>, Diagnostics) {
    let run = instance.run;
    let (addr, kind) = (&instance.addr, instance.addr.kind());
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let config = diagnostics.take(instance.evaluate());
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let (bare, marks) = config.unmark_deep_with_paths();
    let is_plan = !run.is_apply() && run.inputs.scope.deferral_allowed;
    let waits = match is_plan {
        true => run.results.changes().defers_any(instance.dependencies()),
        false => instance.dependencies().iter().any(|of| run.inputs.deferred.has_resource(of)),
    };
    if waits || instance.is_placeholder() {
        run.results.changes().has_deferrals = true;
    }
    if waits || instance.is_placeholder() || !bare.is_wholly_known() {
        run.ports.observer.event(Event::EphemeralDeferred { addr: addr.clone() });
        let unknown = Value::unknown(instance.schema.implied_type().clone());
        return (Some(unknown.mark(Marks::EPHEMERAL)), diagnostics);
    }
    let found = instance.provider.validate_ephemeral_config(kind, bare.clone());
    let found = instance.answered("ValidateEphemeralResourceConfig", found).await;
    diagnostics.extend(instance.about(found));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let verb = EphemeralVerb::Open;
    run.ports.observer.event(Event::EphemeralStarted { addr: addr.clone(), verb });
    let started = run.ports.host.now();
    let finish = |failed| {
        let elapsed = run.ports.host.since(started);
        run.ports.observer.event(Event::EphemeralFinished { addr: addr.clone(), verb, elapsed, failed });
    };
    // In apply it must open: what is planned needs it.
    let client = ClientCapabilities { deferral_allowed: is_plan, ..ClientCapabilities::default() };
    let answer = instance.provider.open_ephemeral(kind, bare, client).await;
    let mut failed = has_errors(&answer.diagnostics);
    diagnostics.extend(instance.about(answer.diagnostics));
    if !failed && answer.deferred.is_some() {
        // As the reference, which lets the plan go on, and closes the object as if it were open.
        run.results.changes().has_deferrals |= is_plan;
        finish(failed);
        let open = OpenEphemeral { provider: instance.provider.clone(), private: answer.private, renewal: None };
        run.results.ephemerals().insert(addr.clone(), open);
        let unknown = Value::unknown(instance.schema.implied_type().clone());
        return (Some(unknown.mark(Marks::EPHEMERAL)), diagnostics);
    }
    if !failed && let Some(wrong) = check_answer(instance, &answer.result) {
        diagnostics.push(wrong);
        failed = true;
    }
    finish(failed);
    if failed {
        return (None, diagnostics);
    }
    let renewal = NextRenewal::of(answer.renew_at, answer.private.clone())
        .map(|first| Renewal::start(run.ports.clone(), instance.provider.clone(), addr.clone(), first));
    let open = OpenEphemeral { provider: instance.provider.clone(), private: answer.private, renewal };
    run.results.ephemerals().insert(addr.clone(), open);
    let value = mark(&answer.result, &marks, &instance.schema.block).mark(Marks::EPHEMERAL);
    diagnostics.extend(conditions::postconditions(instance, &value));
    (Some(value), diagnostics)
}

fn check_answer(instance: &Instance<'_>, value: &Value) -> Option<Diagnostic> {
    let (addr, provider) = (&instance.addr, &instance.provider_addr.provider);
    let summary = "Provider produced invalid ephemeral resource instance";
    if let Some(wrong) = nonconforming(value, instance.schema.implied_type()) {
        let what = format!(
            "The provider for {} produced a value for {addr} that does not conform to the schema: {wrong}.",
            provider.for_display()
        );
        return Some(instance.bug(summary, what));
    }
    if value.is_null() {
        let what = format!("Provider \"{provider}\" produced a null object for {addr}.");
        return Some(instance.bug(summary, what));
    }
    if !value.is_wholly_known() {
        let what = format!(
            "The value returned for {addr} contains unknown values, which is not allowed for an ephemeral resource."
        );
        return Some(instance.bug(summary, what));
    }
    None
}

/// Closes the instances of a block that are open.
pub async fn close(run: &Run, block: ResourceId) -> Diagnostics {
    let block = run.blocks.tree.config_addr(block);
    let mine: Vec<_> = {
        let open = run.results.ephemerals();
        open.keys().filter(|addr| addr.config() == block).cloned().collect()
    };
    let mut diagnostics = Diagnostics::new();
    for addr in mine {
        let Some(open) = run.results.ephemerals().remove(&addr) else { continue };
        diagnostics.extend(close_one(&run.ports, addr, open).await);
    }
    diagnostics
}

/// Ends the renewals of an object and closes it with the private data that it was opened with, as the reference.
async fn close_one(ports: &Ports, addr: AbsResourceInstance, open: OpenEphemeral) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let address = addr.to_string();
    if let Some(renewal) = open.renewal {
        match renewal.end().await {
            Ok(reported) => diagnostics.extend(about_body(warnings(reported), None, Some(&address))),
            Err(panic) => diagnostics.push(engine_errors::panicked(&address, &panic.text)),
        }
    }
    let verb = EphemeralVerb::Close;
    ports.observer.event(Event::EphemeralStarted { addr: addr.clone(), verb });
    let started = ports.host.now();
    let found = open.provider.close_ephemeral(addr.kind(), open.private).await;
    let failed = has_errors(&found);
    diagnostics.extend(about_body(found, None, Some(&address)));
    let elapsed = ports.host.since(started);
    ports.observer.event(Event::EphemeralFinished { addr, verb, elapsed, failed });
    diagnostics
}

/// Errors of renewals fail nothing: what needed the object has failed already, if it needed it.
fn warnings(mut reported: ProviderDiagnostics) -> ProviderDiagnostics {
    reported.iter_mut().for_each(|found| found.severity = Severity::Warning);
    reported
}

/// Closes what a walk that failed has left open.
pub async fn close_rest(run: &Run) -> Diagnostics {
    let rest = std::mem::take(&mut *run.results.ephemerals());
    let mut diagnostics = Diagnostics::new();
    for (addr, open) in rest {
        diagnostics.extend(close_one(&run.ports, addr, open).await);
    }
    diagnostics
}
