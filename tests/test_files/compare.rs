//! What a program did with a case, compared with what the model predicts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::case::{Case, Run, TEST_FILE, Word};
use super::order::{Kept, Prediction, Reason, Status};

/// What `test -json` left behind.
pub struct Answer {
    pub code: Option<i32>,
    /// The lines of the stream.
    pub events: Vec<Value>,
    /// The lines of the provisioners.
    pub log: Vec<String>,
    /// `.terraform/test/manifest.json`.
    pub manifest: Option<Value>,
    /// By state key, the addresses in the states that the manifest names.
    pub kept: BTreeMap<String, BTreeSet<String>>,
}

impl Answer {
    fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// The runs with events of this progress, each once, in order.
    fn runs<'a>(&'a self, progress: &'a str) -> Vec<&'a Value> {
        let all = self.of_type("test_run").map(|event| &event["test_run"]);
        let mut runs: Vec<&Value> = Vec::new();
        for run in all.filter(|run| run["progress"] == progress) {
            if !runs.iter().any(|other| other["run"] == run["run"]) {
                runs.push(run);
            }
        }
        runs
    }

    /// The summaries of errors and warnings, for people.
    pub fn diagnostics(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let line = |event: &Value| {
            let (run, diagnostic) = (text(&event["@testrun"]), &event["diagnostic"]);
            format!(
                "{run}: {}: {}: {}\n",
                text(&diagnostic["severity"]),
                text(&diagnostic["summary"]),
                text(&diagnostic["detail"])
            )
        };
        self.of_type("diagnostic").map(line).collect()
    }
}

/// The name of a run, by index.
fn name(run: usize) -> String {
    format!("r{run}")
}

/// All that is not as predicted.
pub fn complaints(case: &Case, prediction: &Prediction, answer: &Answer) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut check = |what: &str, predicted: String, seen: String| {
        if predicted != seen {
            complaints.push(format!("{what}: predicted {predicted}, but it is {seen}"));
        }
    };
    let statuses: BTreeMap<String, &str> =
        prediction.statuses.iter().enumerate().map(|(n, status)| (name(n), status.word())).collect();
    let text = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
    let seen: BTreeMap<String, String> =
        answer.runs("complete").into_iter().map(|run| (text(&run["run"]), text(&run["status"]))).collect();
    check("runs", format!("{statuses:?}"), format!("{seen:?}"));
    let file = answer.of_type("test_file").find(|event| event["test_file"]["progress"] == "complete");
    let file = file.map_or("nothing".to_owned(), |event| text(&event["test_file"]["status"]));
    check("file", prediction.file.word().to_owned(), file);
    let code = if prediction.file == Status::Pass { 0 } else { 1 };
    check("exit code", format!("{:?}", Some(code)), format!("{:?}", answer.code));
    check("summary", predicted_summary(prediction), summary(answer));
    let (mut predicted, mut seen): (Vec<String>, Vec<String>) = (
        prediction.teardown.iter().map(|run| name(*run)).collect(),
        answer.runs("teardown").into_iter().map(|run| text(&run["run"])).collect(),
    );
    if case.is_newer {
        // States that go back to what they are already need no teardown, and the order is that of the events.
        let is_restored = |run: usize| case.runs[run].skip_cleanup == Some(true);
        let restored: Vec<String> = (0..case.runs.len()).filter(|run| is_restored(*run)).map(name).collect();
        for list in [&mut predicted, &mut seen] {
            list.retain(|run| !restored.contains(run));
            list.sort();
        }
    }
    check("teardown", format!("{predicted:?}"), format!("{seen:?}"));
    check("left", format!("{:?}", predicted_rest(prediction)), format!("{:?}", rest(answer)));
    complaints.extend(log_complaints(prediction, &answer.log));
    if case.is_newer {
        complaints.extend(manifest_complaints(case, prediction, answer));
    }
    complaints
}

fn predicted_summary(prediction: &Prediction) -> String {
    let count = |status| prediction.statuses.iter().filter(|other| **other == status).count();
    let (passed, failed) = (count(Status::Pass), count(Status::Fail));
    let (errored, skipped) = (count(Status::Error), count(Status::Skip));
    format!("{} {passed} {failed} {errored} {skipped}", prediction.file.word())
}

