//! Summaries and filters of plans, and the approval that shows a plan again: what the reference does not have.

use std::fs::File;

use crate::support::terminal::Screen;
use crate::support::{Project, program};

const BEFORE: &str = r#"resource "terraform_data" "replaced" {
  triggers_replace = "one"
}

resource "terraform_data" "gone" {
  count = 2
  input = "value-in-state"
}
"#;

const AFTER: &str = r#"resource "terraform_data" "replaced" {
  triggers_replace = "two"
}

resource "terraform_data" "gone" {
  count = 1
  input = "value-in-state"
}

resource "terraform_data" "new" {
  for_each = toset(["a", "b"])
}

output "o" {
  value = "value-of-output"
}
"#;

const TOTALS: &str = "Plan: 3 to add, 0 to change, 2 to destroy.";
const REPLACEMENTS: &str = "1 to replace, each counted as 1 to add and 1 to destroy.";

/// A project whose plan replaces, destroys and creates objects.
fn project() -> Project {
    let project = Project::new(BEFORE);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", AFTER);
    project
}

#[test]
fn summaries_begin_with_what_is_destroyed() {
    let project = project();
    let plan = project.ok(&["plan", "-summary"]);
    plan.expect(
        0,
        &[
            "delete 1 (root) terraform_data terraform_data.gone[1] (main.tf:5) because index [1] is out of range for count, main.tf:6",
            "replace 1 (root) terraform_data terraform_data.replaced (main.tf:1) because triggers_replace changes, main.tf:2",
            "create 2 (root) terraform_data new[\"a\"], new[\"b\"]",
            &format!("{TOTALS} {REPLACEMENTS}"),
        ],
    );
    assert!(!plan.out.contains("value-"), "{}", plan.out);
    let piped = project.ok(&["plan"]);
    assert!(piped.out.contains(TOTALS) && !piped.out.contains("to replace, each"), "{}", piped.out);
}

#[test]
fn json_summaries_are_one_line() {
    let project = project();
    let plan = project.ok(&["plan", "-summary=json", "-only=delete"]);
    assert_eq!(plan.out.lines().count(), 1, "{}", plan.out);
    let found: serde_json::Value = serde_json::from_str(&plan.out).unwrap();
    assert_eq!((&found["changes"]["replace"], &found["changes"]["create"]), (&1.into(), &2.into()));
    assert_eq!(found["resources"].as_array().unwrap().len(), 2);
    assert_eq!(found["hidden"], serde_json::json!({ "changes": 2, "outputs": 1 }));
    assert!(!plan.out.contains("value-"), "{}", plan.out);
}

#[test]
fn filters_change_only_what_is_shown() {
    let project = project();
    let plan = project.ok(&["plan", "-only=create", "-out=saved"]);
    plan.expect(0, &["# terraform_data.new[\"a\"] will be created", TOTALS, "2 changes are hidden by the filters."]);
    assert!(!plan.out.contains("# terraform_data.gone[1]"), "{}", plan.out);
    let shown = project.ok(&["show", "-match=terraform_data.gone", "-diff-only", "saved"]);
    shown.expect(0, &["# terraform_data.gone[1] will be destroyed", "3 changes and 1 output change are hidden"]);
    assert!(!shown.out.contains("following symbols"), "{}", shown.out);
    project.ok(&["apply", "saved"]).expect(0, &["3 added, 0 changed, 2 destroyed"]);
}

#[test]
fn show_summarises_plans_and_states() {
    let project = project();
    project.ok(&["plan", "-out=saved"]);
    project.ok(&["show", "-summary", "-out=summary.txt", "saved"]);
    assert!(project.read("work/summary.txt").contains("because triggers_replace changes, main.tf:2"));
    project.ok(&["show", "-summary"]).expect(0, &["3 (root) terraform_data", "State: 3 objects, 0 outputs."]);
    project.ok(&["show", "-summary", "-match=terraform_data.gone"]).expect(0, &["1 object is hidden by the filters."]);
    let refused: [(&[&str], &str); 6] = [
        (&["show", "-json", "-summary", "saved"], "not valid together with -json"),
        (&["show", "-json", "-config", "-only=read"], "not valid together with -config and -module=DIR"),
        (&["show", "-out=x", "saved"], "The -out=FILE option requires -summary"),
        (&["show", "-only=create", "-summary"], "choose changes of a plan, but this is a state"),
        (&["show", "-match=a.b"], "use -match together with -summary"),
        (&["plan", "-json", "-diff-only"], "Incompatible output options"),
    ];
    for (args, expected) in refused {
        project.run(args).expect(1, &[expected]);
    }
}

#[test]
fn what_is_hidden_is_not_approved() {
    let project = project();
    project.run(&["apply", "-only=create"]).expect(1, &["a plan must be seen before it is approved"]);
    let apply = project.run(&["apply", "-only=create", "-summary"]);
    apply.expect(1, &["terraform_data.gone[1] (main.tf:5)", "# terraform_data.new[\"b\"] will be created"]);
    project.ok(&["apply", "-only=create", "-auto-approve"]).expect(0, &["2 changes are hidden", "2 destroyed"]);
}

#[test]
fn the_prompt_shows_the_plan_again() {
    let mut project = project();
    project.set("NO_COLOR", "");
    let start = |project: &Project| {
        let screen = Screen::start(project.command(program(), &["apply"]));
        screen.until("Enter a value:");
        screen
    };
    let mut screen = start(&project);
    screen.until("'s' for a summary");
    screen.until(REPLACEMENTS);
    screen.send("s\n");
    screen.until("because triggers_replace changes");
    screen.send("/nothing\n");
    screen.until("No change has an address that matches nothing.");
    screen.send("/GONE\n");
    screen.until("3 changes and 1 output change are hidden by the filters.");
    screen.send("y\n");
    let (code, shown) = screen.finish();
    assert_eq!((code, shown.contains("Apply cancelled.")), (Some(1), true), "{shown}");
    let mut screen = start(&project);
    screen.send("d\n");
    screen.send("yes\n");
    let (code, shown) = screen.finish();
    assert_eq!((code, shown.matches("will perform the following actions:").count()), (Some(0), 2), "{shown}");
}

#[test]
fn keys_are_for_people_at_terminals() {
    let mut project = project();
    let answer = project.write("answer", "s\n");
    let mut command = project.command(program(), &["apply"]);
    command.stdin(File::open(answer).unwrap());
    let piped = project.finish(command);
    assert!(!piped.out.contains("for a summary"), "{}", piped.out);
    piped.expect(1, &["Apply cancelled."]);
    project.set("NO_COLOR", "");
    for (name, value) in [("TF_IN_AUTOMATION", "1"), ("CI", "true"), ("TERM", "dumb")] {
        project.set(name, value);
        let mut screen = Screen::start(project.command(program(), &["apply"]));
        screen.until("Enter a value:");
        screen.send("s\n");
        let (code, shown) = screen.finish();
        let has_extras = shown.contains("for a summary") || shown.contains("to replace, each");
        assert_eq!((code, has_extras), (Some(1), false), "{name}: {shown}");
        project.forget(name);
    }
}
