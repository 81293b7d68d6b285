//! Policies of queries: for the objects of lists, and for the providers that list them.

use std::sync::Arc;

use base::source::SourceFile;
use model::config::policy_file::{GivenInputs, PolicySet};

use super::lister::Lister;
use super::lists::{config, query_with};
use super::schedule::Schedule;

const ALL: &str =
    "list \"test_thing\" \"a\" {\n provider = test\n include_resource = true\n config {\n prefix = \"n\"\n }\n}\n";

/// Of each list its result, and of each object its address, its identity and its result; then the diagnostics.
async fn judged(text: &str, by_provider: bool, policy: &str) -> (Vec<String>, Vec<String>) {
    let (set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", policy)], GivenInputs::new());
    assert!(!found.has_errors(), "{policy}: {found:?}");
    let lister = Lister::new(Schedule::default(), by_provider);
    let (_, found) = query_with(&lister, config("", text), false, Arc::new(set)).await;
    let mut lines = Vec::new();
    for list in lister.policies.lock().expect("no test panics with the lock").iter() {
        lines.push(format!("{}: {}", list.list, list.verdict().query_name()));
        for object in &list.objects {
            let name = object.identity.get("name").and_then(|name| name.as_str()).unwrap_or("?");
            lines.push(format!("{} {name}: {}", object.report.target, object.verdict().query_name()));
        }
    }
    (lines, found)
}

fn rule(condition: &str) -> String {
    format!("resource_policy \"test_thing\" \"n\" {{\n  enforce {{\n    condition = {condition}\n  }}\n}}\n")
}

#[tokio::test]
async fn violations_are_results_of_the_objects() {
    let cases = [
        (false, rule("attrs.size < 1"), ["fail", "pass", "fail"]),
        (false, rule("attrs.name == \"n0\" || attrs.name == \"n1\""), ["pass", "pass", "pass"]),
        (false, rule("meta.operation == \"create\" && meta.address == \"test_thing.a_1\""), ["fail", "fail", "pass"]),
        (false, rule("attrs.none"), ["error", "error", "error"]),
        (false, rule("length(core::getresources(\"test_thing\", null)) == 0"), ["pass", "pass", "pass"]),
        // The configuration that the provider writes.
        (true, rule("attrs.size == null && attrs.name == \"by provider: n0\""), ["fail", "pass", "fail"]),
        // No policy is about the objects.
        (false, rule("false").replace("\"test_thing\"", "\"test_other\""), ["pass", "pass", "pass"]),
        (false, rule("false").replace("  enforce", "  operations = [\"update\"]\n  enforce"), ["pass", "pass", "pass"]),
    ];
    for (by_provider, policy, [all, first, second]) in cases {
        let (lines, found) = judged(ALL, by_provider, &policy).await;
        let expected = [
            format!("list.test_thing.a: {all}"),
            format!("test_thing.a_0 n0: {first}"),
            format!("test_thing.a_1 n1: {second}"),
        ];
        assert_eq!((lines, found), (expected.to_vec(), Vec::new()), "{policy}");
    }
}

#[tokio::test]
async fn each_instance_of_a_list_has_its_results() {
    let text = ALL.replace("include", "for_each = { x = 1, y = 2 }\n include");
    let (lines, found) = judged(&text, false, &rule("attrs.size == 0")).await;
    let expected = [
        "list.test_thing.a[\"x\"]: fail",
        "test_thing.a_0_0 n0: pass",
        "test_thing.a_0_1 n1: fail",
        "list.test_thing.a[\"y\"]: fail",
        "test_thing.a_1_0 n0: pass",
        "test_thing.a_1_1 n1: fail",
    ];
    assert_eq!(lines, expected);
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test]
async fn objects_without_a_state_are_skipped() {
    let text = ALL.replace("include_resource = true", "");
    let (lines, found) = judged(&text, false, &rule("false")).await;
    assert_eq!(lines, Vec::<String>::new());
    let expected = "Policy evaluation skipped: 2 resource(s) in list block list.test_thing.a have no state (include_resource = false). \
                    Policy evaluation cannot be performed without resource state.";
    assert_eq!(found, [expected]);
}

#[tokio::test]
async fn violations_of_provider_configurations_are_errors() {
    let policy = "provider_policy \"test\" \"n\" {\n  enforce {\n    condition     = meta.alias != null\n    \
                  error_message = \"It needs an alias.\"\n  }\n}\n";
    let (lines, found) = judged(ALL, false, policy).await;
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("Policy violation: It needs an alias."), "{found:?}");
}
