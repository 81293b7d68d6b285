//! Planning one managed object: evaluate, validate, ignore, propose, call the provider, check its response, decide the action.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use lang::syntax::ast::{IndexKey, Traversal, TraversalStep};
use model::config::IgnoreChanges;
use model::plan::{Action, ActionReason, Refresh, ResourceChange};
use model::state::Object;
use rustc_hash::FxHashSet;
use terrane_protocol::provider::{DeferralReason, Identity, PlanRequest, PlanResponse, has_errors};
use terrane_value::{Marks, Path, PathStep, Value};

use super::record::new_change;
use super::{Instance, conditions, ephemeral_use};
use crate::change::go_text::go_path;
use crate::change::{ignore, plan_valid, proposed, replace};
use crate::engine_errors::INVALID_PROVIDER_PLAN;
use crate::run::object::{Stored, mark, nonconforming};

/// Why a replacement is asked for from outside of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    No,
    ByRequest,
    ByTriggers,
}

/// The change that brings `current` to the configuration. `planned`: the change that the plan promised, in apply.
/// None with errors.
pub async fn plan(
    instance: &Instance<'_>,
    current: Option<&Stored>,
    forced: Forced,
    planned: Option<&ResourceChange>,
) -> (Option<ResourceChange>, Diagnostics) {
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    if let Some(planned) = planned.filter(|p| p.action == Action::NoOp) {
        return (Some(planned.clone()), diagnostics);
    }
    let planner = Planner { instance, forced, planned, diagnostics: Diagnostics::new() };
    let (change, found) = planner.run(current).await;
    diagnostics.extend(found);
    (change, diagnostics)
}

/// As [`plan`], without looking at conditions.
pub async fn without_conditions(instance: &Instance<'_>, current: &Stored) -> (Option<ResourceChange>, Diagnostics) {
    let planner = Planner { instance, forced: Forced::No, planned: None, diagnostics: Diagnostics::new() };
    planner.run(Some(current)).await
}

struct Planner<'i, 'r> {
    instance: &'i Instance<'r>,
    forced: Forced,
    planned: Option<&'i ResourceChange>,
    diagnostics: Diagnostics,
}

/// What the provider answered, checked.
struct Answer {
    /// Without marks.
    value: Value,
    response: PlanResponse,
}

impl Planner<'_, '_> {
    async fn run(mut self, current: Option<&Stored>) -> (Option<ResourceChange>, Diagnostics) {
        let change = self.change(current).await;
        (change.filter(|_| !self.diagnostics.has_errors()), self.diagnostics)
    }

    async fn change(&mut self, current: Option<&Stored>) -> Option<ResourceChange> {
        let instance = self.instance;
        let config = self.diagnostics.take(instance.evaluate());
        let meta = self.diagnostics.take(instance.provider_meta());
        if self.diagnostics.has_errors() || !self.check_ephemeral(&config) {
            return None;
        }
        // A tainted object is replaced: planned as if there were none, and joined with it at the end.
        let tainted = current.filter(|c| c.is_tainted());
        let sound = current.filter(|c| !c.is_tainted());
        let mut before = sound.map_or_else(|| instance.null(), |c| c.value.clone());
        let private = sound.map_or_else(|| Arc::from([]), |c| c.private.clone());
        let identity = sound.and_then(|c| c.identity.clone());

        let (bare_config, _) = config.unmark_deep();
        let client = instance.client();
        let found = instance.provider.validate_resource_config(instance.addr.kind(), bare_config.clone(), client);
        let found = instance.answered("ValidateResourceConfig", found).await;
        self.diagnostics.extend(instance.about(found));
        if self.diagnostics.has_errors() {
            return None;
        }
        let ignored = self.ignore_changes(&before, &config, false);
        let (bare_ignored, mut config_marks) = ignored.unmark_deep_with_paths();
        // Ephemeral values are in write-only attributes alone, of which nothing is kept.
        config_marks.retain(|(_, marks)| marks.contains(Marks::SENSITIVE));
        config_marks.iter_mut().for_each(|(_, marks)| *marks = Marks::SENSITIVE);
        let (bare_before, before_marks) = before.unmark_deep_with_paths();

        let stored = (private, identity);
        let answer = self.ask(&bare_before, &bare_ignored, stored, &meta, true).await?;
        let mut after = mark(&answer.value, &config_marks, &instance.schema.block);
        let mut response = answer.response;
        let paths = self.required_replace(&response.requires_replace, &bare_before, &answer.value)?;
        let (mut action, mut reason) = self.decide(&bare_before, &answer.value, !paths.is_empty());

        if action.is_replace() {
            let null = instance.null();
            let planned = (response.private.clone(), response.identity.clone());
            let again = self.ask(&null, &bare_config, planned, &meta, false).await?;
            after = mark(&again.value, &config_marks, &instance.schema.block);
            response = again.response;
        }
        if let (Action::Create, Some(tainted)) = (action, tainted) {
            action = self.replacement();
            reason = ActionReason::ReplaceBecauseTainted;
            before = tainted.value.clone();
        }
        if action == Action::NoOp && !(self.has_recorded(&before_marks) && same_marks(&before_marks, &after)) {
            action = Action::Update;
        }
        if let Some(planned) = self.planned.filter(|p| p.action.is_replace() && action == Action::Create) {
            // The old object is gone already; what is left of its replacement is to create.
            action = planned.action;
            before = planned.change.before.clone();
        }
        if action == Action::NoOp && after == before {
            // An unchanged object takes no memory a second time.
            after = before.clone();
        }
        let mut change = new_change(instance, action, before, after);
        change.reason = reason;
        change.required_replace = paths;
        change.private = response.private;
        change.identity.before = current.and_then(|c| c.identity.clone());
        change.identity.after = response.identity;
        Some(change)
    }

