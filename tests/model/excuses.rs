//! Answers of the reference from which we differ on purpose; each has a line in docs/compatibility/.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::newer::Newer;
use super::normal::lookup;
use super::program::{Answer, Diagnostic};
use super::session::{Finding, Outcome};
use super::step::Step;

/// Returns what is different on purpose, if the programs go different ways from here.
pub fn of_answers(newer: Newer, step: &Step, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let refresh_only = step.has("-refresh-only");
    let only_theirs = |summary: &str| says(&theirs.plan, summary) && !says(&ours.plan, summary);
    let only_ours = |summary: &str| says(&ours.plan, summary) && !says(&theirs.plan, summary);
    let secret = "Output refers to sensitive values";
    // What the reference finds out while planning, we know beforehand.
    if theirs.plan.code == Some(1)
        && (only_ours(secret) || ours.shown.is_null() != theirs.shown.is_null())
        && says(&ours.plan, secret)
    {
        return Some("operators keep marks of unknown values");
    }
    if only_theirs("no change found for") {
        return Some("triggers without instances");
    }
    let of_absent = ["Invalid index", "Attempt to get attribute from null value"];
    if refresh_only && of_absent.iter().any(|summary| only_theirs(summary)) {
        return Some("postconditions of absent instances");
    }
    if only_theirs("Value not allowed in ephemeral output") {
        return Some("ephemeral outputs of inner modules");
    }
    let newer = match newer {
        Newer::Terraform => of_terraform(step, ours, theirs),
        Newer::OpenTofu => of_opentofu(step, ours, theirs),
        Newer::Nothing | Newer::Everything | Newer::Judge => None,
    };
    newer
        .or_else(|| of_cycles(ours, theirs))
        .or_else(|| of_imports_and_moves(ours, theirs))
        .or_else(|| of_applies(step, ours, theirs))
}

/// Where later versions of Terraform answer otherwise than 1.11.
fn of_terraform(step: &Step, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let only = |a: &Outcome, b: &Outcome, summary: &str| says(&a.plan, summary) && !says(&b.plan, summary);
    if only(theirs, ours, "invoke target") {
        return Some("what is wrong is reported before a target that does not exist");
    }
    let invokes = step.options.iter().any(|option| option.starts_with("-invoke"));
    if invokes && only(ours, theirs, "Value not allowed in ephemeral output") {
        return Some("ephemeral outputs of what is not planned");
    }
    if only(ours, theirs, "Value not allowed in ephemeral output") {
        return Some("ephemeral outputs whose value has ephemeral parts");
    }
    let deposed = "Attempt to restore non-existent deposed object";
    let is_fault = |e: &Diagnostic| {
        e.summary == deposed
            || e.summary.contains("can't serialize value marked with")
            || step.has("-destroy") && e.summary.starts_with("Reference to uninitialized ")
            // A replacement that was asked for is forgotten.
            || e.summary == "Provider produced inconsistent final plan" && e.detail.contains("DeleteThenCreate to NoOp")
    };
    if theirs.plan.errors().chain(theirs.apply.iter().flat_map(Answer::errors)).any(is_fault) {
        return Some("faults of the reference");
    }
    let is_restated = ours.shown["applyable"] == true && theirs.shown["applyable"] == false;
    if step.has("-refresh-only") && is_restated && ours.shown["resource_drift"].is_null() {
        return Some("destroy = false is remembered");
    }
    if step.has("-allow-deferral") && only(ours, theirs, "Moved object still exists") {
        return Some("moves in modules without known instances");
    }
    let is_of_destruction = |e: &Diagnostic| e.summary.starts_with("Cycle") && e.summary.contains("(destroy)");
    if ours.plan.errors().any(is_of_destruction) && !says(&theirs.plan, "Cycle") {
        return Some("cycles that Terraform 1.11 has, too");
    }
    let forgets = "Some objects will no longer be managed by Terraform";
    let warns = |outcome: &Outcome| outcome.plan.diagnostics.iter().any(|d| d.summary == forgets);
    if warns(ours) && !warns(theirs) {
        return Some("destroy = false is remembered");
    }
    failures(ours, theirs)
}

/// Where OpenTofu answers otherwise than Terraform 1.11.
fn of_opentofu(step: &Step, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let no_target = "Configuration for import target does not exist";
    if says(&theirs.plan, no_target) && !says(&ours.plan, no_target) {
        return Some(match ours.plan.code {
            Some(1) => "what else is wrong beside imports without a target",
            _ => "imports of objects of the state that have no configuration any more",
        });
    }
    let about_imports = ["Invalid import 'to' expression", no_target];
    let differs = |text: &&str| says(&ours.plan, text) != says(&theirs.plan, text);
    if step.has("-destroy") && about_imports.iter().any(differs) {
        return Some("imports in plans that destroy");
    }
    failures(ours, theirs)
}

