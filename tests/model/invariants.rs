//! Invariants of every step, independent of the reference.

use serde_json::Value;

use super::normal::{difference, elements};
use super::program::{Answer, Workspace};
use super::session::{Finding, Outcome, shown};
use super::step::Step;

/// Checks one step of Terrane; `alone`: there is no reference that shows whether a second plan has changes.
pub fn check(before: &Value, step: &Step, ours: &Outcome, workspace: &Workspace, alone: bool) -> Option<Finding> {
    let answers = [Some(&ours.plan), ours.apply.as_ref(), ours.again.as_ref()];
    answers
        .into_iter()
        .flatten()
        .find_map(ends_well)
        .or_else(|| state_is_valid(before, &ours.state))
        .or_else(|| keys_are_closed(workspace))
        .or_else(|| {
            let done = ours.apply.as_ref().is_some_and(|apply| apply.code == Some(0));
            done.then(|| applied(step, ours, workspace, alone)).flatten()
        })
        .or_else(|| schedules_agree(step, ours, workspace, alone))
}

/// Exit codes are the documented ones; a failure has a diagnostic.
fn ends_well(answer: &Answer) -> Option<Finding> {
    let fine = match answer.code {
        Some(0 | 2) => answer.errors().next().is_none(),
        Some(1) => answer.errors().next().is_some() || !answer.err.is_empty(),
        _ => false,
    };
    let panicked = answer.err.contains("panicked at");
    (!fine || panicked).then(|| Finding::new("own: end", format!("{}\n{}", answer.display(), answer.out)))
}

/// Each key that was opened is closed, also if the command failed.
fn keys_are_closed(workspace: &Workspace) -> Option<Finding> {
    let log = workspace.log();
    let sorted = |start: &str| {
        let mut names: Vec<&str> = log.iter().filter_map(|line| line.strip_prefix(start)).collect();
        names.sort_unstable();
        names
    };
    (sorted("open ") != sorted("close ")).then(|| Finding::new("own: open keys", log.join("\n")))
}

fn state_is_valid(before: &Value, after: &Value) -> Option<Finding> {
    let invalid = |why: String| Some(Finding::new("own: state", format!("{why}\n{after}")));
    if after.is_null() {
        return None;
    }
    if after["version"] != 4 {
        return invalid("not a state file of version 4".to_owned());
    }
    let serial = |state: &Value| state["serial"].as_u64().unwrap_or_default();
    if serial(after) < serial(before) {
        return invalid("the serial went back".to_owned());
    }
    if !before.is_null() && before["lineage"] != after["lineage"] {
        return invalid("the lineage changed".to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    for resource in elements(&after["resources"]) {
        for instance in elements(&resource["instances"]) {
            let parts = ["module", "mode", "type", "name"].map(|name| resource[name].to_string());
            if !seen.insert((parts, instance["index_key"].to_string(), instance["deposed"].to_string())) {
                return invalid(format!("twice: {resource}"));
            }
        }
    }
    None
}

/// After an apply that succeeded: nothing is unknown, the plan is what was done, and nothing is left to do.
fn applied(step: &Step, ours: &Outcome, workspace: &Workspace, alone: bool) -> Option<Finding> {
    for resource in elements(&ours.state["resources"]).filter(|r| r["mode"] == "managed") {
        for instance in elements(&resource["instances"]) {
            let (kind, attributes) = (&resource["type"], &instance["attributes"]);
            let settled = !attributes["id"].is_null()
                && (kind != "terraform_data"
                    || attributes["output"] == attributes["input"]
                    || difference(&attributes["output"], &attributes["input"]).is_none());
            let imported = attributes["id"].as_str().is_some_and(|id| id.starts_with("imported"));
            if !settled && !imported {
                return Some(Finding::new("own: not settled", format!("{resource}")));
            }
        }
    }
    let planned = planned_values_hold(ours);
    if planned.is_some() || !alone || !step.is_whole() {
        return planned;
    }
    let again = ours.again.as_ref()?;
    let text = || workspace.ids.text(&format!("{}\n{}", again.display(), changes(&ours.shown_again)));
    // An import block of an object that was in the state, and is gone now, is an error from here on.
    let is_of_import = again.errors().any(|e| e.summary == "Configuration for import target does not exist");
    let is_settled = again.code == Some(0) || is_of_import || only_reads(&ours.shown_again);
    (!is_settled).then(|| Finding::new("own: second plan", text()))
}

/// Returns true for plans that change nothing but read what a check could not read before, as the reference does.
fn only_reads(plan: &Value) -> bool {
    let mut changes = elements(&plan["resource_changes"]).filter(|c| c["change"]["actions"][0] != "no-op");
    let mut outputs = plan["output_changes"].as_object().into_iter().flatten();
    plan["resource_changes"].is_array()
        && changes.all(|c| c["change"]["actions"][0] == "read")
        && outputs.all(|(_, change)| change["actions"][0] == "no-op")
}

/// Returns the changes in a plan that are not no-op, for reports.
fn changes(plan: &Value) -> String {
    let resources = elements(&plan["resource_changes"]).filter(|c| c["change"]["actions"][0] != "no-op");
    let outputs = plan["output_changes"].as_object().into_iter().flatten();
    let outputs = outputs.filter(|(_, change)| change["actions"][0] != "no-op");
    let lines = resources.map(Value::to_string).chain(outputs.map(|(name, change)| format!("{name}: {change}")));
    lines.collect::<Vec<_>>().join("\n")
}

/// What the plan said of root outputs is what the state has.
fn planned_values_hold(ours: &Outcome) -> Option<Finding> {
    let outputs = ours.shown["planned_values"]["outputs"].as_object()?;
    for (name, output) in outputs {
        let (Some(planned), stored) = (output.get("value"), &ours.state["outputs"][name]["value"]) else { continue };
        if let Some(found) = difference(planned, stored) {
            let text = format!("output {name}{}: planned {}, stored {}", found.path, found.ours, found.theirs);
            return Some(Finding::new("own: outputs", text));
        }
    }
    None
}

/// Plans at any parallelism are equal.
fn schedules_agree(step: &Step, ours: &Outcome, workspace: &Workspace, alone: bool) -> Option<Finding> {
    // A plan of the state after, since the state before is gone.
    let again = ours.again.as_ref().filter(|_| alone && step.tamper.is_some() | step.note.len().is_multiple_of(3))?;
    let _ = std::fs::remove_file(workspace.folder.join("p3"));
    let other = workspace.run(&["plan", "-json", "-detailed-exitcode", "-out=p3", "-parallelism=1"]);
    if again.code != other.code || again.diagnostics != other.diagnostics {
        let report = format!("{}\nwith -parallelism=1:\n{}", again.display(), other.display());
        return Some(Finding::new("own: parallelism", report));
    }
    let other = if other.code == Some(0) { Value::Null } else { shown(workspace, "p3") };
    let found = difference(&workspace.ids.plan(&ours.shown_again), &workspace.ids.plan(&other))?;
    Some(Finding::new("own: parallelism", format!("{}: {} or {}", found.path, found.ours, found.theirs)))
}
