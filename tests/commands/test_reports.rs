//! Reports of `test` for machines, and what none of its outputs shows.

use std::path::Path;

use super::test_suite::{NODE, check, planning, suite};

#[test]
fn the_report_for_github_has_annotations_and_a_summary() {
    let file = format!("{}{}", planning("passes", "var.size == 1"), planning("fails", "var.size == 2"));
    let mut project = suite(NODE, &[("tests/a.tftest.hcl", &file)]);
    let summary = project.path("summary.md");
    project.set("GITHUB_STEP_SUMMARY", &summary);
    project.set("GITHUB_ACTIONS", "true");
    let results = "tests/a.tftest.hcl fail: passes pass, fails fail";
    // The environment alone changes nothing.
    let plain = check(&project, &["test"], 1, &[results]);
    assert!(!plain.out.contains("::error") && !summary.exists(), "{}", plain.out);
    let annotation =
        "::error file=tests/a.tftest.hcl,line=13,title=run \"fails\"%3A Test assertion failed::The size is 1.\n";
    let outcome = check(&project, &["test", "-report=github"], 1, &[results]);
    assert!(outcome.out.contains(annotation), "{}", outcome.out);
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("### Failure! 1 passed, 1 failed.\n"), "{text}");
    assert!(text.contains("\n| tests/a.tftest.hcl | fail | 1 | 1 | 0 | "), "{text}");
    assert!(text.contains("<summary>tests/a.tftest.hcl, run \"fails\"</summary>"), "{text}");
    // Paths are those of the repository.
    project.set("GITHUB_WORKSPACE", project.work().parent().unwrap());
    let outcome = project.run(&["test", "-report=github"]);
    assert!(outcome.out.contains("::error file=work/tests/a.tftest.hcl,line=13,"), "{}", outcome.out);
    project.run(&["test", "-report=github", "-json"]).expect(1, &["mutually exclusive"]);
    project.run(&["test", "-report=gitlab"]).expect(1, &["for flag -report"]);
}

#[test]
fn the_slowest_runs_are_listed_on_request() {
    let file: String = ["one", "two", "three"].iter().map(|name| planning(name, "var.size == 1")).collect();
    let project = suite(NODE, &[("a.tftest.hcl", &file)]);
    assert!(!project.ok(&["test"]).out.contains("Slowest runs"));
    let out = project.ok(&["test", "-durations=2"]).out;
    let (_, list) = out.split_once("\nSlowest runs:\n").unwrap_or_else(|| panic!("{out}"));
    assert_eq!(list.lines().filter(|line| line.contains("s  a.tftest.hcl/")).count(), 2, "{out}");
}

const MARKER: &str = "marker-f3a91";

/// A sensitive and an ephemeral variable, in rules, outputs, objects and assertions that fail.
const SECRETS: &str = r#"variable "secret" {
  type      = string
  sensitive = true

  validation {
    condition     = !endswith(var.secret, "x")
    error_message = "The secret ends with x."
  }
}

variable "token" {
  type      = string
  ephemeral = true
}

resource "terraform_data" "a" {
  input            = length(var.secret)
  triggers_replace = var.secret

  lifecycle {
    precondition {
      condition     = !endswith(var.secret, "y")
      error_message = "The secret ends with y."
    }
  }
}

output "secret" {
  value     = var.secret
  sensitive = true
}

output "nested" {
  value     = { name = "n", list = [var.secret] }
  sensitive = true
}

check "secret" {
  assert {
    condition     = var.secret == "z"
    error_message = "The secret is not z."
  }
}
"#;

const SECRET_RUNS: &str = r#"run "applies" {
  assert {
    condition     = output.secret == "a" || output.nested == { name = "n", list = ["a"] } || var.token == "a"
    error_message = "They are others."
  }

  assert {
    condition     = output.secret == "a"
    error_message = "It is ${output.secret}, ${var.token}."
  }
}
"#;

const MORE_SECRET_RUNS: &str = r#"run "wrong_type" {
  command = plan

  assert {
    condition     = output.nested
    error_message = "never"
  }
}
"#;

/// The files in a folder and below it, each with its content.
fn texts_below(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path().is_dir() {
            true => all.extend(texts_below(&entry.path())),
            false => {
                let content = std::fs::read(entry.path()).unwrap();
                all.push((entry.path().display().to_string(), String::from_utf8_lossy(&content).into_owned()));
            }
        }
    }
    all
}

/// Every output and every file after runs with these flags; none has the marker.
fn check_secrets(flags: &[&str]) {
    let files = [("a.tftest.hcl", SECRET_RUNS), ("b.tftest.hcl", MORE_SECRET_RUNS)];
    let mut project = suite(SECRETS, &files);
    project.set("GITHUB_STEP_SUMMARY", project.path("work/summary.md"));
    for end in ["", "x", "y"] {
        let variables = [format!("-var=secret={MARKER}{end}"), format!("-var=token={MARKER}")];
        let args: Vec<&str> =
            ["test"].into_iter().chain(flags.iter().copied()).chain(variables.iter().map(String::as_str)).collect();
        let outcome = project.run(&args);
        assert_eq!(outcome.code, Some(1), "{args:?}\n{}{}", outcome.out, outcome.err);
        let mut texts = texts_below(&project.work());
        texts.extend([("standard output".into(), outcome.out), ("standard error".into(), outcome.err)]);
        for (place, text) in texts {
            assert!(!text.contains(MARKER), "{args:?}: {place}\n{text}");
        }
    }
}

#[test]
fn no_output_shows_sensitive_values() {
    let cases: [&[&str]; 6] =
        [&[], &["-json"], &["-report=github"], &["-junit-xml=report.xml"], &["-json-into=events"], &["-verbose"]];
    for flags in cases {
        check_secrets(flags);
    }
}

/// These events have documents of plans and states.
#[test]
fn verbose_events_have_no_sensitive_values() {
    check_secrets(&["-json", "-verbose"]);
}
