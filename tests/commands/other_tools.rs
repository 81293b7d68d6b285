//! The texts of plans and applies that other tools parse: tfcmt 4.14.18 and Atlantis 0.47.1, which post them to pull requests.
//!
//! Owns what these tools look for. Under the names `terraform` and `tofu` they find all of it; under `terrane` all but the sentences with
//! the name of the program.

use std::path::Path;

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

use crate::support::{Project, program, reference};

const FIRST: &str = r#"resource "terraform_data" "update" {
  input = "one"
}

resource "terraform_data" "gone" {
}

resource "terraform_data" "replaced" {
  triggers_replace = "one"
}

resource "terraform_data" "tainted" {
}

resource "terraform_data" "requested" {
}

resource "terraform_data" "triggered" {
  lifecycle {
    replace_triggered_by = [terraform_data.update]
  }
}

resource "terraform_data" "old" {
}

resource "terraform_data" "older" {
  input = "one"
}

resource "terraform_data" "forgotten" {
}

output "word" {
  value = "one"
}
"#;

const SECOND: &str = r#"resource "terraform_data" "created" {
  for_each = toset(["a.b", "c d"])
}

resource "terraform_data" "update" {
  input = "two"
}

resource "terraform_data" "replaced" {
  triggers_replace = "two"
}

resource "terraform_data" "tainted" {
}

resource "terraform_data" "requested" {
}

resource "terraform_data" "triggered" {
  lifecycle {
    replace_triggered_by = [terraform_data.update]
  }
}

moved {
  from = terraform_data.old
  to   = terraform_data.new
}

resource "terraform_data" "new" {
}

moved {
  from = terraform_data.older
  to   = terraform_data.newer
}

resource "terraform_data" "newer" {
  input = "two"
}

removed {
  from = terraform_data.forgotten
  lifecycle {
    destroy = false
  }
}

import {
  to = terraform_data.imported
  id = "one"
}

resource "terraform_data" "imported" {
}

import {
  to = terraform_data.adopted
  id = "two"
}

resource "terraform_data" "adopted" {
  input = <<-EOT
    a
    b
  EOT
}

check "word" {
  assert {
    condition     = terraform_data.update.input == "one"
    error_message = "The word is not one."
  }
}

output "word" {
  value = "two"
}
"#;

/// A pattern that a tool looks for.
struct Sought {
    tool: &'static str,
    pattern: &'static str,
    /// The texts of its groups, in order, under the names `terraform` and `terrane`.
    texts: &'static [&'static str],
    /// The same under the name `tofu`, where it differs.
    of_opentofu: Option<&'static [&'static str]>,
}

const fn sought(tool: &'static str, pattern: &'static str, texts: &'static [&'static str]) -> Sought {
    Sought { tool, pattern, texts, of_opentofu: None }
}

