//! Planning to destroy: orphaned objects, deposed objects, and all objects in a destroy.

use base::diag::Diagnostics;
use model::addr::{AbsResourceInstance, InstanceKey};
use model::config::Removed;
use model::plan::{Action, ActionReason, IdentityChange, ResourceChange};
use model::state::{DeposedKey, Object};
use terrane_protocol::provider::{PlanRequest, has_errors};
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::ask::deferral_error;
use super::prevention::check_prevent_destroy;
use crate::engine_errors::INVALID_PROVIDER_PLAN;
use crate::opentofu;
use crate::run::object::Stored;
use crate::run::results::Expansion;
use crate::run::{Run, Verb};
use crate::step::action;
use crate::step::resource::read::refresh;
use crate::step::resource::read::upgrade::upgrade;
use crate::step::resource::record::{change_of, new_change, note_change, note_drift, put, put_previous};
use crate::step::resource::{Instance, deferral};

/// What the plan of a destruction is about.
pub struct OrphanObject<'o> {
    pub object: &'o Object,
    pub deposed: Option<DeposedKey>,
    pub reason: ActionReason,
    /// Leave the object alone, and know nothing of it any more.
    pub forget: bool,
    /// Ask what became of it first.
    pub refresh: bool,
    /// Refresh only: nothing is planned.
    pub plan: bool,
}

pub async fn plan(instance: &Instance<'_>, orphan: OrphanObject<'_>) -> Diagnostics {
    let run = instance.run;
    if instance.addr.mode() != ResourceMode::Managed {
        put(instance, None, None);
        return Diagnostics::new();
    }
    let invalid = instance.check_destroy_argument();
    if invalid.has_errors() {
        return invalid;
    }
    let deposed = orphan.deposed.as_ref();
    let (stored, mut diagnostics) = upgrade(instance, orphan.object).await;
    let Some(stored) = stored else { return diagnostics };
    let object = stored.encode_unless_null(&instance.schema);
    put_previous(instance, deposed, object.clone());
    put(instance, deposed, object);
    let before = stored.value.clone();
    if orphan.forget {
        let mut before = before;
        if orphan.refresh && opentofu::refreshes_forgotten_objects(instance.run.dialect()) {
            let Some(current) = diagnostics.take(refresh::refresh(instance, stored, deposed).await) else {
                return diagnostics;
            };
            before = current.value.clone();
            put(instance, deposed, current.encode_unless_null(&instance.schema));
            if before.is_null() {
                return diagnostics;
            }
        }
        let mut change = new_change(instance, Action::Forget, before, instance.null());
        change.deposed = orphan.deposed;
        change.reason = orphan.reason;
        note_change(&run.results, change);
        return diagnostics;
    }
    // The reference plans to destroy a current object as it is stored, and a deposed one as it was read.
    let mut planned = None;
    if orphan.plan && deposed.is_none() && !before.is_null() {
        let Some(change) = diagnostics.take(plan_destroy(instance, &stored, None, orphan.reason).await) else {
            return diagnostics;
        };
        planned = Some(change);
    }
    let mut current = Some(stored);
    if let Some(stored) = current.take_if(|_| orphan.refresh) {
        current = diagnostics.take(refresh::refresh(instance, stored, deposed).await);
        if diagnostics.has_errors() {
            return diagnostics;
        }
        if deposed.is_none() {
            note_drift(instance, orphan.object, &before, current.as_ref().map(|c| &c.value));
        }
        put(instance, deposed, current.as_ref().map(|c| c.encode(&instance.schema)));
    }
    let Some(current) = current.filter(|c| orphan.plan && !c.value.is_null()) else { return diagnostics };
    if planned.is_none() {
        planned = diagnostics.take(plan_destroy(instance, &current, orphan.deposed, orphan.reason).await);
    }
    if let Some(change) = planned {
        if let Some(reason) = deferral::reason(instance, instance.dependencies()) {
            diagnostics.extend(deferral::defer(instance, change, reason));
            return diagnostics;
        }
        if change.deposed.is_none() {
            diagnostics.extend(check_prevent_destroy(instance, &change));
        }
        let triggering = change.deposed.is_none() && action::plan::has_triggers(instance);
        let triggering = (triggering && !diagnostics.has_errors()).then(|| change.clone());
        note_change(&run.results, change);
        if let Some(change) = triggering {
            diagnostics.extend(action::plan::triggered(instance, &change).await);
        }
    }
    diagnostics
}

