//! Asking the provider for a plan: the proposed object, the request, the rules for answers.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use terrane_protocol::provider::{DeferralReason, Identity, PlanRequest, PlanResponse, has_errors};
use terrane_value::Value;

use super::ignore;
use crate::change::{plan_valid, proposed};
use crate::engine_errors::INVALID_PROVIDER_PLAN;
use crate::run::object::nonconforming;
use crate::step::resource::Instance;

/// What a provider is asked to plan; no value has marks.
pub struct Question<'q> {
    pub prior: &'q Value,
    pub config: &'q Value,
    pub private: Arc<[u8]>,
    pub identity: Option<Identity>,
    pub meta: &'q Value,
}

/// Which of the questions about an object it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Round {
    First,
    /// For the creation in a replacement. Its warnings are those of the first round, and the rules of plans were checked there.
    Replacement,
}

/// What the provider answered, checked.
pub struct Answer {
    /// Without marks.
    pub value: Value,
    pub response: PlanResponse,
}

/// Asks, and checks the answer. None with errors.
pub async fn ask(
    instance: &Instance<'_>,
    question: Question<'_>,
    round: Round,
    diagnostics: &mut Diagnostics,
) -> Option<Answer> {
    let Question { prior, config, private, identity, meta } = question;
    let schema = &instance.schema.block;
    let config = &proposed::without_empty_computed_blocks(schema, config);
    let proposed = proposed::proposed_new(schema, prior, config);
    let request = PlanRequest {
        kind: instance.addr.kind().into(),
        prior: prior.clone(),
        proposed: proposed.clone(),
        config: config.clone(),
        prior_private: private,
        provider_meta: meta.clone(),
        prior_identity: identity,
        planned_private: Arc::default(),
        client: instance.client(),
    };
    let mut response = instance.answered("PlanResourceChange", instance.provider.plan_resource_change(request)).await;
    let failed = has_errors(&response.diagnostics);
    if round == Round::First || failed {
        let said = std::mem::take(&mut response.diagnostics);
        diagnostics.extend(instance.about(said));
    }
    if failed {
        return None;
    }
    if response.deferred.is_some() {
        diagnostics.extend(deferral_error(instance, response.deferred));
        return (!diagnostics.has_errors()).then(|| deferred_answer(instance, response, proposed));
    }
    let provider = &instance.provider_addr.provider;
    let addr = &instance.addr;
    let invalid = |wrong: String| {
        let what = format!("Provider \"{provider}\" planned an invalid value for {addr}{wrong}.");
        instance.bug(INVALID_PROVIDER_PLAN, what)
    };
    let mut value = response.planned.clone();
    if let Some(wrong) = nonconforming(&value, instance.schema.implied_type()) {
        diagnostics.push(invalid(format!(": {wrong}")));
        return None;
    }
    let written = instance.check_write_only(INVALID_PROVIDER_PLAN, &value, "during planning");
    if written.has_errors() {
        diagnostics.extend(written);
        return None;
    }
    if round == Round::First {
        let breaches = plan_valid::plan_valid(schema, prior, config, &value);
        if !breaches.is_empty() && !response.legacy_type_system {
            for (path, wrong) in breaches {
                diagnostics.push(invalid(format!("{path}: {wrong}")));
            }
            return None;
        }
        if response.legacy_type_system {
            value = ignore::put_back(instance, prior, value);
        }
    }
    Some(Answer { value, response })
}

/// The answer of a provider that deferred the plan, which is not held to the rules of plans.
fn deferred_answer(instance: &Instance<'_>, response: PlanResponse, proposed: Value) -> Answer {
    let is_usable = |value: &Value| {
        value.is_known() && !value.is_null() && nonconforming(value, instance.schema.implied_type()).is_none()
    };
    let value = if is_usable(&response.planned) { response.planned.clone() } else { proposed };
    Answer { value, response }
}

/// Notes the deferral of a plan. The error: it is not allowed while planning, or too late during apply.
pub fn deferral_error(instance: &Instance<'_>, deferred: Option<DeferralReason>) -> Option<Diagnostic> {
    let addr = &instance.addr;
    if deferred.is_none() || !instance.run.is_apply() {
        return instance.note_deferral(deferred);
    }
    let detail = format!(
        "{PROGRAM} has encountered a bug where a provider would mark the resource \"{addr}\" as deferred during apply, but not \
         during plan. This is most likely a bug in the provider. Please file an issue with the provider."
    );
    Some(Diagnostic::error("Resource deferred during apply, but not during plan", detail))
}
