//! What two programs did in a step, compared: exit codes, diagnostics, actions, requests to providers, plans and states.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::life::{Outcome, Ran};
use crate::model::normal::{Identifiers, difference};
use crate::model::program::{Answer, Workspace};
use crate::model::session::Finding;

/// What is compared without a second program: nothing may crash.
pub fn alone(ours: &Outcome) -> Option<Finding> {
    let crashed = |ran: &&Ran| !matches!(ran.answer.code, Some(0 | 1));
    let ran = ours.commands.iter().find(crashed)?;
    Some(Finding::new(format!("{}: exit code {:?}", ran.command, ran.answer.code), ran.answer.display()))
}

pub fn outcomes(ours: &Outcome, theirs: &Outcome, workspace: &Workspace) -> Option<Finding> {
    let pairs = ours.commands.iter().zip(&theirs.commands);
    for (ours, theirs) in pairs.clone() {
        if let Some(finding) = answers(ours, theirs) {
            return Some(finding);
        }
    }
    for (ours, theirs) in pairs {
        if let Some(finding) = requests(ours, theirs) {
            return Some(finding);
        }
    }
    if ours.commands.len() != theirs.commands.len() {
        return documents("plan", &ours.shown["applyable"], &theirs.shown["applyable"]);
    }
    let ids: &Identifiers = &workspace.ids;
    documents("plan", &ids.plan(&ours.shown), &ids.plan(&theirs.shown))
        .or_else(|| documents("state", &ids.state(&ours.after), &ids.state(&theirs.after)))
}

fn documents(what: &str, ours: &Value, theirs: &Value) -> Option<Finding> {
    let found = difference(ours, theirs)?;
    let report = format!("{what}: {}\nours: {}\nreference: {}\n", found.path, found.ours, found.theirs);
    Some(Finding::new(format!("{what}: {}", found.class()), report))
}

fn answers(ours: &Ran, theirs: &Ran) -> Option<Finding> {
    let what = ours.command;
    let report = || format!("ours: {}\nreference: {}", ours.answer.display(), theirs.answer.display());
    let (mine, other) = (summaries(&ours.answer), summaries(&theirs.answer));
    let odd = || mine.iter().find(|d| !other.contains(d)).or_else(|| other.iter().find(|d| !mine.contains(d)));
    if ours.answer.code != theirs.answer.code {
        return Some(Finding::new(format!("{what}: exit code: {:?}", odd()), report()));
    }
    if mine != other {
        return Some(Finding::new(format!("{what}: diagnostics: {:?}", odd()), report()));
    }
    let (mine, other) = (events(&ours.answer), events(&theirs.answer));
    let only = lacking(&mine, &other).map(|event| format!("only ours: {event}"));
    let only = only.or_else(|| lacking(&other, &mine).map(|event| format!("only the reference: {event}")))?;
    let class = format!("{what}: event: {}", only.split(' ').take(4).collect::<Vec<_>>().join(" "));
    Some(Finding::new(class, format!("{only}\n{}", report())))
}

/// Severities and summaries, each once.
fn summaries(answer: &Answer) -> Vec<(String, String)> {
    let brief = |summary: &str| {
        // The order of members of a cycle is random.
        let starts = ["Cycle:", "missing provider "];
        starts.into_iter().find(|start| summary.starts_with(start)).unwrap_or(summary).to_owned()
    };
    let overrides = "Provider development overrides are in effect";
    // What the two say of providers that are passed on, where one is wrong or a module has errors: docs/compatibility/installation.md.
    let passed = ["Provider type mismatch", "Reference to undefined provider"];
    let is_counted = |summary: &str| summary != overrides && (answer.code == Some(0) || !passed.contains(&summary));
    let counted = answer.diagnostics.iter().filter(|d| is_counted(&d.summary));
    let mut list: Vec<_> = counted.map(|d| (d.severity.clone(), brief(&d.summary))).collect();
    list.sort();
    list.dedup();
    list
}

/// The changes that were planned and made, as `TYPE ACTION ADDRESS REASON`.
fn events(answer: &Answer) -> Vec<String> {
    let lines = answer.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut list = Vec::new();
    for line in lines {
        let kind = text(&line["type"]);
        match kind.as_str() {
            "planned_change" | "resource_drift" => {
                let change = &line["change"];
                let (action, reason) = (text(&change["action"]), text(&change["reason"]));
                let previous = text(&change["previous_resource"]["addr"]);
                list.push(format!("{kind} {action} {} {reason} {previous}", text(&change["resource"]["addr"])));
            }
            "apply_start" | "apply_complete" | "apply_errored" => {
                let hook = &line["hook"];
                list.push(format!("{kind} {} {}", text(&hook["action"]), text(&hook["resource"]["addr"])));
            }
            "change_summary" | "outputs" => {
                let mut content = line["changes"].clone();
                if kind == "outputs" {
                    content = line["outputs"].clone();
                }
                list.push(format!("{kind} - {content}"));
            }
            _ => {}
        }
    }
    list.sort();
    list
}

/// The first element that one list has more often than the other.
fn lacking<'l>(list: &'l [String], other: &[String]) -> Option<&'l String> {
    let count = |list: &[String]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        list.iter().for_each(|text| *counts.entry(text.clone()).or_default() += 1);
        counts
    };
    let (own, other) = (count(list), count(other));
    list.iter().find(|text| own[*text] > other.get(*text).copied().unwrap_or_default())
}

/// Compares what the providers were configured with and asked, in any order.
fn requests(ours: &Ran, theirs: &Ran) -> Option<Finding> {
    let is_for_providers = |request: &Value| ["configure", "open", "close"].iter().any(|call| request["call"] == *call);
    let list = |ran: &Ran, is_configure: bool| {
        // After an error the reference leaves ephemeral objects open where what uses them did not run.
        let may_be_open = ran.answer.code != Some(0);
        let wanted = ran.requests.iter().filter(|request| is_for_providers(request) == is_configure);
        let wanted = wanted.filter(|request| !may_be_open || request["call"] != "close");
        let mut list: Vec<String> = wanted.map(brief).collect();
        list.sort();
        list
    };
    for is_configure in [true, false] {
        let (mut mine, mut other) = (list(ours, is_configure), list(theirs, is_configure));
        if is_configure {
            // A process serves the apply that was configured for the plan, and providers that no change uses are not configured,
            // nor is what only they need opened: how often is not compared, and what only the reference asks for does no harm.
            mine.dedup();
            other.dedup();
        }
        let found = lacking(&mine, &other).map(|request| ("only ours", request));
        let lacks = || lacking(&other, &mine).filter(|_| !is_configure).map(|request| ("only the reference", request));
        let found = found.or_else(lacks);
        if let Some((whose, request)) = found {
            let call = request.split(' ').next().unwrap_or_default();
            let class = format!("{}: request {call}: {whose}", ours.command);
            let report = format!(
                "{whose}: {request}\nours:\n{}\nreference:\n{}\n{}",
                mine.join("\n"),
                other.join("\n"),
                ours.answer.display()
            );
            return Some(Finding::new(class, report));
        }
    }
    None
}

/// A request as one line: the call, the provider, and the rest.
fn brief(request: &Value) -> String {
    let text = |name: &str| request[name].as_str().unwrap_or_default().replace(' ', "-");
    let mut rest = request.clone();
    if let Some(map) = rest.as_object_mut() {
        map.retain(|name, _| !["call", "provider"].contains(&name.as_str()));
        map.sort_keys();
    }
    let rest = if rest == json!({}) { String::new() } else { rest.to_string() };
    format!("{} {} {rest}", text("call"), text("provider"))
}
