//! Deferral: instances whose change is left to a later plan.

use base::diag::{Diagnostic, Diagnostics};
use model::addr::{ConfigResource, InstanceKey};
use model::plan::{DeferredReason, ResourceChange};
use terrane_protocol::provider::{ClientCapabilities, DeferralReason};

use super::Instance;
use crate::engine_errors;
use crate::run::results::is_placeholder;
use crate::step::action;

impl Instance<'_> {
    /// The capabilities that requests about this instance carry.
    pub fn client(&self) -> ClientCapabilities {
        ClientCapabilities::of_resource(
            self.run.is_apply() || self.run.inputs.scope.deferral_allowed,
            &self.schema.block,
        )
    }

    /// Notes that the provider deferred a request. The error: that was not allowed.
    pub fn note_deferral(&self, deferred: Option<DeferralReason>) -> Option<Diagnostic> {
        let reason = deferred?;
        if self.run.is_apply() || !self.run.inputs.scope.deferral_allowed {
            return Some(engine_errors::unexpected_deferral(&self.addr));
        }
        let _ = self.deferral.set(reason.into());
        None
    }

    /// True once the provider has deferred a request.
    pub fn is_deferred(&self) -> bool {
        self.deferral.get().is_some()
    }

    /// What the block of the instance depends on.
    pub fn dependencies(&self) -> &[ConfigResource] {
        let found = self.block.and_then(|block| self.run.blocks.order.dependencies.get(&block));
        found.map_or(&[], |list| &**list)
    }

    /// True for the placeholder of instances that are not known yet.
    pub fn is_placeholder(&self) -> bool {
        *self.addr.key() == InstanceKey::Wildcard || is_placeholder(&self.addr.module)
    }
}

/// Why the change of an instance is deferred; none: it is not. `dependencies`: what must be done before.
pub fn reason(instance: &Instance<'_>, dependencies: &[ConfigResource]) -> Option<DeferredReason> {
    let run = instance.run;
    if !run.inputs.scope.deferral_allowed {
        return None;
    }
    let prereq = || {
        let waits = run.results.changes().defers_any(dependencies) || action::plan::calls_unknown_instances(instance);
        waits.then_some(DeferredReason::DeferredPrereq)
    };
    instance.deferral.get().copied().or_else(prereq)
}

/// Adds a deferred change, and the actions that it would invoke.
pub fn defer(instance: &Instance<'_>, change: ResourceChange, reason: DeferredReason) -> Diagnostics {
    let diagnostics = action::plan::deferred_with(instance, &change);
    instance.run.results.changes().defer(change, reason);
    diagnostics
}
