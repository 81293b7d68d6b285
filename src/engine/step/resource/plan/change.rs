//! Planning the change of one managed object: evaluate, validate, ignore, ask the provider, decide the action.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::plan::{Action, Refresh, ResourceChange};
use model::state::Object;
use rustc_hash::FxHashSet;
use terrane_value::{Marks, Path, Value};

use super::ask::{Question, Round, ask};
use super::ignore;
use super::replace::{Forced, Replacement};
use crate::change::go_text::go_path;
use crate::change::replace;
use crate::engine_errors::INVALID_PROVIDER_PLAN;
use crate::run::object::{Stored, mark};
use crate::step::resource::record::new_change;
use crate::step::resource::{Instance, conditions, ephemeral_use};

/// The change that brings `current` to the configuration. None with errors.
pub async fn plan(
    instance: &Instance<'_>,
    current: Option<&Stored>,
    forced: Forced,
) -> (Option<ResourceChange>, Diagnostics) {
    checked(instance, Planner::new(instance, forced, None).run(current)).await
}

/// In apply: the change that the plan promised, planned again with the values that are known now. None with errors.
pub async fn plan_again(
    instance: &Instance<'_>,
    current: Option<&Stored>,
    promised: &ResourceChange,
) -> (Option<ResourceChange>, Diagnostics) {
    if promised.action == Action::NoOp {
        return confirmed(instance, promised).await;
    }
    let is_forced = promised.action.is_replace() && current.is_some();
    let forced = if is_forced { Forced::ByRequest } else { Forced::No };
    checked(instance, Planner::new(instance, forced, Some(promised)).run(current)).await
}

/// A change that is known already, if the conditions of the instance hold. None with errors.
pub async fn confirmed(instance: &Instance<'_>, known: &ResourceChange) -> (Option<ResourceChange>, Diagnostics) {
    checked(instance, async { (Some(known.clone()), Diagnostics::new()) }).await
}

/// As [`plan`], without looking at conditions, of an object that nothing forces to be replaced.
pub async fn without_conditions(instance: &Instance<'_>, current: &Stored) -> (Option<ResourceChange>, Diagnostics) {
    Planner::new(instance, Forced::No, None).run(Some(current)).await
}

/// The result of planning, which begins only if the preconditions hold.
async fn checked(
    instance: &Instance<'_>,
    planning: impl Future<Output = (Option<ResourceChange>, Diagnostics)>,
) -> (Option<ResourceChange>, Diagnostics) {
    let mut diagnostics = conditions::preconditions(instance);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let change = diagnostics.take(planning.await);
    (change, diagnostics)
}

/// Plans one change.
///
/// The provider sees neither marks nor what `ignore_changes` names: marks are taken off before each question and put on the answer,
/// and ignored arguments have the values of the object, so that the answer needs no correction. A provider of the old type
/// system may change them nevertheless; they are put back. For a replacement the provider is asked twice, first for the
/// update that turns out to be impossible, then for the creation, as if there were no object. [`super::replace`] decides.
struct Planner<'i, 'r> {
    instance: &'i Instance<'r>,
    replacement: Replacement<'i, 'r>,
    diagnostics: Diagnostics,
}

/// A configuration that the provider accepts.
struct Examined {
    /// Without marks.
    config: Value,
    /// The `provider_meta` of the module.
    meta: Value,
}

impl<'i, 'r> Planner<'i, 'r> {
    /// `promised`: the change of the plan, in apply.
    fn new(instance: &'i Instance<'r>, forced: Forced, promised: Option<&'i ResourceChange>) -> Planner<'i, 'r> {
        Planner { instance, replacement: Replacement { instance, forced, promised }, diagnostics: Diagnostics::new() }
    }

    async fn run(mut self, current: Option<&Stored>) -> (Option<ResourceChange>, Diagnostics) {
        let change = self.change(current).await;
        (change.filter(|_| !self.diagnostics.has_errors()), self.diagnostics)
    }

