//! The messages of a query about policies: one for each list, at the end of the query.

use std::collections::BTreeMap;

use model::plan::{ListPolicies, ObjectPolicies, PolicyOutcome};
use serde_json::{Map, Value as Json, json};
use terrane_value::Value;

use super::message::Message;
use super::policies::{finding_json, metadata};

/// The results of all objects of a list.
pub fn summary(list: &ListPolicies) -> Message {
    let outcomes = list.objects.iter().flat_map(|object| &object.report.outcomes);
    // All that were evaluated, also those that deny: Terraform means this by the name.
    let policies: BTreeMap<(&str, String), Map<String, Json>> =
        outcomes.map(|outcome| ((outcome.policy.as_str(), outcome.id()), metadata(outcome, None))).collect();
    let members = json!({
        "@policy": "true",
        "list_block_address": list.list.to_string(),
        "overall_result": list.verdict().query_name(),
        "results": list.objects.iter().map(object_json).collect::<Vec<Json>>(),
        "passed_policies": policies.into_values().collect::<Vec<_>>(),
    });
    Message::new("policy_query_summary", "Policy query summary", members)
}

fn object_json(object: &ObjectPolicies) -> Json {
    let report = &object.report;
    let policy_json = |outcome: &PolicyOutcome| {
        let diagnostics: Vec<Json> =
            outcome.findings.iter().map(|finding| finding_json(report, finding).into()).collect();
        json!({
            "policy_metadata": metadata(outcome, None),
            "diagnostics": diagnostics,
            "result": outcome.verdict.query_name(),
        })
    };
    let mut outcomes: Vec<&PolicyOutcome> = report.outcomes.iter().collect();
    outcomes.sort_by(|a, b| a.policy.cmp(&b.policy));
    let policies: Vec<Json> = outcomes.into_iter().map(policy_json).collect();
    let mut members = Map::new();
    let identity = identity(&object.identity);
    if !identity.is_empty() {
        members.insert("identity".into(), identity.into());
    }
    members.insert("target_address".into(), report.target.as_str().into());
    members.insert("result".into(), object.verdict().query_name().into());
    members.insert("policies".into(), policies.into());
    members.into()
}

/// The attributes of an identity that are strings: programs expect no others here.
fn identity(identity: &Value) -> Map<String, Json> {
    let attributes = identity.entries();
    attributes.iter().filter_map(|(name, value)| Some((name.to_string(), Json::from(value.as_str()?)))).collect()
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostic;
    use base::dialect::Dialect;
    use base::source::{SourceFile, Span};
    use model::addr::{InstanceKey, ModuleInstance, Resource};
    use model::config::policy_file::PolicyLevel;
    use model::plan::{PolicyFinding, PolicyReport, PolicyVerdict};
    use terrane_protocol::schema::ResourceMode;

    use super::*;

    #[test]
    fn a_list_has_the_results_of_its_objects() {
        let file = SourceFile::new("p/a.policy.hcl", "x");
        let range = || Span::new(0, 1).in_file(&file);
        let outcome = |name: &str, verdict: PolicyVerdict| {
            let finding =
                PolicyFinding { diagnostic: Diagnostic::error("S", "D").at(range()), enforce: Some(0), verdict };
            PolicyOutcome {
                policy: format!("resource_policy.t.{name}"),
                range: range(),
                level: PolicyLevel::Mandatory,
                verdict,
                infos: Vec::new(),
                findings: if verdict == PolicyVerdict::Allow { Vec::new() } else { vec![finding] },
            }
        };
        let object = |identity: Value, outcomes: Vec<PolicyOutcome>| {
            let report = PolicyReport { target: "t.a_0".to_owned(), place: None, outcomes };
            ObjectPolicies { identity, report }
        };
        let list = Resource { mode: ResourceMode::List, kind: "t".into(), name: "a".into() };
        let list = list.absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let objects = vec![
            object(
                Value::object([("id", Value::string("i")), ("n", Value::int(1))]),
                vec![outcome("b", PolicyVerdict::Deny), outcome("a", PolicyVerdict::Allow)],
            ),
            object(Value::object([("n", Value::int(2))]), Vec::new()),
        ];
        let line = summary(&ListPolicies { list, objects }).line(Dialect::default(), "T");
        let line: Json = serde_json::from_str(&line).unwrap();
        assert_eq!(line["type"], "policy_query_summary");
        assert_eq!((&line["@policy"], &line["list_block_address"]), (&json!("true"), &json!("list.t.a")));
        assert_eq!(line["overall_result"], "fail");
        let results = &line["results"];
        assert_eq!((&results[0]["identity"], &results[0]["result"]), (&json!({ "id": "i" }), &json!("fail")));
        assert_eq!(results[0]["target_address"], "t.a_0");
        let policies = &results[0]["policies"];
        let names = [0, 1].map(|index| policies[index]["policy_metadata"]["policy_name"].clone());
        assert_eq!(names, ["resource_policy.t.a", "resource_policy.t.b"]);
        assert_eq!(
            policies[0],
            json!({
                "policy_metadata": policies[0]["policy_metadata"], "diagnostics": [], "result": "pass",
            })
        );
        assert_eq!(policies[1]["diagnostics"][0]["policy_range"]["filename"], "p/a.policy.hcl");
        assert_eq!(results[1], json!({ "target_address": "t.a_0", "result": "pass", "policies": [] }));
        let evaluated: Vec<&Json> =
            line["passed_policies"].as_array().unwrap().iter().map(|policy| &policy["policy_name"]).collect();
        assert_eq!(evaluated, ["resource_policy.t.a", "resource_policy.t.b"]);
    }
}
