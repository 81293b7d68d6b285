//! The reference drives our plugin server: built-in providers behind two lines of shell, found in a mirror.

use crate::support::{Outcome, Project, platform, processes, program, reference};

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    local  = { source = "hashicorp/local" }
    null   = { source = "hashicorp/null" }
    random = { source = "hashicorp/random" }
  }
}

resource "random_pet" "name" {
  length = 3
}

resource "random_password" "secret" {
  length = 24
}

resource "random_shuffle" "order" {
  input = ["a", "b", "c"]
}

resource "null_resource" "marker" {
  triggers = { name = random_pet.name.id }
}

resource "local_file" "greeting" {
  filename = "greeting.txt"
  content  = "Hello, ${random_pet.name.id}, ${null_resource.marker.triggers.name}."
}

resource "local_sensitive_file" "secret" {
  filename = "secret.txt"
  content  = random_password.secret.result
}

data "local_file" "greeting" {
  filename = local_file.greeting.filename
}

output "greeting" {
  value = data.local_file.greeting.content
}
"#;

const PROVIDERS: [(&str, &str); 3] = [("random", "3.9.0"), ("local", "2.9.0"), ("null", "3.3.1")];

#[test]
fn the_reference_drives_our_plugins() {
    let Some(terraform) = reference() else { return };
    let mut project = Project::new(CONFIGURATION);
    for (name, version) in PROVIDERS {
        let below = format!(
            "mirror/registry.terraform.io/hashicorp/{name}/{version}/{}/terraform-provider-{name}_v{version}",
            platform()
        );
        let text = format!("#!/bin/sh\nexec {:?} internal-plugin provider {name}\n", program().display().to_string());
        project.script(&below, &text);
    }
    let mirror = project.path("mirror").display().to_string();
    let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);

    let run = |args: &[&str]| -> Outcome { project.finish(project.command(&terraform, args)) };
    run(&["init", "-no-color"]).expect(0, &["Installed hashicorp/random v3.9.0", "successfully initialized"]);
    run(&["apply", "-auto-approve", "-no-color"]).expect(0, &["Apply complete! Resources: 6 added"]);
    let greeting = project.read("work/greeting.txt");
    assert!(greeting.starts_with("Hello, ") && greeting.matches('-').count() == 4, "{greeting}");
    assert_eq!(project.read("work/secret.txt").len(), 24);
    assert_eq!(run(&["output", "-raw", "greeting"]).out, greeting);
    run(&["plan", "-detailed-exitcode", "-no-color"]).expect(0, &["No changes."]);
    run(&["destroy", "-auto-approve", "-no-color"]).expect(0, &["Destroy complete! Resources: 6 destroyed."]);
    assert!(!project.exists("work/greeting.txt") && !project.exists("work/secret.txt"));
    processes::all_gone(project.mark());
}
