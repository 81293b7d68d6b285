//! `-deny` and TERRANE_DENY: plans with changes that are not allowed.

use crate::support::Project;

const MAIN: &str = r#"
variable "size" {
  default = 1
}

resource "terraform_data" "db" {
  triggers_replace = var.size
}

resource "terraform_data" "other" {
  input = var.size
}
"#;

const DELETE: &str = "-deny=delete:terraform_data.d*";

#[test]
fn a_denied_plan_is_saved_as_an_errored_one() {
    let project = Project::new(MAIN);
    project.ok(&["apply", "-auto-approve", DELETE]);
    let plan = ["plan", "-var=size=2", "-out=p", DELETE];
    let outcome = project.run(&plan);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for text in ["Error: Plan is denied", "\"delete:terraform_data.d*\"", "terraform_data.db (replace), main.tf line 6"]
    {
        assert!(outcome.err.contains(text), "{text}: {outcome:?}");
    }
    assert!(!outcome.err.contains("terraform_data.other"), "{outcome:?}");
    let shown: serde_json::Value = serde_json::from_str(&project.ok(&["show", "-json", "p"]).out).unwrap();
    assert_eq!(
        (&shown["errored"], &shown["applyable"], &shown["complete"]),
        (&true.into(), &false.into(), &false.into())
    );
    let outcome = project.run(&["apply", "p"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for text in ["Error: Plan is denied", "-deny=delete:terraform_data.d*", "No option applies a denied plan."] {
        assert!(outcome.err.contains(text), "{text}: {outcome:?}");
    }
    project.ok(&["plan", "-var=size=2", "-deny=delete:terraform_data.other", "-deny=update:nothing.*"]);
}

#[test]
fn apply_denies_new_and_saved_plans() {
    let mut project = Project::new(MAIN);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["plan", "-var=size=2", "-out=p"]);
    let saved = project.run(&["apply", DELETE, "p"]);
    assert!(saved.code == Some(1) && saved.err.contains("Error: Plan is denied"), "{saved:?}");
    project.set("TERRANE_DENY", "delete:terraform_data.d* forget:**");
    let destroyed = project.run(&["destroy", "-auto-approve"]);
    assert!(destroyed.code == Some(1) && destroyed.err.contains("terraform_data.db (delete)"), "{destroyed:?}");
    project.set("TERRANE_DENY", "delete");
    let invalid = project.run(&["plan"]);
    assert!(invalid.code == Some(1) && invalid.err.contains("TERRANE_DENY: \"delete\" has no colon."), "{invalid:?}");
    project.set("TERRANE_DENY", "");
    project.ok(&["apply", "p"]);
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.db\nterraform_data.other\n");
}

#[test]
fn refreshes_have_nothing_to_deny() {
    let mut project = Project::new(MAIN);
    project.ok(&["apply", "-auto-approve"]);
    let refused = project.run(&["refresh", "-var=size=2", DELETE]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("Error: Option not supported by refresh"), "{refused:?}");
    project.set("TERRANE_DENY", "delete:** update:**");
    project.ok(&["refresh", "-var=size=2"]);
    project.ok(&["plan", "-refresh-only", "-var=size=2"]);
}
