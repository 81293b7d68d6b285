//! Tests of whole runs, with a shell script in place of the program: the order of commands, failures, what happens at the end.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};

use super::settings::Settings;
use super::{Import, Outcome, Step, Test, plan, state};

/// Appends its arguments to a file, prints the JSON files of states and plans, does not import with an invalid configuration, and
/// ends other commands as the next line of `COMMAND.answers` says: an exit code and a text.
const SCRIPT: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/commands"
case "$*" in
  version*) echo '{"terraform_version": "1.11.4"}' ;;
  "show -no-color -json") cat "$here/state.json" ;;
  show*) cat "$here/plan.json" ;;
  import*) if grep -q invalid main.tf; then exit 1; fi ;;
  *)
    answers="$here/$1.answers"
    if [ -s "$answers" ]; then
      answer=$(head -n 1 "$answers")
      sed 1d "$answers" > "$answers.rest"
      mv "$answers.rest" "$answers"
      echo "${answer#* }"
      exit "${answer%% *}"
    fi
    ;;
esac
"#;

/// The number of commands up to the end of a first step that applies.
const FIRST_STEP: usize = 7;

/// A program that does nothing.
struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    /// A program whose state has one note, and whose plans are empty.
    fn new() -> Fake {
        let fake = Fake { folder: tempfile::tempdir().unwrap() };
        fake.write("script", SCRIPT);
        // Copied by another process: a file that this one has open for writing cannot be started.
        let mut copy = Command::new("sh");
        copy.args(["-c", "cp script program && chmod +x program"]).current_dir(&fake.folder);
        assert!(copy.status().unwrap().success());
        fake.set_state(&[json!({ "address": "todo_note.a", "values": { "id": "1", "title": "A" } })]);
        fake.write(
            "plan.json",
            r#"{ "resource_changes": [{ "address": "todo_note.a", "change": { "actions": ["no-op"] } }] }"#,
        );
        fake
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn set_state(&self, resources: &[Json]) {
        self.write("state.json", &json!({ "values": { "root_module": { "resources": resources } } }).to_string());
    }

    /// Exit codes and texts of a command.
    fn answer(&self, command: &str, answers: &[&str]) {
        self.write(&format!("{command}.answers"), &(answers.join("\n") + "\n"));
    }

    fn run(&self, test: Test) -> Result<Outcome, String> {
        let program = self.folder.path().join("program");
        let settings = Settings::of(&[("TF_ACC", "1"), ("TF_ACC_TERRAFORM_PATH", program.to_str().unwrap())]);
        test.run_with(settings).map_err(|error| error.to_string())
    }

    /// The commands that were run, without flags that all of them have.
    fn commands(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("commands")).unwrap();
        let common = ["-no-color", "-input=false", "-detailed-exitcode", "-out=acceptance.tfplan", "-auto-approve"];
        let short = |line: &str| line.split(' ').filter(|word| !common.contains(word)).collect::<Vec<_>>().join(" ");
        text.lines().map(short).collect()
    }
}

#[test]
fn step_applies_and_plans_twice() {
    let fake = Fake::new();
    let step = Step::new("").taint("todo_note.a").plan_argument("-x").check(state::exists("todo_note.a"));
    assert_eq!(fake.run(Test::new().step(step)), Ok(Outcome::Passed));
    let expected = [
        "version -json",
        "init",
        "taint todo_note.a",
        "plan -x",
        "apply acceptance.tfplan",
        "show -json",
        "plan -refresh=false -x",
        "plan -x",
        "init",
        "show -json",
        "destroy",
    ];
    assert_eq!(fake.commands(), expected);
}

#[test]
fn steps_of_other_kinds_run_their_commands() {
    let cases: [(Step, &[&str]); 3] = [
        (Step::again().plan_only(), &["plan"]),
        (Step::refresh(), &["apply -refresh-only", "show -json", "plan"]),
        (
            Step::destroy(),
            &[
                "plan -destroy",
                "apply acceptance.tfplan",
                "show -json",
                "plan -destroy -refresh=false",
                "plan -destroy",
            ],
        ),
    ];
    for (step, expected) in cases {
        let fake = Fake::new();
        assert_eq!(fake.run(Test::new().step(Step::new("")).step(step)), Ok(Outcome::Passed));
        let commands = fake.commands();
        assert_eq!(commands[FIRST_STEP..commands.len() - 3], *expected);
    }
}

#[test]
fn plans_that_are_not_as_expected_fail() {
    let cases: [(Step, &[&str], &str); 5] = [
        (
            Step::new(""),
            &["0", "2 # a"],
            "step 1 of 1: expected an empty plan after apply, without a refresh, found changes",
        ),
        (Step::new(""), &["0", "0", "2 # b"], "step 1 of 1: expected an empty plan after the refresh, found changes"),
        (
            Step::new("").expect_changes(),
            &["2", "2", "0 # c"],
            "step 1 of 1: expected a plan with changes, found an empty one",
        ),
        (Step::new("").plan_only(), &["2 # d"], "step 1 of 1: expected an empty plan, found changes"),
        (
            Step::new("").check_plan(plan::not_empty()),
            &["2 # e"],
            "step 1 of 1: expected a plan with changes, found an empty one",
        ),
    ];
    for (step, plans, message) in cases {
        let fake = Fake::new();
        fake.answer("plan", plans);
        let error = fake.run(Test::new().step(step)).unwrap_err();
        assert!(error.starts_with(message), "{error}");
        let shown = plans.last().unwrap().split_once(' ').unwrap().1;
        assert!(error.contains("$ program plan -no-color") && error.contains(shown), "{error}");
    }
}

