//! What a run does once its configuration and its values are sound: it plans, applies unless `command = plan`, and is judged.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use engine::engine_errors::NOT_APPLYABLE;
use engine::mock::TestNames;
use engine::testing::TestPlace;
use engine::{ApplyInput, Evaluation, GivenVariables, PlanInput, Verdict};
use lang::syntax::ast::Expression;
use model::config::test_file::{TestCommand, TestRun};
use model::config::{Config, Module};
use model::plan::{Action, Mode, Plan, PlanScope};
use model::state::State;
use model::version::at_least;
use terrane_value::Value;

use super::context::FileContext;
use super::expect::{ExpectedFailures, is_of_check, only_missing_failures};
use super::expect_error::ExpectedErrors;
use super::plan_values;
use super::restore::Keeper;
use super::run::{PreparedRun, interrupted, lookup};
use super::run_record::RunRecord;
use super::variables::RunValues;
use crate::interface::testing::{RunReport, TestStatus, VerboseResult, VerboseRun};
use crate::plugins::schemas;

/// A run whose configuration and values are sound.
pub struct RunStep<'a> {
    pub context: &'a FileContext<'a>,
    pub run: &'a TestRun,
    /// Its position in the file.
    pub index: usize,
    pub prepared: &'a PreparedRun,
    pub values: &'a RunValues,
}

