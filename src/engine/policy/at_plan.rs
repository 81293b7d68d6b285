//! The policies of a plan: evaluated when all of it is known that will be known before apply.

use std::sync::Arc;

use base::diag::Diagnostics;
use model::addr::ModuleInstance;
use model::config::policy_file::PolicyLevel;
use model::plan::{Plan, PolicyFinding, PolicyReport, PolicyVerdict, UndecidedPolicy};

use super::judge::{Judge, denied, undecided};
use super::run_data::RunData;
use super::targets;
use crate::engine_errors;
use crate::event::Event;
use crate::ids::ROOT;
use crate::run::{Run, Verb};

/// Evaluates the policies of a run for its providers, modules and changes, and reports the results. A denied plan is an errored one.
pub fn evaluate(run: &Run, plan: &mut Plan) -> Diagnostics {
    let policies = run.inputs.scope.policies.clone();
    if policies.is_empty() {
        return Diagnostics::new();
    }
    let reports = {
        let planned: &Plan = plan;
        let data = RunData::new(run, Some(planned));
        reports(run, planned, &Judge::new(&policies, &data, &*run.ports.host))
    };
    // An interrupt leaves policies without a result, and a plan with such policies is not complete.
    if run.ports.stop.is_stopping() {
        mark_errored(plan);
        return engine_errors::halted().into();
    }
    let mut diagnostics = Diagnostics::new();
    for mut report in reports {
        note_undecided(&mut report, plan);
        if denied(&report) {
            let denying = report.outcomes.iter().filter(|outcome| outcome.denies());
            plan.denied_by.extend(denying.map(|outcome| format!("{} for {}", outcome.id(), report.target)));
            mark_errored(plan);
        }
        diagnostics.extend(findings(&report));
        run.ports.observer.event(Event::PolicyResult(Arc::new(report)));
    }
    diagnostics
}

fn reports(run: &Run, plan: &Plan, judge: &Judge<'_>) -> Vec<PolicyReport> {
    let mut reports = Vec::new();
    let configs = std::mem::take(&mut run.results.policy_notes().provider_configs);
    for (id, config) in configs {
        reports.extend(judge.report(&targets::of_provider(run, id, config), |_, _| true));
    }
    for id in run.blocks.tree.ids().filter(|id| *id != ROOT && run.verb != Verb::PlanDestroy) {
        for instance in run.results.module_instances(id).iter().filter(|instance| has_work(run, &instance.addr)) {
            reports.extend(judge.report(&targets::of_module(run, id, instance), |_, _| true));
        }
    }
    for change in &plan.changes {
        for operation in targets::operations(change.action) {
            let target = targets::of_change(run, change, *operation);
            reports.extend(target.and_then(|target| judge.report(&target, |_, _| true)));
        }
    }
    reports
}

/// False for a module that the actions which were asked for are not in: it is evaluated only for values.
fn has_work(run: &Run, module: &ModuleInstance) -> bool {
    let requested = &run.inputs.scope.requested_actions;
    requested.is_empty() || requested.iter().any(|action| action.module.starts_with(module))
}

/// The plan is shown and saved, but not to be applied.
fn mark_errored(plan: &mut Plan) {
    (plan.errored, plan.applyable, plan.complete) = (true, false, false);
}

/// Adds a warning to each mandatory policy whose result is unknown, and keeps it for the apply.
fn note_undecided(report: &mut PolicyReport, plan: &mut Plan) {
    let target = report.target.clone();
    for outcome in &mut report.outcomes {
        if outcome.verdict != PolicyVerdict::Unknown || outcome.level == PolicyLevel::Advisory {
            continue;
        }
        let diagnostic = undecided(outcome, &target);
        let verdict = PolicyVerdict::Unknown;
        outcome.findings.push(PolicyFinding { diagnostic, enforce: None, verdict });
        plan.undecided_policies.push(UndecidedPolicy { target: target.clone(), policy: outcome.id() });
    }
}

/// What is wrong, as diagnostics of the run.
pub fn findings(report: &PolicyReport) -> Diagnostics {
    let all = report.outcomes.iter().flat_map(|outcome| &outcome.findings);
    all.map(|finding| finding.diagnostic.clone()).collect()
}