#[test]
fn failed_steps_are_destroyed() {
    let fake = Fake::new();
    fake.answer("apply", &["1 no space"]);
    fake.answer("destroy", &["1 no way"]);
    let error = fake.run(Test::new().step(Step::new("")).step(Step::new(""))).unwrap_err();
    assert!(error.starts_with("step 1 of 2: the command failed\n\n$ program apply "), "{error}");
    assert!(
        error.contains("no space\nexit code 1\n\nfinal destroy: the command failed\n\n$ program destroy "),
        "{error}"
    );
    assert_eq!(fake.commands().last().unwrap(), "destroy");
}

#[test]
fn failed_checks_show_the_apply() {
    let fake = Fake::new();
    fake.answer("apply", &["0 Apply complete"]);
    let error = fake.run(Test::new().step(Step::new("").check(state::value("todo_note.a", "title", "B")))).unwrap_err();
    let message = "step 1 of 1: todo_note.a: title: expected \"B\", found \"A\"\n\n$ program apply ";
    assert!(error.starts_with(message) && error.contains("Apply complete"), "{error}");
}

#[test]
fn panicking_checks_do_not_prevent_the_destroy() {
    let fake = Fake::new();
    let test = Test::new().step(Step::new("").check(|_| panic!("not so")));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fake.run(test))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"not so"));
    assert_eq!(fake.commands().last().unwrap(), "destroy");
}

#[test]
fn expected_errors_pass_and_nothing_is_destroyed_without_an_apply() {
    let fake = Fake::new();
    fake.answer("plan", &["1 Error: Missing title"]);
    assert_eq!(fake.run(Test::new().step(Step::new("").expect_error("Missing title"))), Ok(Outcome::Passed));
    assert_eq!(fake.commands(), ["version -json", "init", "plan"]);
}

#[test]
fn destruction_is_checked_with_the_last_state() {
    let fake = Fake::new();
    let test = |id: &'static str| {
        Test::new().step(Step::new("")).check_destroyed(move |state| match state.text("todo_note.a", "id") {
            Some(found) if found == id => Ok(()),
            found => Err(format!("expected {id}, found {found:?}")),
        })
    };
    assert_eq!(fake.run(test("1")), Ok(Outcome::Passed));
    let error = fake.run(test("2")).unwrap_err();
    assert!(error.starts_with("final destroy: expected 2, found Some(\"1\")"), "{error}");
}

#[test]
fn imports_run_in_a_copy() {
    let fake = Fake::new();
    let test = |import: Import| Test::new().step(Step::new("")).import(import);
    assert_eq!(fake.run(test(Import::command("todo_note.a").verify())), Ok(Outcome::Passed));
    let commands = fake.commands();
    let import = ["init", "show -json", "state rm todo_note.a", "import todo_note.a 1", "show -json"];
    assert_eq!(commands[FIRST_STEP..commands.len() - 3], import);

    fake.answer("plan", &["0", "0", "0", "1 Error: Missing title"]);
    let invalid = Step::new("invalid").expect_error("Missing title");
    let after_error = Test::new().step(Step::new("")).step(invalid).import(Import::command("todo_note.a"));
    assert_eq!(fake.run(after_error), Ok(Outcome::Passed));

    let error = fake.run(test(Import::block("todo_note.a"))).unwrap_err();
    assert!(error.starts_with("step 2 of 2: todo_note.a: expected an import, found none in the plan"), "{error}");
    let imported = json!({ "actions": ["no-op"], "importing": { "id": "1" }, "before": { "id": "1", "title": "B" } });
    let changes = json!({ "resource_changes": [{ "address": "todo_note.a", "change": imported }] });
    fake.write("plan.json", &changes.to_string());
    assert_eq!(fake.run(test(Import::block("todo_note.a"))), Ok(Outcome::Passed));
    assert_eq!(fake.run(test(Import::identity_block("todo_note.a").identity("id", "1"))), Ok(Outcome::Passed));
    let error = fake.run(test(Import::identity_block("todo_note.a"))).unwrap_err();
    assert!(error.starts_with("step 2 of 2: todo_note.a: expected an identity in the state, found none"), "{error}");
    let error = fake.run(test(Import::block("todo_note.a").verify())).unwrap_err();
    assert!(error.contains("\n  title: expected \"A\", found \"B\"\n"), "{error}");
}

#[test]
fn tests_and_steps_are_skipped_by_version() {
    let fake = Fake::new();
    let reason = "version 1.11.4 is below 1.12.0".to_owned();
    assert_eq!(fake.run(Test::new().skip_below("1.12").step(Step::new(""))), Ok(Outcome::Skipped(reason)));
    let prepared = Arc::new(AtomicBool::new(false));
    let shared = prepared.clone();
    let step = Step::new("").prepare(move || shared.store(true, Ordering::Relaxed)).skip_above("1.10");
    assert_eq!(fake.run(Test::new().step(step)), Ok(Outcome::Passed));
    assert!(!prepared.load(Ordering::Relaxed));
    let error = fake.run(Test::new().step(Step::again())).unwrap_err();
    assert!(error.starts_with("step 1 of 1: the first step needs a configuration"), "{error}");
}
