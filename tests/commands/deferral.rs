//! Deferred changes in saved plans, and the loop of applies that ends in a plan without changes.

use crate::support::Project;

const MAIN: &str = r#"
resource "terraform_data" "names" {
  input = ["a", "b"]
}

module "each" {
  source   = "./each"
  for_each = toset(terraform_data.names.output)
  name     = each.key
}

output "all" {
  value = [for each in module.each : each.name]
}
"#;

const EACH: &str = r#"
variable "name" {}

resource "terraform_data" "this" {
  input = var.name
}

output "name" {
  value = terraform_data.this.output
}
"#;

#[test]
fn a_saved_plan_with_deferred_changes_is_shown_and_applied() {
    let project = Project::new(MAIN);
    project.write("work/each/main.tf", EACH);
    project.ok(&["init"]);
    project.ok(&["plan", "-allow-deferral", "-out=p"]);
    let plan: serde_json::Value = serde_json::from_str(&project.ok(&["show", "-json", "p"]).out).unwrap();
    let deferred = &plan["deferred_changes"][0];
    assert_eq!(deferred["reason"], "instance_count_unknown");
    assert_eq!(deferred["resource_change"]["address"], "module.each[*].terraform_data.this[*]");
    assert_eq!((&plan["complete"], &plan["applyable"]), (&false.into(), &true.into()));
    project.ok(&["apply", "p"]);
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.names\n");
    project.ok(&["apply", "-auto-approve", "-allow-deferral"]);
    assert_eq!(project.ok(&["output", "-json", "all"]).out.trim(), r#"["a","b"]"#);
    let last = project.ok(&["plan", "-allow-deferral", "-detailed-exitcode"]);
    assert!(last.out.contains("No changes."), "{}", last.out);
}

/// Terraform 1.17 leaves deferred changes out of all texts; ours has that text where colours are off.
#[test]
fn coloured_plans_list_what_is_deferred() {
    let mut project = Project::new(MAIN);
    project.set("NO_COLOR", "");
    project.write("work/each/main.tf", EACH);
    project.ok(&["init"]);
    let listed = ["This is a partial plan", "was deferred", "because the number of resource instances is unknown"];
    let coloured = project.ok(&["plan", "-allow-deferral"]).out;
    let bare = project.ok(&["plan", "-allow-deferral", "-no-color"]).out;
    for text in listed {
        assert!(coloured.contains(text) && !bare.contains(text), "{text}:\n{coloured}\n{bare}");
    }
}

#[test]
fn assertions_of_tests_see_the_planned_values_of_deferred_objects() {
    let project = Project::new(
        r#"
resource "terraform_data" "number" {
  input = 2
}

resource "terraform_data" "each" {
  count = terraform_data.number.output
}

resource "terraform_data" "last" {
  input      = "given"
  depends_on = [terraform_data.each]
}

output "given" {
  value = terraform_data.last.input
}
"#,
    );
    let run = r#"
run "applied" {
  assert {
    condition     = terraform_data.last.input == "given" && output.given == "given"
    error_message = "The value is another one."
  }
}
"#;
    project.write("work/a.tftest.hcl", run);
    project.ok(&["init"]);
    project.run(&["test", "-allow-deferral"]).expect(0, &["Success! 1 passed, 0 failed."]);
}