impl RunStep<'_> {
    /// Plans and judges the assertions by the plan.
    pub async fn plan(&self, scope: PlanScope, report: &mut RunReport) -> TestStatus {
        let Some((planned, found)) = self.planned(scope).await else {
            report.diagnostics.push(interrupted());
            return TestStatus::Error;
        };
        let (settled, is_cut_short) = self.settled(found.clone());
        let status = status_of(self.run, &settled);
        let shows_all = self.context.suite.request.verbose && at_least(14);
        report.diagnostics.extend(if shows_all { found } else { settled });
        if status == TestStatus::Error {
            return status;
        }
        if planned.is_none() && !self.run.expect_error.is_empty() {
            report.diagnostics.extend(not_judged(self.run));
            return status;
        }
        let Some((plan, evaluation)) = planned else { return TestStatus::Error };
        let plan = Arc::new(plan);
        if self.context.suite.request.verbose {
            report.verbose = Some(self.verbose_plan(plan.clone()).await);
        }
        status.max(self.judge(&evaluation, &plan, is_cut_short, report).await)
    }

    /// Plans; none if it was abandoned.
    async fn planned(&self, scope: PlanScope) -> Option<(Option<(Plan, Evaluation)>, Diagnostics)> {
        let input = PlanInput {
            facts: self.prepared.facts.clone(),
            state: self.context.state(&self.run.state_key()),
            variables: self.values.given.clone(),
            scope,
        };
        let work = engine::plan_and_evaluate(input, &self.prepared.ports);
        let (planned, found) = self.context.suite.unless_abandoned(work).await?;
        Some((planned, self.after_interrupt(found)))
    }

    /// What was found, with the error of the second interrupt. Before Terraform 1.13, it comes first.
    fn after_interrupt(&self, found: Diagnostics) -> Diagnostics {
        match self.context.suite.setup.stop.is_killed() {
            true if at_least(13) => found.into_iter().chain([interrupted()]).collect(),
            true => std::iter::once(interrupted()).chain(found).collect(),
            false => found,
        }
    }

    /// Plans and applies, and judges the assertions by the state.
    pub async fn apply(&self, scope: PlanScope, report: &mut RunReport) -> TestStatus {
        let again = scope.clone();
        let plan = match self.plan_to_apply(scope, report).await {
            Ok(plan) => plan,
            Err(status) => return status,
        };
        if changes_only_outputs(&plan) {
            report.diagnostics.push(not_applyable());
            return TestStatus::Error;
        }
        let key = self.run.state_key();
        let input = ApplyInput {
            facts: self.prepared.facts.clone(),
            plan: plan.clone(),
            variables: self.ephemeral_variables(),
            parallelism: self.context.suite.request.parallelism,
        };
        let record = match RunRecord::of(self.context, self.run, &key, &self.prepared.ports).await {
            Ok(record) => record,
            Err(found) => {
                report.diagnostics.extend(found);
                return TestStatus::Error;
            }
        };
        let before = self.context.state(&key);
        self.context.applies.begin(self.index, created(&plan));
        let work = engine::apply_and_evaluate(input, &record.ports);
        let done = self.context.suite.unless_abandoned(work).await;
        let state = done.as_ref().and_then(|(outcome, ..)| outcome.state.clone());
        report.diagnostics.extend(record.finish(state.as_ref()).await);
        let Some((outcome, evaluation, found)) = done else {
            report.diagnostics.push(interrupted());
            return TestStatus::Error;
        };
        self.context.applies.begin(self.index, Vec::new());
        let found = self.after_interrupt(found);
        let (settled, is_cut_short) = self.settled(found.clone());
        let status = status_of(self.run, &settled);
        let shows_all = self.context.suite.request.verbose && at_least(14);
        report.diagnostics.extend(if shows_all { found } else { settled });
        let state = outcome.state.unwrap_or(before);
        self.context.set_state(&key, state.clone(), self.index);
        if self.context.file.skips_cleanup(self.run) {
            self.context.keep_state(&key, Keeper { run: self.index, is_whole: status != TestStatus::Error });
        }
        if status == TestStatus::Error {
            return status;
        }
        let Some(evaluation) = evaluation else {
            if self.run.expect_error.is_empty() {
                return TestStatus::Error;
            }
            report.diagnostics.extend(not_judged(self.run));
            return status;
        };
        if self.context.suite.request.verbose {
            report.verbose = Some(self.verbose_state(state).await);
        }
        let status = status.max(self.judge(&evaluation, &plan, is_cut_short, report).await);
        if self.run.assert_no_changes && !is_cut_short && status == TestStatus::Pass {
            self.plan_again(again, report).await
        } else {
            status
        }
    }

    /// The plan of an apply; else how the run ended.
    async fn plan_to_apply(&self, scope: PlanScope, report: &mut RunReport) -> Result<Arc<Plan>, TestStatus> {
        let Some((planned, found)) = self.planned(scope).await else {
            report.diagnostics.push(interrupted());
            return Err(TestStatus::Error);
        };
        if found.has_errors() && !self.run.expect_error.is_empty() {
            let root = self.prepared.facts.config().root.clone();
            return Err(end_early(self.context, self.run, &root, found, report));
        }
        let found = ExpectedFailures::of(self.run).explain(found);
        let failed = found.has_errors();
        report.diagnostics.extend(found);
        let (false, Some((plan, _))) = (failed, planned) else { return Err(TestStatus::Error) };
        // The apply finds what check blocks say again.
        report.diagnostics = std::mem::take(&mut report.diagnostics).into_iter().filter(|d| !is_of_check(d)).collect();
        Ok(Arc::new(plan))
    }

    /// Plans after the apply: nothing may be left to do.
    async fn plan_again(&self, scope: PlanScope, report: &mut RunReport) -> TestStatus {
        let Some((planned, found)) = self.planned(scope).await else {
            report.diagnostics.push(interrupted());
            return TestStatus::Error;
        };
        let failed = found.has_errors();
        report.diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
        let (false, Some((plan, _))) = (failed, planned) else { return TestStatus::Error };
        let left: Vec<String> = plan
            .changes
            .iter()
            .filter(|change| change.action != Action::NoOp)
            .map(|change| format!("\n  - {}", change.addr))
            .collect();
        if left.is_empty() {
            return TestStatus::Pass;
        }
        let detail =
            format!("A plan after the apply was expected to be empty, but changes these objects:\n{}", left.concat());
        report
            .diagnostics
            .push(Diagnostic::error("Plan after the apply is not empty", detail).at(self.run.range.clone()));
        TestStatus::Fail
    }

    /// The diagnostics of the run without what it expects, and whether an error that it expects left the work incomplete.
    fn settled(&self, found: Diagnostics) -> (Diagnostics, bool) {
        settled(self.context, self.run, &self.prepared.facts.config().root, found)
    }

    fn ephemeral_variables(&self) -> GivenVariables {
        let declared = &self.prepared.facts.config().root.variables;
        let given = self.values.given.iter();
        given
            .filter(|(name, given)| {
                !given.value.is_null() && declared.get(*name).is_some_and(|variable| variable.ephemeral)
            })
            .map(|(name, given)| (name.clone(), given.clone()))
            .collect()
    }

    /// Judges all assertions and snapshots, and keeps the outputs for later runs. `is_cut_short`: an expected error left the values
    /// incomplete, so that nothing is judged by them.
    async fn judge(
        &self,
        evaluation: &Evaluation,
        plan: &Plan,
        is_cut_short: bool,
        report: &mut RunReport,
    ) -> TestStatus {
        let status = match is_cut_short {
            true => {
                report.diagnostics.extend(not_judged(self.run));
                TestStatus::Pass
            }
            false => self.judge_values(evaluation, plan, report).await,
        };
        self.context.set_outputs(&self.run.name, evaluation.outputs());
        status
    }

    async fn judge_values(&self, evaluation: &Evaluation, plan: &Plan, report: &mut RunReport) -> TestStatus {
        let names = self.names(plan).await;
        let mut status = TestStatus::Pass;
        for assert in &self.run.asserts {
            let (verdict, found) = evaluation.judge(assert, &names, self.context.suite.request.verbose);
            report.diagnostics.extend(found);
            status = status.max(match verdict {
                Verdict::Pass => TestStatus::Pass,
                Verdict::Fail => TestStatus::Fail,
                Verdict::Error => TestStatus::Error,
            });
        }
        for snapshot in &self.run.snapshots {
            let (value, found) = evaluation.value_in_test(&snapshot.value, &names);
            let failed = found.has_errors();
            report.diagnostics.extend(found);
            let judged = match failed {
                true => TestStatus::Error,
                false => {
                    let (judged, problem) = self.context.snapshots.judge(&self.run.name, snapshot, &value);
                    report.diagnostics.extend(problem);
                    judged
                }
            };
            status = status.max(judged);
        }
        status
    }

    /// The names that assertions and snapshots know besides those of the module.
    async fn names(&self, plan: &Plan) -> TestNames {
        let needs_plan = self.context.file.extensions && plan_values::are_referenced(self.run);
        let plan = if needs_plan { Some(self.plan_values(plan).await) } else { None };
        TestNames {
            runs: self.context.outputs(),
            variables: self.values.extra.clone(),
            locals: self.values.locals.clone(),
            each: self.run.instance.as_ref().map(|instance| (instance.key.clone(), instance.value.clone())),
            plan,
        }
    }

    async fn plan_values(&self, plan: &Plan) -> Value {
        let needed = plan.changes.iter().map(|change| change.provider.provider.clone());
        let schemas = schemas::available(&*self.prepared.ports.providers, needed.collect::<Vec<_>>()).await;
        plan_values::of_plan(plan, &self.config(), &schemas)
    }

    async fn verbose_plan(&self, plan: Arc<Plan>) -> Arc<VerboseRun> {
        let needed = plan.changes.iter().chain(&plan.drift).map(|change| change.provider.provider.clone());
        let schemas = schemas::available(&*self.prepared.ports.providers, needed.collect::<Vec<_>>()).await;
        let config = self.config();
        Arc::new(VerboseRun { shown: VerboseResult::Plan(plan), config, schemas })
    }

    async fn verbose_state(&self, state: State) -> Arc<VerboseRun> {
        let needed = state.resources.values().map(|resource| resource.provider.provider.clone());
        let schemas = schemas::available(&*self.prepared.ports.providers, needed.collect::<Vec<_>>()).await;
        let config = self.config();
        Arc::new(VerboseRun { shown: VerboseResult::State(Arc::new(state)), config, schemas })
    }

    fn config(&self) -> Arc<Config> {
        self.prepared.facts.config().clone()
    }
}

