//! Runs of commands that write JSON, under the names and releases that change it.
//!
//! Owns the configuration and the commands; what they write is compared with the schemas by the caller.

use std::path::Path;

use serde_json::Value;

use super::documents::{documents, schema_of};
use crate::support::{Outcome, Project};

const MAIN: &str = r#"terraform {
  required_providers {
    local = {
      source = "hashicorp/local"
    }
    random = {
      source = "hashicorp/random"
    }
    tls = {
      source = "hashicorp/tls"
    }
  }
}

variable "word" {
  type        = string
  description = "A word."
  default     = "one"
}

variable "shape" {
  type    = object({ a = list(number), b = optional(map(bool)) })
  default = { a = [1, 2.5] }
}

variable "secret" {
  type      = string
  sensitive = true
  default   = "hidden"
}

variable "fails" {
  default = false
}

resource "random_id" "a" {
  byte_length = 4
  keepers = {
    word = var.word
  }
}

resource "local_file" "a" {
  filename = "made.txt"
  content  = var.word
}

resource "tls_private_key" "a" {
  algorithm = "ED25519"
}

resource "terraform_data" "a" {
  for_each = toset(["x", "y/z"])
  input    = { id = random_id.a.hex, secret = var.secret, key = each.key }

  provisioner "local-exec" {
    command = "echo done"
  }

  lifecycle {
    postcondition {
      condition     = self.id != ""
      error_message = "There is no ID."
    }
  }
}

resource "terraform_data" "counted" {
  count            = 2
  input            = [count.index, null, true]
  triggers_replace = var.word
}

resource "terraform_data" "failing" {
  count = var.fails ? 1 : 0

  provisioner "local-exec" {
    command = "exit 1"
  }
}

ephemeral "tls_private_key" "once" {
  algorithm = "ED25519"
}

data "tls_public_key" "a" {
  private_key_pem = tls_private_key.a.private_key_pem
}

module "m" {
  source = "./m"
  word   = var.word
}

check "word" {
  assert {
    condition     = var.word == "one"
    error_message = "The word is ${var.word}."
  }
}

output "secret" {
  value     = var.secret
  sensitive = true
}

output "shape" {
  description = "The shape."
  value       = var.shape
}

output "id" {
  value      = module.m.id
  depends_on = [terraform_data.a]
}
"#;
const CALLED: &str = r#"variable "word" {
  type = string
}

resource "terraform_data" "inner" {
  input = var.word
}

moved {
  from = terraform_data.old
  to   = terraform_data.inner
}

output "id" {
  value = terraform_data.inner.id
}
"#;
const BROKEN: &str = r#"locals {
  bad = upper(1, 2)
  no  = local.missing
}
"#;
const TESTS: &str = r#"run "passes" {
  assert {
    condition     = output.shape.a[0] == 1
    error_message = "It is not one."
  }
}

run "fails" {
  command = plan
  assert {
    condition     = output.shape.a[0] == 2
    error_message = "It is not two."
  }
}
"#;

const POLICIES: &str = r#"module_policy "./m" "word" {
  enforce {
    condition    = meta.version == null && attrs.word != ""
    info_message = "The word is set."
  }
}

resource_policy "terraform_data" "input" {
  enforce {
    condition = attrs.input != null
  }
}
"#;
const POLICY_TESTS: &str = r#"resource "terraform_data" "good" {
  attrs = { input = 1 }
}

resource "terraform_data" "bad" {
  attrs = { input = null }
}

resource "terraform_data" "empty" {
}
"#;

/// Arguments of commands, and the schema that one of the documents must have; empty: the command writes none.
#[rustfmt::skip]
const STEPS: &[(&str, &str)] = &[
    ("init -json", "stream"),
    ("get -json", "stream"),
    ("init -json -policies=policies", "stream"),
    ("policy validate -json -policies=policies", "validate"),
    ("policy validate -json policies", "validate"),
    ("policy test -json -policies=policies", "stream"),
    ("policy test -json policies", "stream"),
    ("validate -json", "validate"),
    ("-chdir=broken validate -json", "validate"),
    ("-chdir=broken plan -json", "stream"),
    ("plan -json -out=p", "stream"),
    ("show -json p", "plan"),
    ("show -json", "state"),
    ("apply -json p", "stream"),
    ("show -json", "state"),
    ("plan -json -replace=random_id.a", "stream"),
    ("plan -json -destroy", "stream"),
    ("plan -var=word=two -json-into=plan.json -out=q", "stream"),
    ("show -json q", "plan"),
    ("plan -var=word=two -summary=json", "summary"),
    ("show -summary=json q", "summary"),
    ("show -summary=json", "summary"),
    ("explain -json -plan=q -dependents random_id.a", "explain"),
    ("explain -json -var=word=two terraform_data.counted[0]", "explain"),
    ("explain -json terraform_data.none", "explain"),
    ("show -json -config", "configuration"),
    ("show -json -module=m", "configuration"),
    ("output -json", "output"),
    ("output -json-into=output.json", "output"),
    ("version -json", "version"),
    ("modules -json", "modules"),
    ("providers schema -json", "providers-schema"),
    ("metadata functions -json", "functions"),
    ("workspace list -json", "workspace-list"),
    ("workspace list -json-into=list.json", "stream"),
    ("workspace new -json other", "stream"),
    ("workspace select -json default", "stream"),
    ("workspace delete -json other", "stream"),
    ("state list -json", "stream"),
    ("state show -json terraform_data.counted[0]", "state-show"),
    ("state show -json terraform_data.none", "state-show"),
    ("state identities -json", "state-identities"),
    ("taint -json terraform_data.counted[0]", "stream"),
    ("state mv -json terraform_data.counted[1] terraform_data.counted[5]", "stream"),
    ("plan -json -out=r", "stream"),
    ("show -json r", "plan"),
    ("untaint -json terraform_data.counted[0]", "stream"),
    ("refresh -json", "stream"),
    ("state replace-provider -json -auto-approve hashicorp/tls hashicorp/tls", "stream"),
    ("state rm -json terraform_data.counted[5]", "stream"),
    ("state history -json", "state-history"),
    ("providers lock -json", "stream"),
    ("rm made.txt", ""),
    ("plan -json -refresh-only", "stream"),
    ("apply -json -auto-approve -var=fails=true", "stream"),
    ("test -json -verbose", "stream"),
    ("test -json -coverage", "stream"),
    ("test -coverage=json:coverage.json", "test-coverage"),
    ("force-unlock -json -force none", "stream"),
    ("import -json terraform_data.counted[1] id", "stream"),
    ("destroy -json -auto-approve", "stream"),
    ("show -json", "state"),
];

