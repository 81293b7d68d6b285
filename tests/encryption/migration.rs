//! From plain to encrypted, from one key to another, and back.

use super::{block, configuration, project};
use crate::support::Project;

fn is_encrypted(project: &Project) -> bool {
    project.read("work/terraform.tfstate").contains("encryption_version")
}

#[test]
fn to_encrypted_to_another_key_and_back() {
    let project = project(&[], "");
    let change = |chain: &[&str]| {
        project.write("work/main.tf", &configuration(chain, ""));
    };
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(!is_encrypted(&project));

    change(&["old"]);
    let refused = project.run(&["plan"]);
    refused.expect(1, &["Error: The state is not encrypted", "method = method.unencrypted.migration"]);
    change(&["old", "plain"]);
    let plan = project.ok(&["plan", "-no-color"]);
    assert!(plan.text().contains("Warning: Unencrypted method configured"), "{}", plan.text());
    assert!(!is_encrypted(&project), "a plan writes nothing");
    project.ok(&["apply", "-auto-approve"]);
    assert!(is_encrypted(&project) && !project.exists("work/terraform.tfstate.backup"));

    change(&["new", "old"]);
    project.ok(&["apply", "-auto-approve", "-var=step=2"]);
    change(&["new"]);
    assert_eq!(project.run(&["plan", "-detailed-exitcode", "-var=step=2"]).code, Some(0));
    // Backups follow: also what the old key had encrypted can be read with the new one.
    assert!(project.ok(&["show", "terraform.tfstate.backup"]).out.contains("terraform_data.a"));

    change(&["plain", "new"]);
    project.ok(&["apply", "-auto-approve", "-var=step=2"]);
    assert!(!is_encrypted(&project));
    change(&[]);
    assert_eq!(project.run(&["plan", "-detailed-exitcode", "-var=step=2"]).code, Some(0));
}

#[test]
fn the_environment_variable_is_equivalent_to_a_block() {
    let mut project = project(&[], "");
    project.set("TF_ENCRYPTION", block(&["new"]));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(is_encrypted(&project));
    project.set("TF_ENCRYPTION", "");
    project.run(&["plan"]).expect(1, &["This state file is encrypted and can not be read without an encryption"]);
    // Nothing was changed by that.
    project.set("TF_ENCRYPTION", block(&["new"]));
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
}