/// Ends a run whose errors prevent its plan or its apply. Errors that it expects are removed. Returns its status.
pub fn end_early(
    context: &FileContext<'_>,
    run: &TestRun,
    root: &Module,
    found: Diagnostics,
    report: &mut RunReport,
) -> TestStatus {
    if run.expect_error.is_empty() {
        report.diagnostics.extend(found);
        return TestStatus::Error;
    }
    let (settled, _) = settled(context, run, root, found);
    let status = status_of(run, &settled);
    report.diagnostics.extend(settled);
    if status != TestStatus::Error {
        report.diagnostics.extend(not_judged(run));
    }
    status
}

/// The diagnostics of a run without what it expects, and whether an error that it expects left the work incomplete. `root`: the root
/// module of its configuration.
fn settled(context: &FileContext<'_>, run: &TestRun, root: &Module, found: Diagnostics) -> (Diagnostics, bool) {
    let found = ExpectedFailures::of(run).remove_expected(found);
    // No pattern is meant for work that is cut short.
    if run.expect_error.is_empty() || context.suite.setup.stop.is_killed() {
        return (found, false);
    }
    let outputs = context.outputs();
    let lookup = lookup(context, run, root, &outputs);
    let evaluate = |expr: &Expression| lookup.evaluate(expr, TestPlace::Run);
    let (expected, mut problems) = ExpectedErrors::of(run, &evaluate);
    let (left, is_cut_short) = expected.remove_expected(found);
    problems.extend(left);
    (problems, is_cut_short)
}

