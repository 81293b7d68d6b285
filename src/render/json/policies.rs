//! The messages of the JSON streams about policies: what they say, what they find, and their results.

use std::path::Path;

use base::diag::Diagnostic;
use base::source::Range;
use model::plan::{PolicyFinding, PolicyInfo, PolicyOutcome, PolicyReport, PolicyVerdict};
use serde_json::{Map, Value as Json, json};

use super::diagnostic::diagnostic_json;
use super::message::Message;

const INFO: &str = "Policy info";

/// All messages about the policies of one object: for each policy its infos, its findings, its result.
pub fn messages(report: &PolicyReport) -> Vec<Message> {
    let mut messages = Vec::new();
    for outcome in &report.outcomes {
        messages.extend(outcome.infos.iter().map(|info| info_message(report, outcome, info)));
        messages.extend(outcome.findings.iter().map(|finding| finding_message(report, outcome, finding)));
        messages.push(result_message(report, outcome));
    }
    messages
}

fn info_message(report: &PolicyReport, outcome: &PolicyOutcome, info: &PolicyInfo) -> Message {
    let mut document = Map::new();
    document.insert("message".into(), info.message.as_str().into());
    add_place(&mut document, ["policy_range", "policy_snippet"], Some(&info.range));
    add_place(&mut document, ["range", "snippet"], report.place.as_ref());
    let mut members = members(report, outcome, Some(info.enforce), info.verdict);
    members.insert("policy_info".into(), document.into());
    Message::new("policy_info", INFO, members.into())
}

fn finding_message(report: &PolicyReport, outcome: &PolicyOutcome, finding: &PolicyFinding) -> Message {
    let diagnostic = &finding.diagnostic;
    let mut members = members(report, outcome, finding.enforce, finding.verdict);
    members.insert("policy_diagnostic".into(), finding_json(report, finding).into());
    let (level, word) = if diagnostic.is_error() { ("error", "Error") } else { ("warn", "Warning") };
    Message::new("policy_diagnostic", format!("{word}: {}", diagnostic.summary), members.into()).at_level(level)
}

/// What a policy found, as diagnostics are written, with the place of the object beside that in the policy.
pub(super) fn finding_json(report: &PolicyReport, finding: &PolicyFinding) -> Map<String, Json> {
    let mut document = match serde_json::to_value(diagnostic_json(&finding.diagnostic)) {
        Ok(Json::Object(document)) => document,
        _ => Map::new(),
    };
    // The place of a diagnostic is in the configuration; that of its policy stands beside it.
    for (own, of_policy) in [("range", "policy_range"), ("snippet", "policy_snippet")] {
        if let Some(place) = document.remove(own) {
            document.insert(of_policy.into(), place);
        }
    }
    add_place(&mut document, ["range", "snippet"], report.place.as_ref());
    document
}

fn result_message(report: &PolicyReport, outcome: &PolicyOutcome) -> Message {
    let mut members = members(report, outcome, None, outcome.verdict);
    members.insert("policy_address".into(), outcome.policy.as_str().into());
    Message::new("policy_result", "Policy Result", members.into())
}

/// What all messages have.
fn members(
    report: &PolicyReport,
    outcome: &PolicyOutcome,
    enforce: Option<usize>,
    verdict: PolicyVerdict,
) -> Map<String, Json> {
    let mut members = Map::new();
    members.insert("@policy".into(), "true".into());
    members.insert("policy_metadata".into(), metadata(outcome, enforce).into());
    members.insert("result".into(), verdict.json_name().into());
    members.insert("target_address".into(), report.target.as_str().into());
    members
}