    fn check_ephemeral(&mut self, config: &Value) -> bool {
        let instance = self.instance;
        let body = instance.config.map(|c| &c.body);
        let found = ephemeral_use::check(config, &instance.schema.block, body, &instance.addr.to_string());
        let fine = !found.has_errors();
        self.diagnostics.extend(found);
        fine
    }

    /// The configuration as if what is to be ignored were as before. `reverting`: of what the provider answered.
    fn ignore_changes(&self, before: &Value, config: &Value, reverting: bool) -> Value {
        let Some(block) = self.instance.config else { return config.clone() };
        if before.is_null() {
            return config.clone();
        }
        match &block.lifecycle.ignore_changes {
            IgnoreChanges::All if reverting => before.clone(),
            IgnoreChanges::All => ignore::ignore_all(&self.instance.schema.block, before),
            IgnoreChanges::Paths(traversals) if traversals.is_empty() => config.clone(),
            IgnoreChanges::Paths(traversals) => {
                let paths: Vec<Path> = traversals.iter().map(path_of).collect();
                ignore::ignore_paths(before, config, &paths)
            }
        }
    }

    async fn ask(
        &mut self,
        prior: &Value,
        config: &Value,
        (private, identity): (Arc<[u8]>, Option<Identity>),
        meta: &Value,
        first: bool,
    ) -> Option<Answer> {
        let instance = self.instance;
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
        let mut response =
            instance.answered("PlanResourceChange", instance.provider.plan_resource_change(request)).await;
        let failed = has_errors(&response.diagnostics);
        if first || failed {
            // Warnings of a second question are those of the first.
            let said = std::mem::take(&mut response.diagnostics);
            self.diagnostics.extend(instance.about(said));
        }
        if failed {
            return None;
        }
        if response.deferred.is_some() {
            self.diagnostics.extend(deferral_error(instance, response.deferred));
            return (!self.diagnostics.has_errors()).then(|| deferred_answer(instance, response, proposed));
        }
        let provider = &instance.provider_addr.provider;
        let addr = &instance.addr;
        let invalid = |wrong: String| {
            let what = format!("Provider \"{provider}\" planned an invalid value for {addr}{wrong}.");
            instance.bug(INVALID_PROVIDER_PLAN, what)
        };
        let mut value = response.planned.clone();
        if let Some(wrong) = nonconforming(&value, instance.schema.implied_type()) {
            self.diagnostics.push(invalid(format!(": {wrong}")));
            return None;
        }
        let written = instance.check_write_only(INVALID_PROVIDER_PLAN, &value, "during planning");
        if written.has_errors() {
            self.diagnostics.extend(written);
            return None;
        }
        if first {
            let breaches = plan_valid::plan_valid(schema, prior, config, &value);
            if !breaches.is_empty() && !response.legacy_type_system {
                for (path, wrong) in breaches {
                    self.diagnostics.push(invalid(format!("{path}: {wrong}")));
                }
                return None;
            }
            if response.legacy_type_system {
                value = self.ignore_changes(prior, &value, true);
            }
        }
        Some(Answer { value, response })
    }