/// What the diagnostics say of a run. Expected failures that did not happen are a failed test since Terraform 1.12, but in plans they still
/// are an error.
fn status_of(run: &TestRun, settled: &Diagnostics) -> TestStatus {
    let may_fail = run.command == TestCommand::Apply || !run.expect_error.is_empty();
    match settled.has_errors() {
        false => TestStatus::Pass,
        true if may_fail && at_least(12) && only_missing_failures(settled) => TestStatus::Fail,
        true => TestStatus::Error,
    }
}

/// The warning of a run whose assertions and snapshots are not judged because an error that it expects prevents its plan or its apply.
fn not_judged(run: &TestRun) -> Option<Diagnostic> {
    let count = run.asserts.len() + run.snapshots.len();
    let detail = format!(
        "An expected error ended run {:?} before its plan or its apply was complete. {count} of its assert and snapshot blocks were not \
         evaluated.",
        &*run.name
    );
    (count > 0).then(|| Diagnostic::warning("Assertions were not evaluated", detail).at(run.range.clone()))
}

/// Whether a refresh-only plan found nothing to record, but would change outputs. The reference refuses to apply it.
fn changes_only_outputs(plan: &Plan) -> bool {
    let changes = plan.outputs.iter().any(|output| output.action != Action::NoOp);
    plan.scope.mode == Mode::RefreshOnly && !plan.applyable && changes
}

fn not_applyable() -> Diagnostic {
    let detail =
        format!("The given plan is not applyable. If this seems like a bug in {PROGRAM}, then please report it!");
    Diagnostic::error(NOT_APPLYABLE, detail)
}

/// The addresses of the objects that a plan creates.
fn created(plan: &Plan) -> Vec<String> {
    plan.changes.iter().filter(|change| change.action == Action::Create).map(|change| change.addr.to_string()).collect()
}
