//! Events of an operation in the log, in addition to the other observer.

use std::sync::Arc;

use engine::event::{Event, ObjectLabel};
use engine::ports::Observer;
use model::addr::AbsResourceInstance;
use model::state::DeposedKey;

use super::tracker::object_text;

/// Logs each event and hands it on.
struct Logged(Arc<dyn Observer>);

/// The observer, with a log of what it hears if there is one at this level.
pub fn logged(observer: Arc<dyn Observer>) -> Arc<dyn Observer> {
    if tracing::enabled!(tracing::Level::DEBUG) { Arc::new(Logged(observer)) } else { observer }
}

impl Observer for Logged {
    fn event(&self, event: Event) {
        if let Some(text) = text(&event) {
            tracing::debug!("{text}");
        }
        self.0.event(event);
    }
}

/// The line of an event; none for those that only carry output, which may be secret.
fn text(event: &Event) -> Option<String> {
    Some(match event {
        Event::Phase(phase) => format!("phase: {phase:?}"),
        Event::RefreshFailed { addr, deposed } => format!("refresh: {}: failed", object(addr, deposed)),
        Event::RefreshStarted { addr, deposed, label } => {
            format!("refresh: {}: started{}", object(addr, deposed), with(label))
        }
        Event::RefreshFinished { addr, deposed, label } => {
            format!("refresh: {}: done{}", object(addr, deposed), with(label))
        }
        Event::ReadStarted { addr } => format!("data: {addr}: reading"),
        Event::ReadFinished { addr, elapsed, failed, .. } => {
            format!("data: {addr}: {} after {elapsed:?}", end(*failed))
        }
        Event::ApplyStarted { addr, deposed, action, label } => {
            format!("apply: {}: {action:?} started{}", object(addr, deposed), with(label))
        }
        Event::ApplyFinished { addr, deposed, action, label, elapsed, failed } => {
            format!("apply: {}: {action:?} {} after {elapsed:?}{}", object(addr, deposed), end(*failed), with(label))
        }
        Event::Unchanged { addr } => format!("plan: {addr}: no changes"),
        Event::ProvisionStarted { addr, kind } => format!("provisioner: {addr} ({kind}): started"),
        Event::ProvisionFinished { addr, kind, failed } => format!("provisioner: {addr} ({kind}): {}", end(*failed)),
        Event::EphemeralStarted { addr, verb } => format!("ephemeral: {addr}: {verb:?} started"),
        Event::EphemeralFinished { addr, verb, elapsed, failed } => {
            format!("ephemeral: {addr}: {verb:?} {} after {elapsed:?}", end(*failed))
        }
        Event::EphemeralDeferred { addr } => format!("ephemeral: {addr}: deferred, its configuration is unknown"),
        Event::ImportRequested { addr, id } => format!("import: {addr}: requested (id={id})"),
        Event::ImportPrepared { addr, kinds } => format!("import: {addr}: prepared ({})", kinds.join(", ")),
        Event::ImportPlanned { addr, by } => format!("import: {addr}: planned ({by})"),
        Event::ImportStarted { addr, by } => format!("import: {addr}: started ({by})"),
        Event::ImportFinished { addr, by } => format!("import: {addr}: done ({by})"),
        Event::ListStarted { addr, .. } => format!("list: {addr}: started"),
        Event::ListFinished(results) => format!("list: {}: {} objects", results.addr, results.objects.len()),
        Event::RequestPending { subject, provider, request, elapsed, .. } => {
            format!("provider: {provider}: {request} for {subject} not answered for {elapsed:?}")
        }
        Event::ActionStarted(of) => format!("action: {} ({}): started", of.addr, of.trigger),
        Event::ActionFinished { invocation: of, error } => {
            format!("action: {} ({}): {}", of.addr, of.trigger, end(error.is_some()))
        }
        Event::PolicyResult(report) => format!("policy: {}: {} policies", report.target, report.outcomes.len()),
        Event::QueryPolicies(lists) => format!("policy: {} lists", lists.len()),
        Event::ActionProgress { .. } => return None,
        Event::ProvisionOutput { .. } | Event::Diagnostics(_) => return None,
    })
}

fn object(addr: &AbsResourceInstance, deposed: &Option<DeposedKey>) -> String {
    object_text(&(addr.clone(), deposed.clone()))
}

fn with(label: &Option<ObjectLabel>) -> String {
    label.as_ref().map_or_else(String::new, |label| format!(" ({}={})", label.key, label.value))
}

fn end(failed: bool) -> &'static str {
    if failed { "failed" } else { "done" }
}
