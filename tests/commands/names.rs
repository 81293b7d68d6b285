//! The names that the program goes by: its own, and those of the programs that it stands in for.

use std::os::unix::fs::symlink;

use crate::support::{Project, platform, program};

const CONFIG: &str = r#"terraform {
  required_version = ">= 1.11.0"
}

resource "terraform_data" "x" {
  input = "Terrane and terrane init stay"
}

output "o" {
  value = terraform_data.x.input
}
"#;

/// Texts of the user stay as they are, also where they look like the program's own.
#[test]
fn started_as_terraform_all_texts_say_terraform() {
    let project = Project::new(CONFIG);
    let terraform = project.path("terraform");
    symlink(program(), &terraform).unwrap();
    let run = |args: &[&str]| project.finish(project.command(&terraform, args));

    let init = run(&["init"]);
    assert!(init.out.contains("\nTerraform has been successfully initialized!\n"), "{}", init.out);
    assert!(init.out.contains("Try running \"terraform plan\" to see\n"), "{}", init.out);
    let plan = run(&["plan", "-out", "p"]).out;
    assert!(plan.contains("\nTerraform used the selected providers to generate"), "{plan}");
    assert!(plan.contains("\nTerraform will perform the following actions:\n"), "{plan}");
    assert!(plan.contains("\n    terraform apply \"p\"\n"), "{plan}");
    assert!(plan.contains("\"Terrane and terrane init stay\""), "{plan}");
    assert!(!plan.replace("Terrane and terrane init stay", "").contains("errane"), "{plan}");
    let stream = run(&["apply", "-json", "p"]).out;
    assert!(
        stream.starts_with("{\"@level\":\"info\",\"@message\":\"Terraform 1.11.4\",\"@module\":\"terraform.ui\""),
        "{stream}"
    );

    project.write("work/main.tf", "terraform {\n  required_version = \">= 9\"\n}\n");
    let document = run(&["validate", "-json"]).out;
    assert!(document.contains("\"summary\": \"Unsupported Terraform Core version\""), "{document}");
    assert!(document.contains("does not support Terraform version 1.11.4. To proceed"), "{document}");
}

/// tfmigrate, for one, takes the whole first line for a version.
#[test]
fn first_line_of_version_is_that_of_the_language() {
    let own = format!("Terrane v{}", env!("CARGO_PKG_VERSION"));
    let platform = platform();
    let all = format!("{own}, compatible with Terraform 1.0 to 1.17.2");
    let cases = [
        ("", format!("Terraform v1.11.4 (compatible; {own})\non {platform}\n\n{all}\n")),
        ("terraform", format!("Terraform v1.11.4\non {platform}\n\n{all}\n")),
        ("tofu", format!("OpenTofu v1.12.6\non {platform}\n\n{own}, compatible with OpenTofu 1.6 to 1.13.2\n")),
    ];
    for (name, expected) in cases {
        let mut project = Project::new("");
        project.set("TERRANE_NAME", name);
        assert_eq!(project.ok(&["version"]).out, expected, "{name:?}");
        assert!(
            project
                .ok(&["-help"])
                .out
                .starts_with(&format!("Usage: {} ", if name.is_empty() { "terrane" } else { name }))
        );
    }
}

#[test]
fn tofu_has_its_own_registry_and_version() {
    let mut project = Project::new(
        "terraform {\n  required_version = \"~> 1.12.6\"\n  required_providers {\n    null = { source = \"hashicorp/null\" }\n  }\n}\n\
         resource \"null_resource\" \"x\" {}\n",
    );
    project.set("TERRANE_NAME", "tofu");
    project.run(&["providers"]).expect(0, &["provider[registry.opentofu.org/hashicorp/null]"]);
    project.run(&["validate"]).expect(1, &["registry.opentofu.org/hashicorp/null", "running: tofu init"]);
}

#[test]
fn tofu_lays_out_init_and_the_record_of_the_backend_as_opentofu_does() {
    let mut project = Project::new("terraform {\n  backend \"local\" {\n    path = \"s.tfstate\"\n  }\n}\n");
    project.set("TERRANE_NAME", "tofu");
    let init = project.ok(&["init", "-no-color"]).out;
    let start = "\nInitializing the backend...\n\nSuccessfully configured the backend \"local\"! OpenTofu will automatically\n\
                 use this backend unless the backend configuration changes.\n\nInitializing provider plugins...\n\nOpenTofu has";
    assert!(init.starts_with(start), "{init}");
    let record = project.read("work/.terraform/terraform.tfstate");
    assert!(record.starts_with("{\n    \"version\": 3,\n    \"backend\": {\n        \"type\""), "{record}");
    project.ok(&["plan"]);
}

#[test]
fn tofu_has_no_default_host() {
    let mut project = Project::new(
        "terraform {\n  cloud {\n    organization = \"o\"\n    workspaces {\n      name = \"w\"\n    }\n  }\n}\n",
    );
    project.set("TERRANE_NAME", "tofu");
    let init = project.run(&["init", "-no-color"]);
    init.expect(1, &["Error: Hostname is required for the cloud backend"]);
    assert_eq!(init.out, "\nInitializing cloud backend...\n");
    project.run(&["login"]).expect(1, &["The login command expects exactly one argument: the host to log in to."]);
    project.run(&["logout"]).expect(1, &["The logout command expects exactly one argument: the host to log out of."]);
}

#[test]
fn tofu_says_what_a_destroy_leaves_behind() {
    let mut project = Project::new("resource \"terraform_data\" \"a\" {\n  lifecycle {\n    destroy = false\n  }\n}\n");
    project.set("TERRANE_NAME", "tofu");
    let apply = project.ok(&["apply", "-auto-approve", "-no-color", "-json-into=apply.json"]).out;
    assert!(apply.contains("Plan: 1 to add, 0 to change, 0 to destroy.\n"), "{apply}");
    assert!(project.read("work/apply.json").contains("\"remove\":0,\"forget\":0,\"operation\":\"apply\""));
    let forgotten = ["Plan: 0 to add, 0 to change, 0 to destroy, 1 to forget.", "\n  . forget\n"];
    let destroy = project.run(&["destroy", "-auto-approve", "-no-color"]);
    destroy.expect(1, &["Error: Destroy was successful but left behind forgotten instances"]);
    forgotten.iter().for_each(|text| assert!(destroy.out.contains(text), "{}", destroy.out));
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["destroy", "-auto-approve", "-suppress-forget-errors"]);
    project.ok(&["apply", "-auto-approve"]);
    project.set("TERRANE_NAME", "terraform");
    project.ok(&["destroy", "-auto-approve"]);
}
