//! Modules with test files for the cases of `test`, and how their runs ended.

use crate::support::{Outcome, Project};

/// A variable, an object and an output.
pub const NODE: &str = r#"variable "size" {
  type    = number
  default = 1
}

resource "terraform_data" "node" {
  input = var.size
}

output "size" {
  value = terraform_data.node.output
}

output "id" {
  value = terraform_data.node.id
}
"#;

/// The beginning of a file that uses words of Terrane.
pub const EXTENDED: &str = "test {\n  extensions = [\"terrane\"]\n}\n";

/// A module with further files, which are relative to its folder.
pub fn suite(main: &str, files: &[(&str, &str)]) -> Project {
    let project = Project::new(main);
    for (name, text) in files {
        project.write(&format!("work/{name}"), text);
    }
    project
}

/// A run that plans, with a separate state and one assertion.
pub fn planning(name: &str, condition: &str) -> String {
    format!(
        "run \"{name}\" {{\n  command   = plan\n  state_key = \"{name}\"\n  assert {{\n    condition     = {condition}\n    \
         error_message = \"The size is ${{var.size}}.\"\n  }}\n}}\n"
    )
}

/// Each file with its result and those of its runs, a line each: `a.tftest.hcl pass: one pass, two skip`.
pub fn results(outcome: &Outcome) -> String {
    let (mut files, mut runs): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for line in outcome.out.lines() {
        let Some((subject, word)) = line.rsplit_once("... ") else { continue };
        match subject.strip_prefix("  run ") {
            _ if matches!(word, "in progress" | "tearing down") => {}
            Some(name) => runs.push(format!("{} {word}", name.trim_matches('"'))),
            None => files.push(format!("{subject} {word}: {}", std::mem::take(&mut runs).join(", "))),
        }
    }
    files.join("\n")
}

/// Runs a command and insists on its exit code and on the results of all files, a line each.
pub fn check(project: &Project, args: &[&str], code: i32, expected: &[&str]) -> Outcome {
    let outcome = project.run(args);
    let found = (outcome.code, results(&outcome));
    assert_eq!(found, (Some(code), expected.join("\n")), "{args:?}\n{}{}", outcome.out, outcome.err);
    outcome
}