    /// The changed paths that force a replacement; none with errors.
    fn required_replace(&mut self, wanted: &[Path], prior: &Value, planned: &Value) -> Option<Vec<Path>> {
        if wanted.is_empty() || prior.is_null() {
            return Some(Vec::new());
        }
        let (paths, invalid) = replace::changed_paths(wanted, (prior, planned), &self.instance.schema.block);
        let (addr, provider) = (&self.instance.addr, &self.instance.provider_addr.provider);
        for path in &invalid {
            let what = format!(
                "Provider \"{provider}\" has indicated \"requires replacement\" on {addr} for a non-existent attribute path \
                 {}.",
                go_path(path)
            );
            self.diagnostics.push(self.instance.bug(INVALID_PROVIDER_PLAN, what));
        }
        invalid.is_empty().then_some(paths)
    }

    fn replacement(&self) -> Action {
        if self.instance.keep() {
            return Action::CreateThenForget;
        }
        let first = match self.planned {
            Some(planned) => planned.action.creates_first(),
            None => self.instance.create_before_destroy,
        };
        if first { Action::CreateThenDelete } else { Action::DeleteThenCreate }
    }

    /// Whether the state has the marks of the object. Observed: those of the schema alone are no news to an object that was read.
    fn has_recorded(&self, marks: &[(Path, Marks)]) -> bool {
        let run = self.instance.run;
        let stored = run.prior.state.instance(&self.instance.addr).and_then(|stored| stored.current.as_ref());
        let all_recorded = |object: &Object| {
            let recorded: FxHashSet<String> = object.sensitive.iter().map(|(path, _)| path.to_string()).collect();
            marks.iter().all(|(path, _)| recorded.contains(&path.to_string()))
        };
        run.inputs.scope.refresh != Refresh::Never || stored.is_none_or(all_recorded)
    }

    fn decide(&self, prior: &Value, planned: &Value, requires_replace: bool) -> (Action, ActionReason) {
        if prior.is_null() {
            return (Action::Create, ActionReason::None);
        }
        match self.forced {
            Forced::ByRequest => return (self.replacement(), ActionReason::ReplaceByRequest),
            Forced::ByTriggers => return (self.replacement(), ActionReason::ReplaceByTriggers),
            Forced::No if requires_replace => {
                return (self.replacement(), ActionReason::ReplaceBecauseCannotUpdate);
            }
            Forced::No => {}
        }
        let same = planned.same_storage(prior) || planned.is_wholly_known() && planned == prior;
        (if same { Action::NoOp } else { Action::Update }, ActionReason::None)
    }
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

/// What a placeholder of unknown instances becomes, as far as it is known. None with errors.
pub async fn placeholder(instance: &Instance<'_>, config: &Value) -> (Option<Value>, Diagnostics) {
    let mut planner = Planner { instance, forced: Forced::No, planned: None, diagnostics: Diagnostics::new() };
    let meta = planner.diagnostics.take(instance.provider_meta());
    if planner.diagnostics.has_errors() || !planner.check_ephemeral(config) {
        return (None, planner.diagnostics);
    }
    let (bare, mut marks) = config.unmark_deep_with_paths();
    let found = instance.provider.validate_resource_config(instance.addr.kind(), bare.clone(), instance.client());
    let found = instance.answered("ValidateResourceConfig", found).await;
    planner.diagnostics.extend(instance.about(found));
    if planner.diagnostics.has_errors() {
        return (None, planner.diagnostics);
    }
    marks.retain(|(_, marks)| marks.contains(Marks::SENSITIVE));
    marks.iter_mut().for_each(|(_, marks)| *marks = Marks::SENSITIVE);
    let answer = planner.ask(&instance.null(), &bare, (Arc::from([]), None), &meta, true).await;
    (answer.map(|answer| mark(&answer.value, &marks, &instance.schema.block)), planner.diagnostics)
}

/// Whether the planned object is sensitive where the prior one was.
fn same_marks(before: &[(Path, Marks)], after: &Value) -> bool {
    if before.is_empty() && !after.has_marks_deep() {
        return true;
    }
    // Both are in the order of the values' parts.
    after.unmark_deep_with_paths().1 == before
}

/// A traversal relative to the object as a path; its root is an attribute.
pub fn path_of(traversal: &Traversal) -> Path {
    let root = PathStep::Attr(traversal.root.name.clone());
    let steps = traversal.steps.iter().filter_map(|step| match step {
        TraversalStep::Attr { name, .. } => Some(PathStep::Attr(name.name.clone())),
        TraversalStep::Index { key: IndexKey::Number(n), .. } => n.parse().ok().map(|n| PathStep::Index(Value::int(n))),
        TraversalStep::Index { key: IndexKey::String(s), .. } => Some(PathStep::Index(Value::shared_string(s.clone()))),
        TraversalStep::Splat { .. } => None,
    });
    Path([root].into_iter().chain(steps).collect())
}
