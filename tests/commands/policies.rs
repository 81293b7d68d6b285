//! `-policies`, `policy test` and `policy validate`.

use serde_json::{Value as Json, json};

use crate::support::Project;

const MAIN: &str = r#"
variable "size" {
  default = 5
}

resource "terraform_data" "db" {
  input = var.size
}
"#;

const POLICY: &str = r#"
input "most" {
  type    = number
  default = 3
}

resource_policy "terraform_data" "small" {
  filter = attrs.input != null

  enforce {
    condition     = attrs.input <= input.most
    error_message = "The size of ${meta.address} is above ${input.most}."
    info_message  = "The most is ${input.most}."
  }
}
"#;

const DENIED: &str =
    "The mandatory policy resource_policy.terraform_data.small denies terraform_data.db (main.tf line 6).";

fn project(main: &str) -> Project {
    let project = Project::new(main);
    project.write("work/policies/size.policy.hcl", POLICY);
    project
}

#[test]
fn a_violation_denies_a_plan() {
    let mut project = project(MAIN);
    let plan = ["plan", "-policies=policies", "-out=p"];
    let outcome = project.run(&plan);
    outcome.expect(
        1,
        &[
            "Error: Policy violation",
            "on policies/size.policy.hcl line 11, in resource_policy \"terraform_data\" \"small\":",
            "The size of terraform_data.db is above 3.",
            DENIED,
            "Policy info: The most is 3.",
            "Plan: 1 to add",
        ],
    );
    let saved: Json = serde_json::from_str(&project.ok(&["show", "-json", "p"]).out).unwrap();
    assert_eq!(saved["errored"], true);
    let name = "resource_policy.terraform_data.small (policies/size.policy.hcl) for terraform_data.db";
    project.run(&["apply", "p"]).expect(1, &["Error: Plan is denied", name]);
    project.run(&["apply", "-auto-approve", "-policies=policies"]).expect(1, &["Error: Policy violation"]);
    assert!(!project.exists("work/terraform.tfstate"));
    project.ok(&["plan", "-policies=policies", "-var=size=3"]);
    project.set("TFPOLICY_INPUT_most", "9");
    project.ok(&["apply", "-auto-approve", "-policies=policies/size.policy.hcl"]);
    project.set("TFPOLICY_INPUT_most", "a");
    project.run(&plan).expect(1, &["Error: Invalid value for policy input"]);
    project.run(&["plan", "-policies=none"]).expect(1, &["Error: Failed to read policies"]);
}

const CHAIN: &str = r#"
resource "terraform_data" "first" {
  input = 2
}

resource "terraform_data" "db" {
  input = terraform_data.first.output + 5
}
"#;

#[test]
fn what_a_plan_does_not_know_is_decided_by_the_apply() {
    let project = project(CHAIN);
    let planned = project.ok(&["plan", "-policies=policies", "-out=p"]);
    planned.expect(0, &["Warning: Policy result is unknown"]);
    // The plan has the policies in it.
    std::fs::remove_dir_all(project.path("work/policies")).unwrap();
    project.run(&["apply", "p"]).expect(1, &["Error: Policy violation", "is above 3", DENIED]);
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.first\n");
}

#[test]
fn policies_may_be_given_when_a_saved_plan_is_applied() {
    let project = project(MAIN);
    project.ok(&["plan", "-out=p"]);
    project.run(&["apply", "-policies=policies", "p"]).expect(1, &["Error: Policy violation", DENIED]);
    assert!(!project.run(&["state", "list"]).out.contains("terraform_data.db"));
    project.ok(&["apply", "-auto-approve"]);
}