    async fn change(&mut self, current: Option<&Stored>) -> Option<ResourceChange> {
        let instance = self.instance;
        let config = self.diagnostics.take(instance.evaluate());
        let examined = self.examined(&config).await?;
        // A tainted object is planned as if there were none, and joined with it at the end.
        let tainted = current.filter(|c| c.is_tainted());
        let sound = current.filter(|c| !c.is_tainted());
        let mut before = sound.map_or_else(|| instance.null(), |c| c.value.clone());
        let (bare_ignoring, config_marks) = ignore::ignoring(instance, &before, &config).unmark_deep_with_paths();
        let config_marks = self.sensitive(config_marks);
        let (bare_before, before_marks) = before.unmark_deep_with_paths();

        let question = Question {
            prior: &bare_before,
            config: &bare_ignoring,
            private: sound.map_or_else(|| Arc::from([]), |c| c.private.clone()),
            identity: sound.and_then(|c| c.identity.clone()),
            meta: &examined.meta,
        };
        let answer = ask(instance, question, Round::First, &mut self.diagnostics).await?;
        let mut after = mark(&answer.value, &config_marks, &instance.schema.block);
        let mut response = answer.response;
        let paths = self.required_replace(&response.requires_replace, &bare_before, &answer.value)?;
        let (mut action, mut reason) = self.replacement.decide(&bare_before, &answer.value, !paths.is_empty());

        if action.is_replace() {
            let question = Question {
                prior: &instance.null(),
                config: &examined.config,
                private: response.private.clone(),
                identity: response.identity.clone(),
                meta: &examined.meta,
            };
            let again = ask(instance, question, Round::Replacement, &mut self.diagnostics).await?;
            after = mark(&again.value, &config_marks, &instance.schema.block);
            response = again.response;
        }
        if let (Action::Create, Some(tainted)) = (action, tainted) {
            (action, reason) = self.replacement.of_tainted();
            before = tainted.value.clone();
        }
        if action == Action::NoOp && !(self.has_recorded(&before_marks) && same_marks(&before_marks, &after)) {
            action = Action::Update;
        }
        if let Some(promised) = self.replacement.half_done(action) {
            action = promised.action;
            before = promised.change.before.clone();
        }
        if action == Action::NoOp && after == before {
            // An unchanged object takes no memory a second time.
            after = before.clone();
        }
        let mut change = new_change(instance, action, before, after);
        change.reason = self.replacement.reported_reason(reason);
        change.required_replace = paths;
        change.private = response.private;
        change.identity.before = current.and_then(|c| c.identity.clone());
        change.identity.after = response.identity;
        Some(change)
    }

    /// What can be said of a configuration without the object: by the rules for ephemeral values, and by the provider. None with
    /// errors, of this or of its evaluation.
    async fn examined(&mut self, config: &Value) -> Option<Examined> {
        let instance = self.instance;
        let meta = self.diagnostics.take(instance.provider_meta());
        if self.diagnostics.has_errors() || !self.check_ephemeral(config) {
            return None;
        }
        let (bare, _) = config.unmark_deep();
        let found = instance.provider.validate_resource_config(instance.addr.kind(), bare.clone(), instance.client());
        let found = instance.answered("ValidateResourceConfig", found).await;
        self.diagnostics.extend(instance.about(found));
        (!self.diagnostics.has_errors()).then_some(Examined { config: bare, meta })
    }

    /// The object that a configuration would create. None with errors.
    async fn placeholder(&mut self, config: &Value) -> Option<Value> {
        let instance = self.instance;
        let examined = self.examined(config).await?;
        let marks = self.sensitive(config.unmark_deep_with_paths().1);
        let question = Question {
            prior: &instance.null(),
            config: &examined.config,
            private: Arc::from([]),
            identity: None,
            meta: &examined.meta,
        };
        let answer = ask(instance, question, Round::First, &mut self.diagnostics).await?;
        Some(mark(&answer.value, &marks, &instance.schema.block))
    }

    fn check_ephemeral(&mut self, config: &Value) -> bool {
        let instance = self.instance;
        let body = instance.config.map(|c| &c.body);
        let found = ephemeral_use::check(config, &instance.schema.block, body, &instance.addr.to_string());
        let fine = !found.has_errors();
        self.diagnostics.extend(found);
        fine
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

    /// The marks that plans keep of a configuration: write-only attributes alone have ephemeral values, and no values are kept of them.
    fn sensitive(&self, mut marks: Vec<(Path, Marks)>) -> Vec<(Path, Marks)> {
        marks.retain(|(_, marks)| marks.contains(Marks::SENSITIVE));
        marks.iter_mut().for_each(|(_, marks)| *marks = Marks::SENSITIVE);
        self.instance.run.ports.doubles.derived.sensitive_paths(marks, &self.instance.schema.block)
    }
}

/// What a placeholder of unknown instances becomes, as far as it is known. None with errors.
pub async fn placeholder(instance: &Instance<'_>, config: &Value) -> (Option<Value>, Diagnostics) {
    let mut planner = Planner::new(instance, Forced::No, None);
    let value = planner.placeholder(config).await;
    (value, planner.diagnostics)
}

/// Whether the planned object is sensitive where the prior one was.
fn same_marks(before: &[(Path, Marks)], after: &Value) -> bool {
    if before.is_empty() && !after.has_marks_deep() {
        return true;
    }
    // Both are in the order of the values' parts.
    after.unmark_deep_with_paths().1 == before
}
