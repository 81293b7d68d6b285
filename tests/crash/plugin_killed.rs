//! Plugins as processes of their own, and one of them killed in the middle of an apply.

use crate::support::{PATIENCE, Project, Running, processes, program};

/// `gate` waits until there is a file `go`; `late` comes after it.
const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    local  = { source = "terraform.io/builtin/local" }
    null   = { source = "terraform.io/builtin/null" }
    random = { source = "terraform.io/builtin/random" }
  }
}

resource "random_pet" "name" {}

resource "null_resource" "early" {
  triggers = { name = random_pet.name.id }
}

resource "local_file" "early" {
  filename = "early.txt"
  content  = random_pet.name.id
}

resource "terraform_data" "gate" {
  depends_on = [null_resource.early, local_file.early]

  provisioner "local-exec" {
    command = "until [ -e go ] || [ ! -e main.tf ]; do sleep 0.02; done"
  }
}

resource "local_file" "late" {
  filename = "late.txt"
  content  = terraform_data.gate.id
}
"#;

/// An apply that waits at the gate, and its plugins.
fn at_the_gate(project: &Project) -> (Running, Vec<processes::Seen>) {
    let mut apply = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    apply.until(|screen| screen.contains("terraform_data.gate: Provisioning with 'local-exec'..."));
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let seen = processes::of(project.mark());
        if seen.iter().any(|seen| seen.command.contains("until [ -e go ]")) {
            return (apply, seen);
        }
        assert!(std::time::Instant::now() < end, "the provisioner never ran: {seen:?}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn plugin(seen: &[processes::Seen], kind_and_name: &str) -> i32 {
    let wanted = format!("{} internal-plugin {kind_and_name}", program().display());
    let found: Vec<_> = seen.iter().filter(|seen| seen.command == wanted).collect();
    assert_eq!(found.len(), 1, "{wanted} in {seen:#?}");
    found[0].pid
}

#[test]
fn every_plugin_is_a_process_and_ends_with_the_command() {
    let project = Project::new(CONFIGURATION);
    let (apply, seen) = at_the_gate(&project);
    for name in ["provider terraform", "provider local", "provider null", "provider random", "provisioner local-exec"] {
        plugin(&seen, name);
    }
    project.write("work/go", "");
    apply.finish().expect(0, &["Apply complete! Resources: 5 added, 0 changed, 0 destroyed."]);
    processes::all_gone(project.mark());
    assert_eq!(std::fs::read_dir(project.path("tmp")).unwrap().count(), 0, "sockets are left");
}

#[test]
fn a_killed_provider_is_named_and_the_next_apply_finishes() {
    let project = Project::new(CONFIGURATION);
    let (apply, seen) = at_the_gate(&project);
    processes::kill(plugin(&seen, "provider local"));
    project.write("work/go", "");
    apply.finish().expect(
        1,
        &[
            "Error: Plugin did not respond",
            "with local_file.late,",
            "on main.tf line 29, in resource \"local_file\" \"late\":",
            "failed to respond to the plugin.(*GRPCProvider).",
            "terraform.io/builtin/local",
            "signal: killed",
        ],
    );
    processes::all_gone(project.mark());
    let listed = project.ok(&["state", "list"]).out;
    assert_eq!(listed, "local_file.early\nnull_resource.early\nrandom_pet.name\nterraform_data.gate\n");
    project.ok(&["apply", "-auto-approve"]).expect(0, &["Resources: 1 added, 0 changed, 0 destroyed."]);
    assert!(project.exists("work/late.txt"));
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
}

#[test]
fn a_killed_provisioner_leaves_its_resource_tainted() {
    let project = Project::new(CONFIGURATION);
    let (apply, seen) = at_the_gate(&project);
    processes::kill(plugin(&seen, "provisioner local-exec"));
    let outcome = apply.finish();
    project.write("work/go", "");
    outcome.expect(
        1,
        &["Error: Plugin did not respond", "with terraform_data.gate,", "on main.tf line 24", "signal: killed"],
    );
    processes::all_gone(project.mark());
    project.ok(&["state", "show", "terraform_data.gate"]).expect(0, &["(tainted)"]);
    project.ok(&["apply", "-auto-approve"]).expect(0, &["Resources: 2 added, 0 changed, 1 destroyed."]);
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
}

/// The provider never gets as far as its handshake; the command fails before it needs it.
#[test]
fn a_plugin_that_is_still_starting_ends_with_the_command() {
    let mut project = Project::new(
        r#"
terraform {
  required_providers {
    slow = { source = "example.com/x/slow" }
  }
}

variable "missing" {}

resource "slow_thing" "a" {}
"#,
    );
    let program = project.script("bin/terraform-provider-slow", "#!/bin/sh\nexec sleep 60\n");
    let folder = program.parent().unwrap().display();
    let settings =
        format!("provider_installation {{\n  dev_overrides {{ \"example.com/x/slow\" = \"{folder}\" }}\n}}\n");
    let settings = project.write("cli.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    for _ in 0..10 {
        project.run(&["plan", "-input=false"]).expect(1, &["Error: No value for required variable"]);
        let left = processes::of(project.mark());
        assert!(left.is_empty(), "{left:?}");
    }
}