#[test]
fn streams_have_the_results() {
    let project = project(MAIN);
    let outcome = project.run(&["plan", "-json", "-policies=policies"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let lines: Vec<Json> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let found = of("policy_diagnostic");
    assert_eq!(found.len(), 1, "{outcome:?}");
    assert_eq!(found[0]["policy_diagnostic"]["range"]["filename"], "main.tf");
    assert_eq!(found[0]["policy_diagnostic"]["policy_range"]["filename"], "policies/size.policy.hcl");
    assert_eq!(found[0]["target_address"], "terraform_data.db");
    assert_eq!(of("policy_result")[0]["result"], "DenyResult");
    assert_eq!(of("policy_info")[0]["policy_info"]["message"], "The most is 3.");
    assert!(of("diagnostic").is_empty(), "{outcome:?}");
}

const TESTS: &str = r#"
resource "terraform_data" "small" {
  attrs = { input = 1 }
}

resource "terraform_data" "large" {
  expect_failure = true
  attrs          = { input = 9 }
}

resource "terraform_data" "wrong" {
  attrs = { input = 9 }
}

resource "terraform_data" "more" {
  attrs = { input = 9 }
  inputs {
    most = 10
  }
}

resource "terraform_data" "empty" {
  attrs = {}
}
"#;

#[test]
fn tests_evaluate_policies_for_mocked_objects() {
    let project = project(MAIN);
    project.write("work/policies/size.policytest.hcl", TESTS);
    let outcome = project.run(&["policy", "test", "-policies=policies"]);
    outcome.expect(
        1,
        &[
            "policies/size.policytest.hcl... fail",
            "resource.terraform_data.small... pass",
            "resource.terraform_data.large... pass",
            "resource.terraform_data.wrong... fail",
            "resource.terraform_data.more... pass",
            "resource.terraform_data.empty... skip",
            "Failure! 3 passed, 1 failed, 1 skipped.",
            "The size of terraform_data.wrong is above 3.",
        ],
    );
    assert!(!outcome.text().contains("The size of terraform_data.large"), "{outcome:?}");
    let outcome = project.run(&["policy", "test", "-policies=policies", "-input=most=20"]);
    outcome.expect(1, &["Error: Expected a policy violation", "resource.terraform_data.wrong... pass"]);
    project.write("work/values.tfvars", "most = 20\n");
    let from_file = project.run(&["policy", "test", "-policies=policies", "-input-file=values.tfvars"]);
    assert_eq!(from_file.text(), outcome.text());
    let sound = TESTS.replace("\"wrong\" {", "\"wrong\" {\n  expect_failure = true");
    project.write("work/policies/size.policytest.hcl", &sound);
    project.ok(&["policy", "test", "-policies=policies"]).expect(0, &["Success! 4 passed, 0 failed, 1 skipped."]);
    project.write("work/tests/a.policytest.hcl", "policytest {\n  targets = [\"../none.policy.hcl\"]\n}\n");
    let outcome = project.run(&["policy", "test", "-policies=policies", "-tests=tests"]);
    outcome.expect(1, &["Error: Failed to read policies", "on tests/a.policytest.hcl line 2"]);
}

#[test]
fn policies_are_validated() {
    let project = project(MAIN);
    project.ok(&["policy", "validate", "-policies=policies"]).expect(0, &["Success! The policies are valid."]);
    let wrong = POLICY.replace("filter = ", "operations = [\"make\"]\n  filter = ");
    project.write("work/policies/size.policy.hcl", &wrong);
    project.run(&["policy", "validate", "-policies=policies"]).expect(1, &["Error: Unknown policy operation"]);
    project.run(&["policy", "validate", "policies"]).expect(1, &["-policies=PATH"]);
}

#[test]
fn examples_of_the_documentation_pass_their_tests() {
    let folder = concat!("-policies=", env!("CARGO_MANIFEST_DIR"), "/docs/examples/policies");
    let project = Project::new("");
    project.ok(&["policy", "validate", folder]).expect(0, &["Success! The policies are valid."]);
    let outcome = project.ok(&["policy", "test", folder]);
    outcome.expect(0, &["Success! 86 passed, 0 failed."]);
    // One object breaks an advisory policy and does not expect it.
    assert_eq!(outcome.text().matches("Warning: Policy violation").count(), 1, "{outcome:?}");
}

#[test]
fn results_of_tests_are_a_stream_for_programs() {
    let project = project(MAIN);
    project.write("work/policies/size.policytest.hcl", TESTS);
    let outcome = project.run(&["policy", "test", "-json", "-policies=policies"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), ""), "{outcome:?}");
    let lines: Vec<Json> = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["type"], "version");
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    let results: Vec<String> = of("test_run")
        .into_iter()
        .map(|line| {
            format!("{} {}", line["test_run"]["run"].as_str().unwrap(), line["test_run"]["status"].as_str().unwrap())
        })
        .collect();
    let expected = ["small pass", "large pass", "wrong fail", "more pass", "empty skip"];
    assert_eq!(results, expected.map(|result| format!("resource.terraform_data.{result}")));
    let file = "policies/size.policytest.hcl";
    assert_eq!(of("test_file")[0]["test_file"], json!({ "path": file, "progress": "complete", "status": "fail" }));
    let errors: Vec<&Json> = of("diagnostic").into_iter().filter(|line| line["@level"] == "error").collect();
    assert_eq!(errors.len(), 1, "{outcome:?}");
    assert_eq!(
        (&errors[0]["@testfile"], &errors[0]["@testrun"]),
        (&json!(file), &json!("resource.terraform_data.wrong"))
    );
    let counts = json!({ "status": "fail", "passed": 3, "failed": 1, "errored": 0, "skipped": 1 });
    assert_eq!(of("test_summary")[0]["test_summary"], counts);
    assert_eq!(of("test_summary")[0]["@message"], "Failure! 3 passed, 1 failed, 1 skipped.");
    let outcome = project.run(&["policy", "test", "-json", "-policies=none"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains("Failed to read policies") && !outcome.out.contains("test_summary"), "{outcome:?}");
    let outcome = project.run(&["policy", "test", "-json", "none"]);
    assert!(
        outcome.out.lines().all(|line| line.starts_with('{')) && outcome.out.contains("-policies=PATH"),
        "{outcome:?}"
    );
}

#[test]
fn a_validation_is_a_document_for_programs() {
    let project = project(MAIN);
    let document = |words: &[&str]| {
        let outcome = project.run(&[&["policy", "validate", "-json"], words].concat());
        let found: Json = serde_json::from_str(&outcome.out).unwrap();
        (outcome.code, found["valid"].clone(), found["error_count"].clone())
    };
    assert_eq!(document(&["-policies=policies"]), (Some(0), json!(true), json!(0)));
    assert_eq!(document(&["policies"]), (Some(1), json!(false), json!(1)));
    project
        .write("work/policies/size.policy.hcl", &POLICY.replace("filter = ", "operations = [\"make\"]\n  filter = "));
    let (code, valid, _) = document(&["-policies=policies"]);
    assert_eq!((code, valid), (Some(1), json!(false)));
}