fn summary(answer: &Answer) -> String {
    let Some(event) = answer.of_type("test_summary").next() else { return "nothing".to_owned() };
    let summary = &event["test_summary"];
    let counts = ["passed", "failed", "errored", "skipped"].map(|name| summary[name].to_string());
    format!("{} {}", summary["status"].as_str().unwrap_or_default(), counts.join(" "))
}

/// What the report names as left, by run.
type Rest = BTreeMap<String, BTreeSet<String>>;

fn predicted_rest(prediction: &Prediction) -> Rest {
    let line = |kept: &Kept| {
        // What could not be brought back is not there because it was asked for.
        let kind = if kept.reason == Reason::Skip { "skipped" } else { "failed" };
        (format!("{} {kind}", name(kept.run)), kept.objects.keys().cloned().collect())
    };
    prediction.kept.values().map(line).collect()
}

fn rest(answer: &Answer) -> Rest {
    let mut rest = Rest::new();
    for event in answer.of_type("test_cleanup") {
        for kind in ["failed", "skipped"] {
            let list = event["test_cleanup"][&*format!("{kind}_resources")].as_array();
            for resource in list.into_iter().flatten() {
                let run = format!("{} {kind}", event["@testrun"].as_str().unwrap_or_default());
                rest.entry(run).or_default().insert(resource["instance"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    rest
}

/// Lines that are missing or too many, and lines before those that they have to follow.
fn log_complaints(prediction: &Prediction, log: &[String]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in log.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    let mut complaints = Vec::new();
    if log.len() != prediction.events.len() {
        complaints.push(format!("log: predicted {} lines, but it has {}", prediction.events.len(), log.len()));
    }
    // Equal lines are about one object, whose events have one order.
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<Option<usize>> = Vec::new();
    for event in &prediction.events {
        let number = used.entry(&event.line).or_default();
        let at = places.get(&*event.line).and_then(|places| places.get(*number)).copied();
        *number += 1;
        if at.is_none() {
            complaints.push(format!("log: there is no {:?} number {number}", event.line));
        }
        found.push(at);
    }
    for (event, at) in prediction.events.iter().zip(&found) {
        for before in &event.after {
            if found[*before].zip(*at).is_some_and(|(before, at)| before > at) {
                complaints.push(format!("log: {:?} has to follow {:?}", event.line, prediction.events[*before].line));
            }
        }
    }
    complaints
}

/// The states that the manifest has. Other states of the file are kept beside those with objects, if a run wrote them.
fn manifest_complaints(case: &Case, prediction: &Prediction, answer: &Answer) -> Vec<String> {
    let keys: BTreeSet<Word> = case.runs.iter().map(Run::key).collect();
    let mut complaints = Vec::new();
    let none = serde_json::Map::new();
    let states = answer.manifest.as_ref().and_then(|manifest| manifest["files"][TEST_FILE]["states"].as_object());
    let states = states.unwrap_or(&none);
    for key in keys {
        let reason = states.get(key).map(|state| state["reason"].as_str().unwrap_or("no reason"));
        let predicted = match prediction.kept.get(key).map(|kept| kept.reason) {
            Some(Reason::Skip) => Some("skip_cleanup"),
            Some(Reason::Error) => Some("error"),
            None if prediction.kept.is_empty() => None,
            None => Some("dependency"),
        };
        // States without outputs have nothing to be kept for.
        let is_optional = predicted == Some("dependency") && !prediction.with_outputs.contains(key);
        if reason != predicted && !(is_optional && reason.is_none()) {
            complaints.push(format!("manifest: predicted {predicted:?} for {key:?}, but it is {reason:?}"));
        }
        let predicted: BTreeSet<String> =
            prediction.kept.get(key).map(|kept| kept.objects.keys().cloned().collect()).unwrap_or_default();
        let seen = answer.kept.get(key).cloned().unwrap_or_default();
        if predicted != seen {
            complaints.push(format!("kept state {key:?}: predicted {predicted:?}, but it is {seen:?}"));
        }
    }
    complaints
}