/// Two documents that only Terraform has; otherwise there is a stream.
const OF_TERRAFORM: [&str; 2] = ["workspace-list", "state-show"];

/// A document with the command that wrote it and the name of its schema.
#[derive(Clone, Debug)]
pub struct Written {
    pub command: String,
    pub schema: &'static str,
    pub document: Value,
}

/// Everything that the program writes under a name, compatible with a release; empty: the newest.
pub fn written_by(name: &str, release: &str) -> Vec<Written> {
    let mut project = Project::new(MAIN);
    project.write("work/m/main.tf", CALLED);
    project.write("work/broken/main.tf", BROKEN);
    project.write("work/main.tftest.hcl", TESTS);
    project.write("work/policies/a.policy.hcl", POLICIES);
    project.write("work/policies/a.policytest.hcl", POLICY_TESTS);
    let built_in = project.write("cli.tfrc", "provider_installation {\n  builtin {}\n  direct {}\n}\n");
    project.set("TF_CLI_CONFIG_FILE", built_in);
    project.set("TERRANE_NAME", name);
    project.set("TERRANE_COMPATIBLE_VERSION", release);
    let mut written = Vec::new();
    for (line, expected) in STEPS {
        if let Some(file) = line.strip_prefix("rm ") {
            std::fs::remove_file(project.work().join(file)).unwrap();
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let outcome = project.run(&words);
        let of_command = written_to(&project, &format!("{name} {release} {line}"), &words, &outcome);
        let is_elsewhere = OF_TERRAFORM.contains(expected) && name != "terraform";
        if !is_elsewhere {
            expect(&of_command, expected, &outcome);
        }
        written.extend(of_command);
    }
    written
}

/// As [`STEPS`], for the reference, in a configuration without providers.
const STEPS_OF_REFERENCE: [(&str, &str); 12] = [
    ("init -json", "stream"),
    ("validate -json", "validate"),
    ("plan -json -out=p", "stream"),
    ("show -json p", "plan"),
    ("apply -json p", "stream"),
    ("show -json", "state"),
    ("output -json", "output"),
    ("version -json", "version"),
    ("modules -json", "modules"),
    ("providers schema -json", "providers-schema"),
    ("metadata functions -json", "functions"),
    ("test -json -verbose", "stream"),
];

/// Everything that the reference writes.
pub fn written_by_reference(terraform: &Path) -> Vec<Written> {
    let mut project = Project::new(CALLED);
    project.write("work/main.tftest.hcl", "run \"passes\" {\n  variables {\n    word = \"x\"\n  }\n}\n");
    project.set("TF_VAR_word", "one");
    let mut written = Vec::new();
    for (line, expected) in STEPS_OF_REFERENCE {
        let words: Vec<&str> = line.split(' ').collect();
        let outcome = project.finish(project.command(terraform, &words));
        let of_command = written_to(&project, &format!("the reference {line}"), &words, &outcome);
        expect(&of_command, expected, &outcome);
        written.extend(of_command);
    }
    written
}

/// What a command wrote for programs: to standard output, or to a file.
fn written_to(project: &Project, command: &str, words: &[&str], outcome: &Outcome) -> Vec<Written> {
    let flags = ["-json-into=", "-coverage=json:"];
    let into = words.iter().find_map(|word| flags.iter().find_map(|flag| word.strip_prefix(*flag)));
    let text = into.map_or_else(|| outcome.out.clone(), |file| project.read(&format!("work/{file}")));
    let one = |document: Value| {
        let schema = schema_of(words, &document)?;
        Some(Written { command: command.to_owned(), schema, document })
    };
    documents(&text).unwrap_or_default().into_iter().filter_map(one).collect()
}

/// Fails unless one of the documents has the schema.
fn expect(written: &[Written], schema: &str, outcome: &Outcome) {
    let is_there = schema.is_empty() || written.iter().any(|found| found.schema == schema);
    assert!(is_there, "no document of {schema:?}: {outcome:?}");
}
