//! `init -policies`: policies for modules and providers, before they are installed.

use serde_json::Value as Json;

use crate::support::{Outcome, Project};

const MAIN: &str = "module \"m\" {\n  source = \"./m\"\n}\n";

fn project(policy: &str) -> Project {
    let project = Project::new(MAIN);
    project.write("work/m/main.tf", "variable \"word\" {\n  default = \"x\"\n}\n");
    project.write("work/policies/a.policy.hcl", policy);
    project
}

fn module_policy(more: &str, condition: &str) -> String {
    format!(
        "module_policy \"./m\" \"local\" {{\n{more}\n  enforce {{\n    condition     = {condition}\n    \
         error_message = \"Not from here.\"\n  }}\n}}\n"
    )
}

const INIT: [&str; 2] = ["init", "-policies=policies"];

fn manifest(project: &Project) -> String {
    project.read("work/.terraform/modules/modules.json")
}

#[test]
fn denied_modules_are_not_installed() {
    let project = project(&module_policy("", "meta.address != \"module.m\""));
    let texts = [
        "Error: Policy violation",
        "on policies/a.policy.hcl line 4, in module_policy \"./m\" \"local\":",
        "Not from here.",
        "The mandatory policy module_policy../m.local denies module.m (main.tf line 1).",
        "Error: Policy evaluation failed",
        "Module download blocked due to policy violations. Please review other diagnostics for details.",
    ];
    let outcome = project.run(&INIT);
    outcome.expect(1, &texts);
    assert!(!outcome.text().contains("successfully initialized") && !manifest(&project).contains("\"m\""));
    project.ok(&["init"]);
    // What is installed stays, but the command fails.
    project.run(&INIT).expect(1, &texts);
    assert!(manifest(&project).contains("\"m\""));
    project.ok(&["plan"]);
}

#[test]
fn only_violations_of_mandatory_policies_fail() {
    let advisory = "  enforcement_level = \"advisory\"";
    let cases = [
        (module_policy("", "meta.source == \"./m\""), ""),
        (module_policy(advisory, "false"), "Warning: Policy violation"),
        (module_policy("", "attrs.word == \"x\""), "Warning: Policy result is unknown"),
        (module_policy("", "true").replace("error_", "info_"), "module.m: Policy info: Not from here."),
    ];
    for (policy, expected) in cases {
        let project = project(&policy);
        project.run(&INIT).expect(0, &[expected, "has been successfully initialized!"]);
    }
    let project = project("module_policy \"./m\" {}\n");
    project.run(&INIT).expect(1, &["Error: "]);
    assert!(!project.exists("work/.terraform/modules"));
    project.run(&["init", "-policies=none"]).expect(1, &["Error: Failed to read policies"]);
}

fn lines(outcome: &Outcome, kind: &str) -> Vec<Json> {
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    lines.filter(|line| line["type"] == kind).collect()
}

#[test]
fn streams_have_the_results() {
    let project = project(&module_policy("", "false"));
    let outcome = project.run(&["init", "-json", "-policies=policies"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let found = lines(&outcome, "policy_diagnostic");
    assert_eq!(found.len(), 1, "{outcome:?}");
    assert_eq!(found[0]["target_address"], "module.m");
    assert_eq!(found[0]["policy_diagnostic"]["range"]["filename"], "main.tf");
    assert_eq!(lines(&outcome, "policy_result")[0]["result"], "DenyResult");
    let others: Vec<Json> =
        lines(&outcome, "diagnostic").into_iter().map(|line| line["diagnostic"]["summary"].clone()).collect();
    assert_eq!(others, ["Policy evaluation failed"]);
    project.write("work/policies/a.policy.hcl", &module_policy("", "attrs.word == \"x\""));
    let outcome = project.ok(&["init", "-json", "-policies=policies"]);
    assert_eq!(lines(&outcome, "policy_result")[0]["result"], "UnknownResult");
}

#[test]
fn providers_within_the_program_have_policies_too() {
    let policy = "provider_policy \"random\" \"never\" {\n  enforce {\n    condition = meta.version == null\n  }\n}\n";
    let mut project = project(policy);
    let built_in = project.write("cli.tfrc", "provider_installation {\n  builtin {}\n  direct {}\n}\n");
    project.set("TF_CLI_CONFIG_FILE", built_in);
    project.ok(&INIT);
    project.write("work/main.tf", "resource \"random_id\" \"a\" {\n  byte_length = 4\n}\n");
    let denied = "denies provider[\"registry.terraform.io/hashicorp/random\"]";
    project.run(&INIT).expect(1, &["Error: Policy violation", denied, "Provider download blocked"]);
    project.ok(&["init"]);
}