/// Where newer programs crash, and what they report of a plan that fails: other warnings, and where they stop looking.
fn failures(ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    const CRASHED: Option<i32> = Some(11);
    if theirs.plan.code == CRASHED || theirs.apply.as_ref().is_some_and(|apply| apply.code == CRASHED) {
        return Some("faults of the reference");
    }
    if ours.plan.code != Some(1) || theirs.plan.code != Some(1) {
        return None;
    }
    let has_warnings = |outcome: &Outcome| outcome.plan.diagnostics.iter().any(|d| d.severity != "error");
    if has_warnings(ours) != has_warnings(theirs) {
        return Some("warnings of plans that fail");
    }
    let errors = |outcome: &Outcome| outcome.plan.errors().map(|e| e.summary.clone()).collect::<HashSet<_>>();
    let (mine, other) = (errors(ours), errors(theirs));
    (mine != other && (mine.is_subset(&other) || other.is_subset(&mine))).then_some("how many errors are found at once")
}

fn says(answer: &Answer, summary: &str) -> bool {
    answer.errors().any(|error| error.summary.starts_with(summary))
}

/// Forgetting waits for nothing, and the data of checks not for what depends on their module.
fn of_cycles(ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let is_cycle = |answer: &Answer| {
        answer.errors().any(|e| {
            e.summary.starts_with("Cycle")
                && ["(forget)", "(execute checks)"].iter().any(|part| e.summary.contains(part))
        })
    };
    let cycle = [(Some(&ours.plan), Some(&theirs.plan)), (ours.again.as_ref(), theirs.again.as_ref())];
    if cycle.iter().any(|(ours, theirs)| theirs.is_some_and(is_cycle) && !ours.is_some_and(|o| says(o, "Cycle"))) {
        return Some("cycles through forgotten objects or checks");
    }
    None
}

fn of_imports_and_moves(ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let only = |a: &Outcome, b: &Outcome, summary: &str| says(&a.plan, summary) && !says(&b.plan, summary);
    let imports = ["Resource has no configuration", "Invalid import 'to' expression"];
    if imports.into_iter().any(|text| only(theirs, ours, text))
        && only(ours, theirs, "Configuration for import target does not exist")
    {
        return Some("imports for resources without a block");
    }
    let blocked = "Unresolved resource instance address changes";
    let warning = |answer: &Answer| answer.diagnostics.iter().find(|d| d.summary == blocked).cloned();
    if let (Some(warning), None) = (warning(&theirs.plan), warning(&ours.plan)) {
        let stored = ours.shown["prior_state"].to_string();
        let lines = warning.detail.lines().filter_map(|line| line.strip_prefix("  - ")?.split_once(" could not"));
        if lines.map(|(from, _)| from).all(|from| !stored.contains(&format!("\"address\":\"{from}"))) {
            return Some("moves of resources without instances");
        }
    }
    None
}

fn of_applies(step: &Step, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let refresh_only = step.has("-refresh-only");
    let applied = |outcome: &Outcome| outcome.apply.as_ref().is_some_and(|apply| apply.code == Some(0));
    let no_op = "Cannot apply non-applyable plan";
    if refresh_only && applied(ours) && theirs.apply.as_ref().is_some_and(|apply| says(apply, no_op)) {
        return Some("refresh-only plans with nothing but outputs to come");
    }
    let mut failures = theirs.apply.iter().flat_map(Answer::errors);
    let of_output = failures.all(|error| error.summary == "Module output value precondition failed");
    if refresh_only && applied(ours) && !applied(theirs) && of_output {
        return Some("preconditions of outputs in refresh-only applies");
    }
    let (mine, other) = (changes_made(ours), changes_made(theirs));
    if step.is_targeted() && applied(ours) && applied(theirs) && other.is_subset(&mine) && other.len() < mine.len() {
        return Some("planned changes that targets leave out");
    }
    None
}

/// Returns what is different on purpose in documents.
pub fn of_documents(newer: Newer, step: &Step, finding: &Finding, ours: &Value) -> Option<&'static str> {
    if let Some(what) = of_this_program(finding, newer) {
        return Some(what);
    }
    if let Some(what) = of_newer(finding, newer).or_else(|| of_newer_plans(step, finding, ours, newer)) {
        return Some(what);
    }
    let only_ours = finding.report.contains("\nours: true\nreference: (absent)\n");
    let is_planned =
        finding.class.starts_with("plan: .planned_values") || finding.class.starts_with("second plan: .planned_values");
    if only_ours && is_planned && finding.class.contains(".sensitive_values.") {
        return Some("marks of the schema in objects to be replaced");
    }
    let path = finding.report.split_once(": ").and_then(|(_, rest)| rest.lines().next()).unwrap_or_default();
    let unknown = lookup(ours, &path.replace(".after_sensitive", ".after_unknown"));
    if only_ours && path.contains(".after_sensitive") && unknown == Some(&Value::Bool(true)) {
        return Some("operators keep marks of unknown values");
    }
    None
}