/// Which policy it is; `enforce`: which of its blocks.
pub(super) fn metadata(outcome: &PolicyOutcome, enforce: Option<usize>) -> Map<String, Json> {
    let path = Path::new(outcome.range.filename());
    let folder = path.parent().map(|folder| folder.display().to_string()).filter(|folder| !folder.is_empty());
    let file = path.file_name().map(|name| name.display().to_string()).unwrap_or_default();
    let mut metadata = Map::new();
    metadata.insert("policy_set_path".into(), folder.unwrap_or_else(|| ".".to_owned()).into());
    metadata.insert("policy_name".into(), outcome.policy.as_str().into());
    metadata.insert("file_name".into(), file.into());
    metadata.insert("enforcement_level".into(), outcome.level.name().into());
    metadata.extend(enforce.map(|enforce| ("enforce_index".to_owned(), json!(enforce))));
    metadata
}

/// Adds a place as diagnostics have it: where it is, and its lines.
fn add_place(document: &mut Map<String, Json>, names: [&str; 2], place: Option<&Range>) {
    let Some(place) = place else { return };
    let here = Diagnostic::warning(INFO, "").at(place.clone());
    let Ok(Json::Object(mut found)) = serde_json::to_value(diagnostic_json(&here)) else { return };
    for (from, to) in ["range", "snippet"].into_iter().zip(names) {
        document.extend(found.remove(from).map(|value| (to.to_owned(), value)));
    }
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;
    use base::source::{SourceFile, Span};
    use model::config::policy_file::PolicyLevel;

    use super::*;

    fn lines(report: &PolicyReport) -> Vec<Json> {
        let lines = messages(report).into_iter().map(|message| message.line(Dialect::default(), "T"));
        lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
    }

    #[test]
    fn a_violation_has_both_places() {
        let policy = SourceFile::new("rules/a.policy.hcl", "resource_policy \"t\" \"p\" {\n  x\n}\n");
        let main = SourceFile::new("main.tf", "resource \"t\" \"a\" {}\n");
        let (condition, place) = (Span::new(28, 29).in_file(&policy), Span::new(0, 16).in_file(&main));
        let info =
            PolicyInfo { message: "I".to_owned(), range: condition.clone(), enforce: 1, verdict: PolicyVerdict::Deny };
        let diagnostic = Diagnostic::error("Policy violation", "D").at(condition).about("t.a");
        let finding = PolicyFinding { diagnostic, enforce: Some(1), verdict: PolicyVerdict::Deny };
        let outcome = PolicyOutcome {
            policy: "resource_policy.t.p".to_owned(),
            range: Span::new(0, 23).in_file(&policy),
            level: PolicyLevel::Mandatory,
            verdict: PolicyVerdict::Deny,
            infos: vec![info],
            findings: vec![finding],
        };
        let report = PolicyReport { target: "t.a".to_owned(), place: Some(place), outcomes: vec![outcome] };
        let lines = lines(&report);
        let of = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<Json>>();
        assert_eq!(of("type"), ["policy_info", "policy_diagnostic", "policy_result"]);
        assert_eq!(of("@level"), ["info", "error", "info"]);
        assert_eq!(of("@message"), ["Policy info", "Error: Policy violation", "Policy Result"]);
        assert!(of("result").iter().all(|result| result == "DenyResult"), "{lines:?}");
        assert!(of("@policy").iter().all(|it| it == "true") && of("target_address").iter().all(|it| it == "t.a"));
        let metadata = json!({
            "policy_set_path": "rules",
            "policy_name": "resource_policy.t.p",
            "file_name": "a.policy.hcl",
            "enforcement_level": "mandatory",
            "enforce_index": 1,
        });
        assert_eq!(lines[1]["policy_metadata"], metadata);
        assert_eq!(lines[2]["policy_metadata"]["enforce_index"], Json::Null);
        assert_eq!(lines[2]["policy_address"], "resource_policy.t.p");
        for document in [&lines[0]["policy_info"], &lines[1]["policy_diagnostic"]] {
            assert_eq!(document["range"]["filename"], "main.tf");
            assert_eq!(document["policy_range"]["filename"], "rules/a.policy.hcl");
            assert_eq!(document["policy_snippet"]["code"], "  x");
        }
    }
}
