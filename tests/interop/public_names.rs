//! Public providers served by the program itself: the reference takes over what they made, and gives it back.

use crate::support::{Outcome, Project, platform, processes, program, reference};

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    local  = { source = "hashicorp/local" }
    null   = { source = "hashicorp/null" }
    random = { source = "hashicorp/random" }
  }
}

variable "length" {
  default = 2
}

resource "random_pet" "name" {
  length = var.length
}

resource "null_resource" "marker" {
  triggers = { name = random_pet.name.id }
}

resource "local_file" "greeting" {
  filename = "greeting.txt"
  content  = "Hello, ${null_resource.marker.triggers.name}."
}
"#;

const BUILT_IN: &str = "provider_installation {\n  builtin {}\n}\n";

/// Under their public names the reference finds the same providers in a folder.
fn shims(project: &Project) -> String {
    for (name, version) in [("random", "3.9.0"), ("local", "2.9.0"), ("null", "3.3.1")] {
        let file = format!("terraform-provider-{name}_v{version}");
        let below = format!("mirror/registry.terraform.io/hashicorp/{name}/{version}/{}/{file}", platform());
        let text = format!("#!/bin/sh\nexec {:?} internal-plugin provider {name}\n", program().display().to_string());
        project.script(&below, &text);
    }
    format!("provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n", project.path("mirror"))
}

#[test]
fn the_reference_takes_over_and_gives_back() {
    let Some(terraform) = reference() else { return };
    let project = Project::new(CONFIGURATION);
    let mirror = project.write("mirror.tfrc", &shims(&project));
    let built_in = project.write("builtin.tfrc", BUILT_IN);
    let ours = |args: &[&str]| -> Outcome {
        let mut command = project.command(program(), args);
        command.env("TF_CLI_CONFIG_FILE", &built_in);
        project.finish(command)
    };
    let theirs = |args: &[&str]| -> Outcome {
        let mut command = project.command(&terraform, args);
        command.env("TF_CLI_CONFIG_FILE", &mirror);
        project.finish(command)
    };
    const NOTHING: [&str; 3] = ["plan", "-detailed-exitcode", "-no-color"];

    ours(&["init"]).expect(0, &["hashicorp/random v3.9.0 is built in to Terrane"]);
    assert!(!project.exists("work/.terraform.lock.hcl"));
    ours(&["apply", "-auto-approve"]).expect(0, &["3 added"]);
    let state = project.read("work/terraform.tfstate");
    assert!(state.contains("provider[\\\"registry.terraform.io/hashicorp/random\\\"]"), "{state}");

    theirs(&["init", "-no-color"]).expect(0, &["Installed hashicorp/random v3.9.0"]);
    theirs(&NOTHING).expect(0, &["No changes."]);
    theirs(&["apply", "-auto-approve", "-no-color", "-var=length=3"]).expect(0, &["3 added, 0 changed, 3 destroyed"]);

    // What the reference has locked is left as it is.
    let lock = project.read("work/.terraform.lock.hcl");
    ours(&["init", "-upgrade"]).expect(0, &["hashicorp/null v3.3.1 is built in to Terrane"]);
    ours(&[&NOTHING[..], &["-var=length=3"]].concat()).expect(0, &["No changes."]);
    assert_eq!(project.read("work/.terraform.lock.hcl"), lock);
    theirs(&["init", "-no-color", "-lockfile=readonly"]).expect(0, &["Reusing previous version of hashicorp/null"]);

    ours(&["destroy", "-auto-approve", "-var=length=3"]).expect(0, &["3 destroyed"]);
    processes::all_gone(project.mark());
}
