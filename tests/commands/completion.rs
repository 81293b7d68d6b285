//! Completion as shells ask for it.

use std::path::Path;

use crate::support::{Project, program};

const CONFIG: &str = r#"
resource "terraform_data" "one" {}

resource "terraform_data" "many" {
  for_each = toset(["a b"])
}
"#;

/// What the program answers to a line.
fn candidates(project: &Project, shell: &str, line: &str) -> String {
    let mut command = project.command(program(), &[]);
    command.env("COMP_LINE", line).env("COMP_SHELL", shell);
    let outcome = project.finish(command);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{line}");
    outcome.out
}

#[test]
fn addresses_workspaces_and_files_of_the_project() {
    let project = Project::new(CONFIG);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["workspace", "new", "test"]);
    project.ok(&["workspace", "select", "default"]);
    let work = project.path("work").display().to_string();
    let elsewhere = format!("terrane -chdir={work} workspace select t");
    let cases = [
        ("fish", "terrane workspace select ", "default\t\ntest\t\n"),
        ("fish", elsewhere.as_str(), "test\t\n"),
        ("zsh", "terrane state show ", "terraform_data.many[\"a b\"]\nterraform_data.one\n"),
        ("bash", "terrane plan -target=terraform_data.m", "terraform_data.many\\[\\\"a\\ b\\\"\\]\n"),
        ("bash", "terrane state show terraform_data.many\\[", "terraform_data.many\\[\\\"a\\ b\\\"\\]\n"),
        ("zsh", "terrane plan -var-file ma", "main.tf\n"),
        ("fish", "terrane valid", "validate\tCheck whether the configuration is valid\n"),
    ];
    for (shell, line, expected) in cases {
        assert_eq!(candidates(&project, shell, line), expected, "{line}");
    }
    project.write("work/main.tf", "not a configuration");
    project.write("work/terraform.tfstate", "not a state");
    assert_eq!(candidates(&project, "zsh", "terrane state show "), "");
}

#[test]
fn bash_completes_with_the_script() {
    let project = Project::new("");
    let source = "source <(\"$0\" completion bash); COMP_LINE='terrane val'; COMP_POINT=11; _terrane_complete; \
                  echo \"${COMPREPLY[@]}\"";
    let mut command = project.command(Path::new("bash"), &["-c", source]);
    command.arg(program());
    let outcome = project.finish(command);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("validate\n", ""));
}
