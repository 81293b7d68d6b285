//! The order of requests in an apply: what refers to another object is created after it, and destroyed before it.
//!
//! What refers to what is taken from the states before and after. They do not say which instances are meant, so objects of blocks
//! with more of them are left out; and between objects of different provider configurations orders may have to be given up. Nor do
//! they say where an object was before it moved, and what a plan to destroy refreshes may no longer depend on what the state names.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::life::{Outcome, Ran};
use crate::model::normal::elements;
use crate::model::session::Finding;
use crate::model::step::Step;

/// An object of a state: its provider configuration, its module, the address of its block, and the addresses that it depends on.
struct Stored {
    provider: String,
    module: String,
    address: String,
    dependencies: Vec<String>,
}

/// When the work on an object began and ended, as lines of the log.
struct Span {
    begins: usize,
    ends: usize,
}

/// `is_settled`: the state before the step names just what the objects depend on.
pub fn check(outcome: &Outcome, step: &Step, is_settled: bool) -> Option<Finding> {
    let (mut before, after) = (objects(&outcome.before), objects(&outcome.after));
    let moved = moved(outcome);
    before.retain(|_, stored| !moved.contains(&stored.address));
    if step.has("-destroy") && !(is_settled && step.note.is_empty()) {
        before.clear();
    }
    for ran in outcome.commands.iter().filter(|ran| ran.command != "plan") {
        let (made, gone) = (spans(ran, &["create", "update"]), spans(ran, &["delete"]));
        let found = pairs(&after, &made).find(|(user, used)| made[*used].ends > made[*user].begins);
        let found = found.map(|pair| ("is made before what it refers to", pair));
        let destroyed = || {
            let found = pairs(&before, &gone).find(|(user, used)| gone[*user].ends > gone[*used].begins);
            found.map(|pair| ("is destroyed after what it refers to", pair))
        };
        if let Some((what, (user, used))) = found.or_else(destroyed) {
            let log: Vec<String> = ran.requests.iter().map(Value::to_string).collect();
            let report = format!("{user} {what}, {used}\n{}\n", log.join("\n"));
            return Some(Finding::new(format!("{}: order: {what}", ran.command), report));
        }
    }
    None
}

/// The addresses of blocks whose objects are moved in the step.
fn moved(outcome: &Outcome) -> HashSet<String> {
    let lines = outcome.commands.iter().flat_map(|ran| ran.answer.out.lines());
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let change = |event: &Value| event["change"]["previous_resource"]["addr"].as_str().map(strip_keys);
    events.filter_map(|event| change(&event)).collect()
}

impl Stored {
    fn depends_on(&self, other: &Stored) -> bool {
        let is_beside = self.module != other.module && strip_keys(&self.module) == strip_keys(&other.module);
        self.dependencies.contains(&other.address) && self.provider == other.provider && !is_beside
    }
}

/// Pairs of objects by ID, of which the first depends on the second.
fn pairs<'a>(
    objects: &'a BTreeMap<String, Stored>,
    spans: &'a BTreeMap<String, Span>,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    let known = || objects.iter().filter(|(id, _)| spans.contains_key(*id));
    known().flat_map(move |(user, stored)| {
        let is_alone = |used: &Stored| objects.values().filter(|other| other.address == used.address).count() == 1;
        let used = known().filter(move |(_, other)| stored.depends_on(other) && is_alone(other));
        used.map(move |(used, _)| (user, used))
    })
}

/// The objects of a state file, by ID.
fn objects(state: &Value) -> BTreeMap<String, Stored> {
    let mut found = BTreeMap::new();
    for resource in elements(&state["resources"]).filter(|resource| resource["mode"] == "managed") {
        let text = |name: &str| resource[name].as_str().unwrap_or_default();
        // Dependencies name resources of modules without the keys of the modules' instances.
        let module: String = strip_keys(text("module"));
        let prefix = if module.is_empty() { String::new() } else { format!("{module}.") };
        let address = format!("{prefix}{}.{}", text("type"), text("name"));
        for instance in elements(&resource["instances"]) {
            let dependencies =
                elements(&instance["dependencies"]).map(|at| at.as_str().unwrap_or_default().to_owned()).collect();
            let id = instance["attributes"]["id"].as_str().unwrap_or_default();
            let stored = Stored {
                provider: text("provider").to_owned(),
                module: text("module").to_owned(),
                address: address.clone(),
                dependencies,
            };
            found.insert(id.to_owned(), stored);
        }
    }
    found
}

fn strip_keys(module: &str) -> String {
    let (mut out, mut depth) = (String::new(), 0);
    for c in module.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// The spans of the finished requests with these verbs, by the ID of the object.
fn spans(ran: &Ran, verbs: &[&str]) -> BTreeMap<String, Span> {
    let mut found = BTreeMap::new();
    for (ends, end) in ran.requests.iter().enumerate() {
        let call = end["call"].as_str().unwrap_or_default();
        let Some(verb) = call.strip_suffix(" ends").filter(|verb| verbs.contains(verb)) else { continue };
        let is_begin = |request: &Value| {
            request["call"] == format!("{verb} begins")
                && request["name"] == end["name"]
                && request["type"] == end["type"]
        };
        let Some(begins) = ran.requests[..ends].iter().rposition(is_begin) else { continue };
        found.insert(end["id"].as_str().unwrap_or_default().to_owned(), Span { begins, ends });
    }
    found
}
