//! Which commands a `required_version` stops that is not met, as recorded from Terraform 1.11.4; and records of the backend.

use crate::support::Project;

const UNSUPPORTED: &str = "Unsupported Terrane Core version";

fn project(version: &str) -> Project {
    let config = |version: &str| {
        format!(
            "terraform {{\n  required_version = \"{version}\"\n}}\nresource \"terraform_data\" \"a\" {{}}\noutput \"o\" {{\n  \
             value = 1\n}}\n"
        )
    };
    let project = Project::new(&config(">= 1.0"));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &(config(version) + "resource \"terraform_data\" \"b\" {}\n"));
    project
}

#[test]
fn commands_that_use_the_configuration_are_stopped() {
    let project = project(">= 99.0");
    let commands = [
        "init",
        "get",
        "validate",
        "plan",
        "plan -refresh-only",
        "apply -auto-approve",
        "destroy -auto-approve",
        "refresh",
        "modules",
        "state pull",
        "state push terraform.tfstate",
        "state mv terraform_data.a terraform_data.c",
        "state rm terraform_data.a",
        "state replace-provider -auto-approve a b",
        "taint terraform_data.a",
    ];
    for command in commands {
        let run = project.run(&command.split(' ').collect::<Vec<_>>());
        assert!(run.err.contains(UNSUPPORTED), "{command}: {}{}", run.out, run.err);
        assert_eq!(run.code, Some(1), "{command}");
    }
}

#[test]
fn commands_that_only_look_are_not() {
    let project = project(">= 99.0");
    let commands = [
        "show",
        "show -json",
        "providers",
        "providers schema -json",
        "providers lock",
        "output",
        "state list",
        "state show terraform_data.a",
        "workspace list",
        "workspace new w",
        "workspace select default",
        "graph",
        "graph -type=plan",
        "console",
        "import terraform_data.b x",
        "version",
    ];
    for command in commands {
        project.ok(&command.split(' ').collect::<Vec<_>>());
    }
    let untaint = project.run(&["untaint", "terraform_data.a"]);
    assert!(untaint.err.contains("Resource instance is not tainted"), "{}", untaint.err);
}

#[test]
fn a_backend_that_cannot_be_read_is_not_recorded() {
    let project = Project::new("terraform {\n  backend \"local\" {\n    path = $x\n  }\n}\n");
    let init = project.run(&["init"]);
    assert!(init.err.contains("Unknown values within backend definition"), "{}", init.err);
    assert!(init.err.contains("This character is not used within the language."), "{}", init.err);
    assert!(!project.path("work/.terraform/terraform.tfstate").exists());
    project.write("work/main.tf", "terraform {\n  backend \"local\" {\n    path = \"x.tfstate\"\n  }\n}\n");
    project.ok(&["init"]);
}

#[test]
fn remote_state_of_old_programs_is_an_error() {
    let project = Project::new("output \"o\" {\n  value = 1\n}\n");
    let record = "{\"version\":3,\"remote\":{\"type\":\"http\",\"config\":{\"address\":\"http://127.0.0.1:1/\"}}}";
    project.write("work/.terraform/terraform.tfstate", record);
    for command in
        ["init", "init -backend=false", "plan", "state list", "workspace list", "output", "show", "providers"]
    {
        let run = project.run(&command.split(' ').collect::<Vec<_>>());
        let text = run.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("this working directory uses legacy remote state"), "{command}: {}{}", run.out, run.err);
        assert_eq!(run.code, Some(1), "{command}");
    }
    assert_eq!(std::fs::read_to_string(project.path("work/.terraform/terraform.tfstate")).unwrap(), record);
}
