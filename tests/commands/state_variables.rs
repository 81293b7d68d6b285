//! Commands that use the state of a backend whose settings have variables in them.

use crate::support::Project;

const CONFIGURATION: &str = r#"
variable "path" {
  type = string
}

terraform {
  backend "local" {
    path = var.path
  }
}

resource "terraform_data" "a" {}

output "o" {
  value = "x"
}
"#;

#[test]
fn state_commands_take_variables() {
    let project = Project::new(CONFIGURATION);
    project.write("work/v.tfvars", "path = \"s.tfstate\"\n");
    const VALUE: &str = "-var=path=s.tfstate";
    project.ok(&["init", "-input=false", VALUE]);
    project.ok(&["apply", "-auto-approve", VALUE]);
    project.run(&["state", "list"]).expect(1, &["No value for required variable"]);
    let commands: &[&[&str]] = &[
        &["state", "list"],
        &["state", "identities", "-json"],
        &["state", "show", "terraform_data.a"],
        &["state", "pull"],
        &["state", "history"],
        &["state", "push", "s.tfstate"],
        &["state", "mv", "terraform_data.a", "terraform_data.b"],
        &["state", "mv", "terraform_data.b", "terraform_data.a"],
        &["state", "replace-provider", "-auto-approve", "a/b", "c/d"],
        &["taint", "terraform_data.a"],
        &["untaint", "terraform_data.a"],
        &["output"],
        &["show"],
        &["workspace", "list"],
        &["workspace", "new", "w"],
        &["workspace", "select", "default"],
        &["workspace", "delete", "w"],
        &["workspace", "show"],
        &["state", "rm", "terraform_data.a"],
    ];
    let with = |command: &[&str], option: &str| {
        let split = if matches!(command[0], "state" | "workspace") { 2 } else { 1 };
        project.ok(&[&command[..split], &[option], &command[split..]].concat());
    };
    for command in commands {
        with(command, VALUE);
    }
    with(&["state", "list"], "-var-file=v.tfvars");
    project.run(&["force-unlock", VALUE, "-force", "x"]).expect(1, &["Failed to unlock state"]);
}