/// The change that destroys an object; requests a plan from the provider if it plans destruction.
pub async fn plan_destroy(
    instance: &Instance<'_>,
    current: &Stored,
    deposed: Option<DeposedKey>,
    reason: ActionReason,
) -> (Option<ResourceChange>, Diagnostics) {
    let (meta, mut diagnostics) = instance.provider_meta();
    let provider = &instance.provider_addr.provider;
    let wants = instance.run.blocks.schemas.provider(provider).is_some_and(|s| s.capabilities().plan_destroy);
    let null = instance.null();
    let mut private = current.private.clone();
    let mut planned_identity = None;
    if wants {
        let request = PlanRequest {
            kind: instance.addr.kind().into(),
            prior: current.value.unmark_deep().0,
            proposed: null.clone(),
            config: null.clone(),
            prior_private: current.private.clone(),
            provider_meta: meta,
            prior_identity: current.identity.clone(),
            planned_private: std::sync::Arc::default(),
            client: instance.client(),
        };
        let response = instance.answered("PlanResourceChange", instance.provider.plan_resource_change(request)).await;
        let failed = has_errors(&response.diagnostics);
        diagnostics.extend(instance.about(response.diagnostics));
        if !failed {
            diagnostics.extend(deferral_error(instance, response.deferred));
        }
        if failed || response.deferred.is_some() {
            return (None, diagnostics);
        }
        if !response.planned.is_null() {
            let what = format!("Provider \"{provider}\" planned a non-null destroy value for {}.", instance.addr);
            diagnostics.push(instance.bug(INVALID_PROVIDER_PLAN, what));
            return (None, diagnostics);
        }
        private = response.private;
        planned_identity = response.identity;
    }
    let mut change = new_change(instance, Action::Delete, current.value.clone(), null);
    change.deposed = deposed;
    change.reason = reason;
    change.private = private;
    change.identity = IdentityChange { before: current.identity.clone(), after: planned_identity };
    (Some(change), diagnostics)
}

/// Drops the entry of a data source in the state: in a destroy with everything else, otherwise at once.
pub fn drop_data(run: &Run, addr: &AbsResourceInstance) {
    let Some(stored) = run.prior.state.resources.get(&addr.containing_resource()) else { return };
    if run.verb == Verb::PlanDestroy {
        let null = Value::null_dynamic();
        let change = change_of(&run.prior, addr, &stored.provider, Action::Delete, null.clone(), null);
        note_change(&run.results, change);
        return;
    }
    let mut states = run.results.states();
    states.current.instance_mut(addr, &stored.provider).current = None;
    states.current.prune(addr);
}

/// Why an object is to be left alone by what its block says of it now or, as the state remembers, said before. In a destroy,
/// the state has what the block says now, unless nothing was refreshed.
pub fn reason_to_keep(instance: &Instance<'_>, object: &Object, removed: Option<&Removed>) -> Option<ActionReason> {
    if instance.config.is_some_and(|config| config.lifecycle.keep) {
        return Some(ActionReason::ForgetBecauseOfConfig);
    }
    // Where everything is destroyed, `removed` blocks mean nothing.
    let is_demanded = instance.run.verb != Verb::PlanDestroy && removed.is_some_and(|r| r.destroy == Some(true));
    let remembers = opentofu::remembers_destroy_argument(instance.run.dialect());
    (object.keep && !is_demanded && remembers).then_some(ActionReason::ForgetBecauseOfState)
}

/// Why an instance that has a block is not wanted any more. `expansion`: of the block, where its module instance exists.
pub fn reason(instance: &Instance<'_>, expansion: Option<&Expansion>) -> ActionReason {
    let Some(config) = instance.config else {
        return match instance.run.prior.moved.contains_key(&instance.addr) {
            true => ActionReason::DeleteBecauseNoMoveTarget,
            false => ActionReason::DeleteBecauseNoResourceConfig,
        };
    };
    if expansion.is_none() {
        return ActionReason::DeleteBecauseNoModule;
    }
    match instance.addr.key() {
        InstanceKey::None if config.count.is_some() || config.for_each.is_some() => {
            ActionReason::DeleteBecauseWrongRepetition
        }
        InstanceKey::None if config.lifecycle.enabled.is_some() => ActionReason::DeleteBecauseNotEnabled,
        InstanceKey::None | InstanceKey::Wildcard => ActionReason::None,
        InstanceKey::Int(_) if config.count.is_none() => ActionReason::DeleteBecauseWrongRepetition,
        InstanceKey::Int(_) => ActionReason::DeleteBecauseCountIndex,
        InstanceKey::Str(_) if config.for_each.is_none() => ActionReason::DeleteBecauseWrongRepetition,
        InstanceKey::Str(_) => ActionReason::DeleteBecauseEachKey,
    }
}
