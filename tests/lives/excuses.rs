//! Answers of the reference from which we differ on purpose; each has a line in docs/compatibility/.

use std::collections::HashSet;

use serde_json::Value;

use super::life::Outcome;
use crate::model::normal::elements;
use crate::model::step::Step;

/// Returns what is different on purpose, if the programs go different ways from here.
pub fn of(step: &Step, ours: &Outcome, theirs: &Outcome) -> Option<&'static str> {
    let says = |outcome: &Outcome, summary: &str| {
        outcome.commands.iter().flat_map(|ran| ran.answer.errors()).any(|error| error.summary.starts_with(summary))
    };
    let only_theirs = |summary: &str| says(theirs, summary) && !says(ours, summary);
    let no_block = "Configuration for import target does not exist";
    let others =
        ["Resource has no configuration", "Invalid import 'to' expression", "The target resource does not use"];
    if says(ours, no_block) && others.iter().any(|summary| only_theirs(summary)) {
        return Some("imports for resources without a block");
    }
    if only_theirs("Inconsistent dependency lock file") && says(ours, "Invalid import provider argument") {
        return Some("errors of the configuration that stand in one about the lock file");
    }
    if only_theirs("Cannot apply non-applyable plan") {
        return Some("refresh-only plans with nothing but outputs to come");
    }
    let applyable = |outcome: &Outcome| outcome.shown["applyable"] == true;
    let mut drift = elements(&theirs.shown["resource_drift"]);
    let is_moved = |change: &Value| change["change"]["actions"][0] == "no-op";
    if step.has("-refresh-only") && applyable(theirs) && !applyable(ours) && drift.all(is_moved) {
        return Some("refresh-only plans that change nothing");
    }
    // The reference sees a change where only the internal form of a number differs.
    if step.has("-refresh-only") && says(ours, "Cannot apply non-applyable plan") && theirs.is_good() {
        return Some("refresh-only plans that only remove outputs");
    }
    if moves_in_chain(step) && asked_to_move(ours) != asked_to_move(theirs) {
        return Some("changes of type in a chain of moves");
    }
    if only_theirs("Cycle:") {
        return Some("orders through provider configurations that close a circle");
    }
    if lacks_end(theirs) && !lacks_end(ours) {
        return Some("ends of two destructions at one address");
    }
    let (mine, other) = (changes_made(ours), changes_made(theirs));
    if step.is_targeted() && other.is_subset(&mine) && other.len() < mine.len() {
        return Some("planned changes that targets leave out");
    }
    None
}

/// What providers were asked about objects whose type changes.
fn asked_to_move(outcome: &Outcome) -> Vec<String> {
    let requests = outcome.commands.iter().flat_map(|ran| &ran.requests).filter(|request| request["call"] == "move");
    let mut found: Vec<String> = requests.map(|request| format!("{} {}", request["from"], request["type"])).collect();
    found.sort();
    found
}

/// Whether what one statement moves is moved on by another.
fn moves_in_chain(step: &Step) -> bool {
    let text = step.configuration.display();
    let ends = |name: &str| {
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix("= "));
        lines.map(str::to_owned).collect::<HashSet<_>>()
    };
    let (from, to) = (ends("from"), ends("to"));
    text.contains("moved {") && !from.is_disjoint(&to)
}

/// The changes that the step made: actions and addresses.
fn changes_made(outcome: &Outcome) -> HashSet<String> {
    events(outcome, "apply_complete").into_iter().collect()
}

/// Actions and addresses of the events of a type.
fn events(outcome: &Outcome, kind: &str) -> Vec<String> {
    let lines = outcome.commands.iter().flat_map(|ran| ran.answer.out.lines());
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let made = events.filter(|event| event["type"] == kind);
    made.map(|event| format!("{} {}", event["hook"]["action"], event["hook"]["resource"]["addr"])).collect()
}

/// Whether one of two objects of an instance that are destroyed at once has no event of its end: the reference keeps the progress
/// of both under one address.
fn lacks_end(outcome: &Outcome) -> bool {
    let (begun, mut ended) = (events(outcome, "apply_start"), events(outcome, "apply_complete"));
    ended.extend(events(outcome, "apply_errored"));
    let count = |list: &[String], of: &String| list.iter().filter(|other| *other == of).count();
    begun.iter().any(|of| of.starts_with("\"delete\"") && count(&begun, of) == 2 && count(&ended, of) == 1)
}
