//! `show -html` and `show -markdown`: pages and comments of plans and states.

use serde_json::Value;

use crate::support::Project;

const MAIN: &str = r#"variable "ami" {
  default = "one"
}

locals {
  name = terraform_data.base.id
}

resource "terraform_data" "base" {
  input            = sensitive("hunter2-hunter2")
  triggers_replace = [var.ami]
}

resource "terraform_data" "web" {
  for_each = toset(["a<b>", "@team #1"])
  input    = local.name
}

output "secret" {
  value     = terraform_data.base.output
  sensitive = true
}
"#;

/// With a saved plan `change`, which replaces the base.
fn project() -> Project {
    let project = Project::new(MAIN);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["plan", "-out=change", "-var=ami=two"]);
    project
}

/// The data of a page, and a look-up in its texts.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("no data");
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn texts(data: &Value) -> Vec<&str> {
    data["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn pages_of_plans_have_reasons_places_and_dependencies_but_no_secrets() {
    let project = project();
    let page = project.ok(&["show", "-html", "change"]).out;
    assert!(page.starts_with("<!doctype html>") && !page.contains("hunter2"));
    let data = data(&page);
    let texts = texts(&data);
    for text in ["terraform_data.base", "triggers_replace changes", "main.tf:11", "(sensitive value)", "\"two\""] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    // The first entry is the replacement.
    let first = &data["entries"][0];
    assert_eq!(data["effects"][first[3].as_u64().unwrap() as usize][1], "-/+");
    // `web` needs `base` through a local value.
    assert_eq!(data["edges"].as_array().unwrap().len(), 2, "{}", data["edges"]);
    assert!(!data["views"].as_array().unwrap().is_empty());
}

#[test]
fn pages_of_states_have_every_object() {
    let project = project();
    let page = project.ok(&["show", "-html"]).out;
    assert!(!page.contains("hunter2"));
    let data = data(&page);
    assert_eq!(data["entries"].as_array().unwrap().len(), 4);
    assert!(texts(&data).contains(&"terraform_data.web[\"a<b>\"]"));
    assert_eq!(project.ok(&["show", "-html", "terraform.tfstate"]).out, page);
}

#[test]
fn comments_go_to_a_file_and_keep_the_limit() {
    let project = project();
    let shown = project.ok(&["show", "-markdown", "-max-bytes=github", "-out=comment.md", "change"]);
    assert_eq!((shown.out.as_str(), shown.err.as_str()), ("", ""));
    let comment = project.read("work/comment.md");
    assert!(comment.len() <= 65_536 && !comment.contains("hunter2"));
    for part in [
        "**Plan: 1 to add, 2 to change, 1 to destroy.",
        "<code>terraform_data.web[&quot;@team #1&quot;]</code>",
        "```diff\n",
    ] {
        assert!(comment.contains(part), "{part}\n{comment}");
    }
    let short = project.ok(&["show", "-markdown", "-max-bytes=2000", "change"]).out;
    assert!(short.len() <= 2000 && short.contains("terraform_data.base"), "{short}");
}

#[test]
fn reviews_refuse_what_contradicts_them() {
    let project = project();
    let refused: [(&[&str], &str); 6] = [
        (&["show", "-html", "-json", "change"], "Incompatible output options"),
        (&["show", "-html", "-config"], "JSON output required for configuration"),
        (&["show", "-out=x", "change"], "Incompatible output options"),
        (&["show", "-html", "-show-sensitive", "change"], "Sensitive values cannot be shown"),
        (&["show", "-markdown", "-max-bytes=10", "change"], "Invalid -max-bytes option"),
        (&["show", "-html", "-out=missing/x", "change"], "Failed to write file"),
    ];
    for (args, message) in refused {
        let outcome = project.run(args);
        outcome.expect(1, &[message]);
        assert_eq!(outcome.out, "", "{args:?}");
    }
}

#[test]
fn pages_of_encrypted_plans_say_that_they_are_clear_text() {
    let project = Project::new(MAIN);
    let encryption = r#"
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct horse battery staple"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}
"#;
    project.write("work/encryption.tf", encryption);
    project.ok(&["init"]);
    project.ok(&["plan", "-out=change"]);
    let shown = project.ok(&["show", "-html", "change"]);
    assert_eq!(shown.err.matches("clear text").count(), 1, "{}", shown.err);
    assert!(shown.out.starts_with("<!doctype html>") && !shown.out.contains("hunter2"));
}