/// Returns where this program answers as Terraform after 1.11, under every compatible version.
fn of_this_program(finding: &Finding, newer: Newer) -> Option<&'static str> {
    let (class, report) = (&*finding.class, &*finding.report);
    match newer {
        Newer::Nothing
            if class.contains(".checks[]") && report.contains("\nours: \"pass\"\nreference: \"unknown\"\n") =>
        {
            Some("operators that stop at what decides")
        }
        Newer::Nothing
            if report.contains("\nours: {\"constant_value\":") && report.contains("\nreference: (absent)\n") =>
        {
            Some("constants of operators that stop at what decides")
        }
        Newer::Nothing if report.contains("\nours: (absent)\n") && report.contains("delete_because_no_module") => {
            Some("implied moves of modules")
        }
        Newer::Nothing
            if class.contains(".change.after.output") && report.contains("\nours: null\nreference: (absent)\n") =>
        {
            Some("the output of terraform_data whose input is null now")
        }
        _ => None,
    }
}

/// Returns in what a newer program differs from Terraform 1.11 on purpose, whose answer holds.
fn of_newer(finding: &Finding, newer: Newer) -> Option<&'static str> {
    let (class, report) = (&*finding.class, &*finding.report);
    let whole_plan = matches!(class, "plan: " | "second plan: ");
    match newer {
        Newer::OpenTofu if report.contains("delete_because_no_module") => Some("implied moves of modules"),
        Newer::OpenTofu if class.contains(".check_results[]") && report.contains("\nreference: \"unknown\"\n") => {
            Some("results of outputs that do not change")
        }
        Newer::Terraform if class.contains(".checks[]") && report.contains("\nreference: \"pass\"\n") => {
            Some("operators that stop at what decides")
        }
        Newer::OpenTofu if whole_plan && report.contains("\nreference: null\n") => Some("plans that failed early"),
        Newer::Terraform if class.contains(".change.after.output") && report.contains("\nreference: null\n") => {
            Some("the output of terraform_data whose input is null now")
        }
        Newer::Terraform if class.contains("outputs.o.type") && report.contains("\nours: \"dynamic\"\n") => {
            Some("types of outputs that are null")
        }
        Newer::Terraform if class.contains("action_reason") && report.contains("ours: \"forgot_because_") => {
            Some("reasons of forgetting")
        }
        Newer::OpenTofu if class.ends_with(".skip_destroy") && report.contains("\nours: true\n") => {
            Some("destroy = false of objects that are not changed")
        }
        Newer::OpenTofu if class.ends_with(".instances[].provider") && report.contains("\nours: (absent)\n") => {
            Some("where the provider of an object without a key is written")
        }
        Newer::Terraform if class.ends_with(".instances[]") && report.contains("\"deposed\":\"<key>\"") => {
            Some("replaced objects that are not to be destroyed")
        }
        Newer::Terraform if report.contains("\\\"store\\\":null") => Some("the attribute store of terraform_data"),
        Newer::Terraform
            if report.contains("\nours: (absent)\nreference: {\"constant_value\"")
                || class.contains("constant_value") =>
        {
            Some("constants with calls that are not reached")
        }
        _ => None,
    }
}

/// As [`of_newer`], by what was planned.
fn of_newer_plans(step: &Step, finding: &Finding, ours: &Value, newer: Newer) -> Option<&'static str> {
    let (class, report) = (&*finding.class, &*finding.report);
    let is_absent_there = report.contains("\nreference: (absent)\n");
    let plans = |actions: &[&str]| {
        let changes = ours["resource_changes"].as_array();
        changes.into_iter().flatten().any(|change| change["change"]["actions"] == json!(actions))
    };
    match newer {
        Newer::Terraform
            if class.ends_with(".change.actions[]")
                && report.ends_with("\nreference: \"delete\"\n")
                && plans(&["create", "forget"]) =>
        {
            Some("replaced objects that are not to be destroyed")
        }
        Newer::Terraform if class.contains(".planned_values") && is_absent_there && plans(&["forget"]) => {
            Some("forgotten objects among the planned values")
        }
        Newer::Terraform if class.ends_with(".change.before_identity") && is_absent_there => {
            Some("identities of tainted objects")
        }
        Newer::Terraform
            if step.has("-allow-deferral")
                && class.contains(".prior_state.values.outputs")
                && report.contains("\nreference: null\n") =>
        {
            Some("prior values of deferred outputs")
        }
        Newer::OpenTofu
            if class == "plan: .resource_changes[]"
                && report.contains("\nours: (absent)\n")
                && report.contains("delete_because_no_resource_config")
                && step.options.iter().any(|o| o.starts_with("-exclude")) =>
        {
            Some("what depends in the state on what is excluded")
        }
        Newer::OpenTofu if class.contains(".checks[]") && step.options.iter().any(|o| o.starts_with("-exclude")) => {
            Some("checks of what is excluded")
        }
        _ => None,
    }
}

/// The changes that an apply made: addresses and actions.
fn changes_made(outcome: &Outcome) -> HashSet<(String, String)> {
    let lines = outcome.apply.iter().flat_map(|apply| apply.out.lines());
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let done = events.filter(|event| event["type"] == "apply_complete");
    done.map(|event| (event["hook"]["resource"]["addr"].to_string(), event["hook"]["action"].to_string())).collect()
}
