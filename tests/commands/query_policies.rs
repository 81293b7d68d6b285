//! `query -policies`: policies for the objects that exist.

use serde_json::{Value as Json, json};

use crate::support::{Project, depot, platform};

const MAIN: &str = r#"
terraform {
  required_providers {
    depot = {
      source = "example/depot"
    }
  }
}
"#;

const QUERY: &str = r#"
list "depot_thing" "all" {
  provider         = depot
  include_resource = true
}
"#;

const POLICY: &str = r#"
resource_policy "depot_thing" "named" {
  enforce {
    condition     = attrs.name != "b"
    error_message = "${attrs.name} is not allowed."
  }
}
"#;

/// A service with two things.
fn project() -> Project {
    let mut project = Project::new(MAIN);
    project.any_release();
    let folder = format!("mirror/registry.terraform.io/example/depot/1.0.0/{}", platform());
    depot::install(&project.path(&format!("{folder}/terraform-provider-depot_v1.0.0")));
    let mirror = project.path("mirror").display().to_string();
    let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    project.write("work/all.tfquery.hcl", QUERY);
    project.write("work/policies/named.policy.hcl", POLICY);
    for name in ["a", "b"] {
        project.write(&format!("work/service/things/{name}"), &json!({ "name": name }).to_string());
    }
    project.ok(&["init"]);
    project
}

#[test]
fn violations_are_results_and_no_errors() {
    let project = project();
    project.ok(&["query", "-policies=policies"]).expect(
        0,
        &[
            "list.depot_thing.all id=a a",
            "Evaluated 1 policies. Policy results for list.depot_thing.all (FAIL) id=a: PASS id=b: FAIL \
             - resource_policy.depot_thing.named: b is not allowed. (mandatory)",
        ],
    );
    assert!(!project.ok(&["query"]).out.contains("Policy results"));
    project.run(&["query", "-policies=none"]).expect(1, &["Error: Failed to read policies"]);
    project.write("work/all.tfquery.hcl", &QUERY.replace("true", "false"));
    let outcome = project.ok(&["query", "-policies=policies"]);
    outcome.expect(0, &["Warning: Policy evaluation skipped", "2 resource(s) in list block list.depot_thing.all"]);
    assert!(!outcome.out.contains("Policy results"), "{outcome:?}");
}

#[test]
fn streams_have_a_summary_of_each_list() {
    let outcome = project().ok(&["query", "-json", "-policies=policies"]);
    let lines: Vec<Json> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert!(of("policy_result").is_empty() && of("policy_diagnostic").is_empty() && of("diagnostic").is_empty());
    let summaries = of("policy_query_summary");
    assert_eq!(summaries.len(), 1, "{outcome:?}");
    let summary = summaries[0];
    assert_eq!(summary["list_block_address"], "list.depot_thing.all");
    assert_eq!((&summary["overall_result"], &summary["@policy"]), (&json!("fail"), &json!("true")));
    assert_eq!(summary["passed_policies"].as_array().unwrap().len(), 1);
    let results = summary["results"].as_array().unwrap();
    let named = |index: usize| {
        let result = &results[index];
        [&result["target_address"], &result["identity"]["id"], &result["result"]].map(|it| it.as_str().unwrap())
    };
    assert_eq!(results.len(), 2);
    assert_eq!(named(0), ["depot_thing.all_0", "a", "pass"]);
    assert_eq!(named(1), ["depot_thing.all_1", "b", "fail"]);
    let policy = &results[1]["policies"][0];
    assert_eq!(policy["policy_metadata"]["policy_name"], "resource_policy.depot_thing.named");
    assert_eq!(policy["diagnostics"][0]["range"]["filename"], "all.tfquery.hcl");
    assert_eq!(policy["diagnostics"][0]["policy_range"]["filename"], "policies/named.policy.hcl");
}

#[test]
fn init_does_not_install_denied_providers() {
    let project = project();
    for file in [".terraform", ".terraform.lock.hcl"] {
        let path = project.path(&format!("work/{file}"));
        let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.unwrap();
    }
    let policy = |version: &str| {
        format!(
            "provider_policy \"depot\" \"new\" {{\n  enforce {{\n    condition     = core::semverconstraint(meta.version, {version:?})\n    \
             error_message = \"${{meta.version}} is too old.\"\n  }}\n}}\n"
        )
    };
    project.write("work/policies/named.policy.hcl", &policy(">= 2.0"));
    project.run(&["init", "-policies=policies"]).expect(
        1,
        &[
            "Error: Policy violation",
            "1.0.0 is too old.",
            "denies provider[\"registry.terraform.io/example/depot\"]",
            "Error: Policy evaluation failed",
            "Provider download blocked due to policy violations. Please review other diagnostics for details.",
        ],
    );
    assert!(!project.exists("work/.terraform.lock.hcl"));
    assert!(!project.exists("work/.terraform/providers/registry.terraform.io/example/depot/1.0.0"));
    project.write("work/policies/named.policy.hcl", &policy(">= 1.0"));
    project.ok(&["init", "-policies=policies"]);
    // What is installed stays, but the command fails.
    project.write("work/policies/named.policy.hcl", &policy(">= 2.0"));
    project.run(&["init", "-policies=policies"]).expect(1, &["1.0.0 is too old."]);
    project.ok(&["query"]);
}