/// In a plan that is saved.
const OF_PLAN: [Sought; 22] = [
    sought("tfcmt", r"(?m)^(Plan: \d|No changes.)", &["Plan: 2"]),
    sought("tfcmt", r"(?m)^([│|] )?(Warning: )", &["|Warning: ", "|Warning: "]),
    sought("tfcmt", r"(?m)^(Changes to Outputs:)$", &["Changes to Outputs:"]),
    sought("tfcmt", r"([1-9][0-9]* to destroy).", &["5 to destroy"]),
    sought(
        "tfcmt",
        r"(?m)^ *# (.*) will be created$",
        &["terraform_data.created[\"a.b\"]", "terraform_data.created[\"c d\"]"],
    ),
    sought(
        "tfcmt",
        r"(?m)^ *# (.*) will be updated in-place$",
        &["terraform_data.adopted", "terraform_data.newer", "terraform_data.update"],
    ),
    sought("tfcmt", r"(?m)^ *# (.*) will be destroyed$", &["terraform_data.gone"]),
    Sought {
        // Its pattern has no place for the "it" of OpenTofu.
        of_opentofu: Some(&["terraform_data.replaced", "terraform_data.tainted is tainted, so it"]),
        ..sought(
            "tfcmt",
            r"(?m)^ *# (.*?)(?: is tainted, so)? must be replaced$",
            &["terraform_data.replaced", "terraform_data.tainted"],
        )
    },
    sought("tfcmt", r"(?m)^ *# (.*?) will be replaced, as requested$", &["terraform_data.requested"]),
    sought(
        "tfcmt",
        r"(?m)^ *# (.*?) will be replaced due to changes in replace_triggered_by$",
        &["terraform_data.triggered"],
    ),
    sought("tfcmt", r"(?m)^ *# (.*?) has moved to (.*?)$", &["terraform_data.old|terraform_data.new"]),
    sought("tfcmt", r"(?m)^ *# (.*?) will be imported$", &["terraform_data.imported"]),
    Sought {
        of_opentofu: Some(&["\"two\"", "\"one\""]),
        ..sought("tfcmt", r"(?m)^ *# \(imported from (.*?)\)$", &["\"two\""])
    },
    sought("tfcmt", r"(?m)^ *# \(moved from (.*?)\)$", &["terraform_data.older"]),
    sought("tfcmt", r"(?m)^(─────|-----)", &["─────"]),
    Sought {
        of_opentofu: Some(&["2|6|3|5|1"]),
        ..sought(
            "Atlantis",
            r"Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, (\d+) to forget)?\.",
            &["2|6|3|5|"],
        )
    },
    // Signs that it sets to the first column, where they have colours in Markdown.
    sought("Atlantis", r"(?m)^ {2}([+~-]) resource", &["~", "+", "+", "-", "~", "~"]),
    sought("Atlantis", r"(?m)^ +([-+~])\sid *\s=\s", &["+", "+", "-", "~", "~", "~", "~"]),
    sought("Atlantis", r"(?m)^( *)([-+~]\s)?input *\s=\s<<-?(EOT)\s*$", &["      |+ |EOT"]),
    // All lines up to the last of these are left out.
    sought("Atlantis", r"(terraform_data\.gone): Refreshing state\.\.\.", &["terraform_data.gone"]),
    sought("Atlantis", r"(No changes\.)", &[]),
    sought("tfcmt", r"(?m)^([│|] )?(Error: )", &[]),
];

/// In a plan without changes.
const OF_NO_CHANGES: [Sought; 3] = [
    sought("tfcmt", r"(?m)^(Plan: \d|No changes.)", &["No changes."]),
    sought(
        "tfcmt",
        r"(?m)^(No changes\.|Plan: (?:\d+ to import, )?0 to add, 0 to change, 0 to destroy\.)",
        &["No changes."],
    ),
    sought(
        "Atlantis",
        r"No changes. (Infrastructure is up-to-date|Your infrastructure matches the configuration).",
        &["Your infrastructure matches the configuration"],
    ),
];

/// In an error.
const OF_ERROR: [Sought; 1] = [sought("tfcmt", r"(?m)^([│|] )?(Error: )", &["|Error: "])];

/// At the end of an apply.
const OF_APPLY: [Sought; 1] = [sought("tfcmt", r"(?m)^(Apply complete!)", &["Apply complete!"])];

const LISTS: &str = r#"resource "terraform_data" "a" {
  input = {
    list  = ["one", "two"]
    texts = [<<-EOT
      a
      b
    EOT
    ]
  }
}

output "word" {
  value = "one"
}
"#;

/// In a plan that is saved and changes outputs only: no counts.
const OF_OUTPUTS: [Sought; 6] = [
    sought("tfcmt", r"(?m)^(Plan: \d|No changes.)", &[]),
    sought("tfcmt", r"(?m)^(Changes to Outputs:)", &["Changes to Outputs:"]),
    sought("tfcmt", r"(?m)^([│|] )?(Error: )", &[]),
    sought("tfcmt", r"(?m)^(─────|-----)", &["─────"]),
    sought("Atlantis", r"Plan: (?:(\d+) to import, )?(\d+) to add", &[]),
    sought("Atlantis", r"(No changes\.)", &[]),
];

/// In a plan that changes elements of lists. The signs have colours in Markdown.
const OF_LISTS: [Sought; 4] = [
    sought("Atlantis", r"(?m)^ +([-+~])\s((?:resource|data|module)\s+.+)\{", &["~|resource \"terraform_data\" \"a\" "]),
    sought(
        "Atlantis",
        r"(?m)^ +([-+~])\s([a-zA-Z_][\w]*)\s*(?:\s=\s|\s->\s|\(known after apply\)|\{)",
        &["~|input", "~|list", "~|texts", "~|output", "-|list", "-|texts"],
    ),
    Sought {
        of_opentofu: Some(&["-|\"two\"", "+|\"three\"", "-|\"one\"", "-|\"two\""]),
        ..sought("Atlantis", r#"(?m)^ +([-+~])\s(".*"),"#, &["~|\"two\" -> \"three\"", "-|\"one\"", "-|\"two\""])
    },
    sought("Atlantis", r"(?m)^ *([-+~])\s<<-?([a-zA-Z_][\w]*)\s*$", &["~|EOT", "-|EOT"]),
];

/// In a plan that destroys everything.
const OF_DESTROY_PLAN: [Sought; 4] = [
    sought("tfcmt", r"(?m)^(Plan: \d|No changes.)", &["Plan: 0"]),
    sought("tfcmt", r"(?m)([1-9][0-9]* to destroy.)", &["1 to destroy."]),
    sought("tfcmt", r"(?m)^ *# (.*) will be destroyed$", &["terraform_data.a"]),
    sought(
        "Atlantis",
        r"Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, (\d+) to forget)?\.",
        &["|0|0|1|"],
    ),
];

/// At the end of an apply that failed. tfcmt finds no error with a bar here.
const OF_FAILED_APPLY: [Sought; 2] =
    [sought("tfcmt", r"(?m)^(Apply complete!)", &[]), sought("tfcmt", r"(?m)^(Error: )", &["Error: "])];

const FAILS: &str = r#"resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "exit 3"
  }
}
"#;

/// Sentences with the name of the program, and the names under which they are found.
const NAMED: [(&str, &str, &[&str]); 4] = [
    ("tfcmt", r"(?m)^(Terraform|OpenTofu) will perform the following actions:$", &["terraform", "tofu"]),
    ("tfcmt", r"(?m)^Note: Objects have changed outside of (Terraform|OpenTofu)$", &["terraform", "tofu"]),
    ("Atlantis", r"Note: Objects have changed outside of (Terraform)", &["terraform"]),
    (
        "Atlantis",
        "(?m)^  (Terraform) will perform the actions described above\\.\n  Only 'yes' will be accepted to approve\\.$",
        &["terraform"],
    ),
];

/// The release that the program calls itself, by the pattern of Atlantis.
const OF_VERSION: &str = r"(?:Terraform|OpenTofu) v(.*?)(?:\s.*)?\n";

/// The groups of each match: those of one match with `|` between them.
fn groups(pattern: &str, text: &str) -> Vec<String> {
    let pattern = Regex::new(pattern).unwrap();
    let of_match = |captures: Captures| {
        let group = |n| captures.get_group(n).map_or("", |span| &text[span.range()]);
        (1..captures.group_len()).map(group).collect::<Vec<&str>>().join("|")
    };
    pattern.captures_iter(text).map(of_match).collect()
}

/// A program under test: its file, and the name that it is called by.
#[derive(Clone, Copy)]
struct Tool<'p> {
    program: &'p Path,
    name: &'static str,
}

impl Tool<'_> {
    /// What a command writes to both streams, as tools read it.
    fn run(self, project: &Project, args: &[&str]) -> String {
        let outcome = project.finish(project.command(self.program, args));
        outcome.out + &outcome.err
    }

    fn project(self, config: &str) -> Project {
        let mut project = Project::new(config);
        project.set("TERRANE_NAME", self.name);
        project
    }
}

fn check(tool: Tool<'_>, command: &str, all: &[Sought], text: &str) {
    for Sought { tool: reader, pattern, texts, of_opentofu } in all {
        let expected = of_opentofu.filter(|_| tool.name == "tofu").unwrap_or(*texts);
        assert_eq!(groups(pattern, text), expected, "{reader} reads {command} of {}: {pattern}\n{text}", tool.name);
    }
}

/// All patterns whose texts do not have the name of the program.
fn check_all(tool: Tool<'_>) {
    let project = tool.project(FIRST);
    let run = |args: &[&str]| tool.run(&project, args);
    run(&["init", "-input=false"]);
    run(&["apply", "-auto-approve"]);
    run(&["taint", "terraform_data.tainted"]);
    project.write("work/main.tf", SECOND);
    let plan = run(&["plan", "-input=false", "-refresh", "-no-color", "-replace=terraform_data.requested", "-out=p"]);
    check(tool, "plan", &OF_PLAN, &plan);
    check(tool, "apply", &OF_APPLY, &run(&["apply", "-input=false", "-no-color", "p"]));
    check(tool, "plan", &OF_NO_CHANGES, &run(&["plan", "-input=false", "-no-color"]));
    project.write("work/main.tf", "locals {\n  a = local.missing\n}\n");
    check(tool, "plan", &OF_ERROR, &run(&["plan", "-input=false", "-no-color"]));
}

/// Changes of outputs and of elements of lists, destruction, and an apply that fails.
fn check_more(tool: Tool<'_>) {
    let project = tool.project(LISTS);
    let run = |args: &[&str]| tool.run(&project, args);
    run(&["init", "-input=false"]);
    run(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &LISTS.replace("value = \"one\"", "value = \"two\""));
    check(tool, "plan of outputs", &OF_OUTPUTS, &run(&["plan", "-input=false", "-no-color", "-out=p"]));
    project.write(
        "work/main.tf",
        &LISTS.replace("\"one\", \"two\"", "\"one\", \"three\"").replace("      b\n", "      c\n"),
    );
    check(tool, "plan of lists", &OF_LISTS, &run(&["plan", "-input=false", "-no-color"]));
    check(tool, "plan -destroy", &OF_DESTROY_PLAN, &run(&["plan", "-destroy", "-input=false", "-no-color"]));
    check(tool, "apply -destroy", &OF_APPLY, &run(&["apply", "-destroy", "-auto-approve", "-no-color"]));
    project.write("work/main.tf", FAILS);
    check(tool, "failed apply", &OF_FAILED_APPLY, &run(&["apply", "-auto-approve", "-no-color"]));
}

/// The program under its three names, and the reference.
fn of_all(check: fn(Tool<'_>)) {
    for name in ["terrane", "terraform", "tofu"] {
        check(Tool { program: program(), name });
    }
    if let Some(terraform) = reference() {
        check(Tool { program: &terraform, name: "terraform" });
    }
}

#[test]
fn other_tools_find_what_they_read() {
    of_all(check_all);
}

#[test]
fn other_tools_find_outputs_lists_destruction_and_failures() {
    of_all(check_more);
}

const DRIFT: &str = r#"terraform {
  required_providers {
    local = {
      source = "hashicorp/local"
    }
  }
}

resource "local_file" "a" {
  filename = "made.txt"
  content  = "one"
}

resource "terraform_data" "b" {
  input = local_file.a.id
}
"#;

/// A plan with changes outside of the program, and an apply that asks.
fn with_drift(tool: Tool<'_>) -> String {
    let mut project = tool.project(DRIFT);
    let built_in = project.write("cli.tfrc", "provider_installation {\n  builtin {}\n}\n");
    project.set("TF_CLI_CONFIG_FILE", built_in);
    let run = |args: &[&str]| tool.run(&project, args);
    run(&["init", "-input=false"]);
    run(&["apply", "-auto-approve"]);
    std::fs::remove_file(project.work().join("made.txt")).unwrap();
    let plan = run(&["plan", "-input=false", "-no-color"]);
    plan + &run(&["apply", "-no-color"])
}

#[test]
fn sentences_with_the_name_are_found_under_the_names_of_others() {
    for name in ["terrane", "terraform", "tofu"] {
        let text = with_drift(Tool { program: program(), name });
        for (reader, pattern, names) in NAMED {
            let is_found = !groups(pattern, &text).is_empty();
            assert_eq!(is_found, names.contains(&name), "{reader} reads {name}: {pattern}\n{text}");
        }
        assert!(text.contains("\nUnless you have made equivalent changes to your configuration"), "{text}");
    }
}

#[test]
fn atlantis_reads_the_release_under_all_names() {
    for (name, release) in [("terrane", "1.11.4"), ("terraform", "1.11.4"), ("tofu", "1.12.6")] {
        let tool = Tool { program: program(), name };
        let text = tool.run(&tool.project(""), &["version"]);
        assert_eq!(groups(OF_VERSION, &text)[0], release, "{text}");
    }
}
