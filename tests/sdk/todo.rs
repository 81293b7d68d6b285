//! The example provider, built by cargo as a separate package, from `init` to `destroy`: with Terrane and with the reference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::fake::Fake;
use super::{EXAMPLE, here};
use crate::support::needs::{self, Need};
use crate::support::{self, Outcome, Project, platform, processes, program};

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    todo = {
      source = "example/todo"
    }
  }
}

variable "title" {
  default = "Buy milk"
}

variable "list" {
  default = "inbox"
}

variable "secret_version" {
  default = 1
}

ephemeral "todo_session" "run" {}

resource "todo_note" "milk" {
  title          = var.title
  list           = var.list
  tags           = ["food", "home"]
  secret         = ephemeral.todo_session.run.token
  secret_version = var.secret_version
}

resource "todo_note" "bread" {
  title      = "Buy bread"
  tags       = ["food"]
  done       = true
  depends_on = [todo_note.milk]

  reminder {
    at = "2026-12-01T08:00:00Z"
  }
}

data "todo_notes" "food" {
  tag        = "food"
  depends_on = [todo_note.bread]
}

output "titles" {
  value = data.todo_notes.food.notes[*].title
}

output "slug" {
  value = provider::todo::slug(todo_note.milk.title)
}
"#;

const IMPORT_BY_IDENTITY: &str = r#"
import {
  to = todo_note.bread
  identity = {
    id = "3"
  }
}
"#;

/// Cargo in the folder of the example.
fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).arg("--locked").current_dir(here(EXAMPLE)).env("CARGO_PROFILE_DEV_DEBUG", "0");
    command
}

/// Where the example is built: beside the folder of this build's profile.
fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_terrane")).ancestors().nth(2).unwrap().join("sdk-example")
}

/// The program of the example, built once for all tests. None, and the test is skipped, if there is no cargo, or if it lacks
/// crates and the network.
pub fn provider() -> Option<&'static Path> {
    static BUILT: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        crates_of(cargo).map_err(|why| format!("cargo cannot build {EXAMPLE}: {why}"))?;
        let built = cargo(&["build", "--offline", "--target-dir", target().to_str().unwrap()]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Ok(target().join("debug/terraform-provider-todo"))
    });
    BUILT.as_deref().inspect_err(|why| needs::skip(Need::Cargo, why)).ok()
}

/// Whether cargo has all crates of a package; loads those that are missing.
///
/// Only those of this platform: a build needs no others, and the build of Terrane itself has loaded no others.
pub fn crates_of(cargo: impl Fn(&[&str]) -> Command) -> Result<(), String> {
    let host = host();
    let only = format!("--filter-platform={host}");
    if succeeds(cargo(&["metadata", "--format-version=1", "--offline", &only])).is_ok() {
        return Ok(());
    }
    succeeds(cargo(&["fetch", "--target", &host]))
}

fn succeeds(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()) }
}

/// How cargo names this platform.
fn host() -> String {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let version = command.arg("-vV").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap_or_default().to_owned()
}

/// Runs the acceptance tests of the example, which use the library's own harness.
fn run_acceptance_tests(host: &Path) {
    let home = tempfile::tempdir().unwrap();
    let settings = home.path().join("settings.tfrc");
    std::fs::write(&settings, "").unwrap();
    let mut tests = cargo(&["test", "--offline", "--target-dir", target().to_str().unwrap(), "acceptance"]);
    tests.env("TF_ACC", "1").env("TF_ACC_TERRAFORM_PATH", host).env("TF_CLI_CONFIG_FILE", settings);
    let Output { status, stdout, stderr } = tests.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success() && stdout.contains("test result: ok. 6 passed"), "{stdout}\n{stderr}");
}

/// A project whose provider comes from a mirror and uses a new service.
struct Lab {
    project: Project,
    host: PathBuf,
    fake: Fake,
}

impl Lab {
    fn new(host: &Path, provider: &Path) -> Lab {
        let mut project = Project::new(CONFIGURATION);
        let fake = Fake::start();
        let folder = format!("mirror/registry.terraform.io/example/todo/0.1.0/{}", platform());
        std::fs::create_dir_all(project.path(&folder)).unwrap();
        std::fs::copy(provider, project.path(&folder).join("terraform-provider-todo_v0.1.0")).unwrap();
        let mirror = project.path("mirror").display().to_string();
        let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
        let settings = project.write("settings.tfrc", &settings);
        project.set("TF_CLI_CONFIG_FILE", settings);
        project.set("TODO_ADDRESS", &fake.address);
        project.set("TODO_TOKEN", Fake::TOKEN);
        Lab { project, host: host.to_owned(), fake }
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.project.finish(self.project.command(&self.host, args))
    }

    /// A plan has nothing to do.
    fn expect_no_changes(&self) {
        self.run(&["plan", "-detailed-exitcode", "-no-color"]).expect(0, &["No changes."]);
    }

    fn apply(&self, code: i32, texts: &[&str]) {
        self.run(&["apply", "-auto-approve", "-no-color"]).expect(code, texts);
    }

    /// Sets a variable of the configuration for all commands that follow.
    fn set(&mut self, name: &str, value: &str) {
        self.project.set(&format!("TF_VAR_{name}"), value);
    }

    fn note(&self, id: &str) -> Value {
        self.fake.store().notes.get(id).cloned().unwrap_or_else(|| panic!("no note {id}"))
    }

    fn secret(&self, id: &str) -> Option<String> {
        self.fake.store().secrets.get(id).cloned()
    }

    /// The stored object of `todo_note.bread` becomes one of version 0 of the schema.
    fn downgrade_state(&self) {
        let mut state: Value = serde_json::from_str(&self.project.read("work/terraform.tfstate")).unwrap();
        let resources = state["resources"].as_array_mut().unwrap();
        let bread = resources.iter_mut().find(|resource| resource["name"] == "bread").unwrap();
        assert_eq!(bread["instances"][0]["schema_version"], 1);
        bread["instances"] = json!([{
            "schema_version": 0,
            "attributes": { "id": "3", "text": "Buy bread", "labels": "food" },
        }]);
        state["serial"] = json!(state["serial"].as_u64().unwrap() + 1);
        self.project.write("work/terraform.tfstate", &state.to_string());
    }
}

/// The steps that both hosts do in the same way.
fn play(lab: &mut Lab) {
    lab.run(&["init", "-no-color"]).expect(0, &["Installed example/todo v0.1.0", "successfully initialized"]);

    // A creation that fails in the middle: the note is in the state, tainted, and is replaced.
    lab.fake.store().refuses_secrets = true;
    lab.apply(1, &["Error: Request to the to-do service failed", "no secrets today"]);
    assert_eq!(lab.note("1")["title"], "Buy milk");
    lab.fake.store().refuses_secrets = false;
    lab.apply(0, &["todo_note.milk is tainted", "Note is done already", "2 added, 0 changed, 1 destroyed"]);
    assert_eq!(lab.fake.store().notes.len(), 2);
    assert_eq!(lab.note("3")["reminder"], json!({ "at": "2026-12-01T08:00:00Z", "channel": "mail" }));
    let output = |name: &str| lab.run(&["output", "-json", name]).out.split_whitespace().collect::<String>();
    assert_eq!((output("titles").as_str(), output("slug").as_str()), (r#"["Buymilk","Buybread"]"#, r#""buy-milk""#));
    lab.expect_no_changes();

    // A change in place, which sends the secret again.
    let sent = lab.secret("2").unwrap();
    lab.set("title", "Buy cheese");
    lab.set("secret_version", "2");
    lab.apply(0, &["0 added, 1 changed, 0 destroyed"]);
    assert_eq!(lab.note("2")["title"], "Buy cheese");
    assert_ne!(lab.secret("2").unwrap(), sent);

    lab.set("list", "work");
    lab.apply(0, &["# forces replacement", "1 added, 0 changed, 1 destroyed"]);
    assert_eq!((lab.note("4")["list"].as_str(), lab.secret("2")), (Some("work"), None));

    lab.run(&["state", "rm", "todo_note.bread"]).expect(0, &[]);
    lab.run(&["import", "-no-color", "todo_note.bread", "99"]).expect(1, &["The service has no note \"99\"."]);
    // The reference closes no ephemeral objects after such an error.
    lab.fake.store().sessions.clear();
    lab.run(&["import", "-no-color", "todo_note.bread", "3"]).expect(0, &["Import successful!"]);
    lab.expect_no_changes();

    lab.downgrade_state();
    lab.expect_no_changes();
}

/// Nothing is left: no notes, no sessions, no secrets in states, no processes.
fn finish(lab: &Lab) {
    lab.run(&["destroy", "-auto-approve", "-no-color"]).expect(0, &["Destroy complete! Resources: 2 destroyed."]);
    {
        let store = lab.fake.store();
        assert!(store.notes.is_empty() && store.secrets.is_empty() && store.sessions.is_empty());
    }
    assert!(!lab.project.read("work/terraform.tfstate.backup").contains("session-"), "a secret is in the state");
    processes::all_gone(lab.project.mark());
}

/// Then the build of Terrane has loaded all crates of the example.
#[test]
fn example_has_the_crates_of_the_program() {
    let packages = |folder: &str| -> BTreeSet<String> {
        let text = std::fs::read_to_string(here(folder).join("Cargo.lock")).unwrap();
        let entries = text.split("[[package]]\n").skip(1);
        entries.map(|entry| entry.lines().take(2).collect::<Vec<_>>().join(", ")).collect()
    };
    let program = packages("");
    let others: Vec<String> = packages(EXAMPLE).difference(&program).cloned().collect();
    assert_eq!(
        others,
        ["name = \"terraform-provider-todo\", version = \"0.1.0\""],
        "cargo update -p NAME --precise VERSION"
    );
}

/// Lines have the fields of their call, those of libraries are there at trace level only, and no line has the token.
fn check_log(lab: &Lab) {
    let log = |level| {
        let mut command = lab.project.command(&lab.host, &["plan", "-no-color"]);
        command.env("TF_LOG_PROVIDER", level);
        lab.project.finish(command).err
    };
    let (debug, trace) = (log("debug"), log("trace"));
    let read = debug.lines().find(|line| line.contains("tf_rpc=ReadResource")).unwrap_or_else(|| panic!("{debug}"));
    for text in [
        "[DEBUG] provider.",
        ": response of the service: ",
        " status=200",
        " tf_req_id=",
        " tf_resource_type=todo_note",
    ] {
        assert!(read.contains(text), "no {text:?} in {read}");
    }
    assert!(!debug.contains("h2::") && trace.contains("@module=provider.todo.h2::"), "{trace}");
    for log in [debug, trace] {
        let lower = log.to_lowercase();
        assert!(!log.contains(Fake::TOKEN) && !lower.contains("bearer") && !lower.contains("authorization"), "{log}");
    }
}

#[test]
fn example_provider_runs_in_terrane() {
    let Some(provider) = provider() else { return };
    let mut lab = Lab::new(program(), provider);
    play(&mut lab);
    check_log(&lab);
    lab.run(&["state", "rm", "todo_note.bread"]).expect(0, &[]);
    lab.project.write("work/import.tf", IMPORT_BY_IDENTITY);
    lab.apply(0, &["1 imported, 0 added, 0 changed, 0 destroyed"]);
    lab.expect_no_changes();
    finish(&lab);
    run_acceptance_tests(program());
}

#[test]
fn example_provider_runs_in_the_reference() {
    let (Some(provider), Some(terraform)) = (provider(), support::reference()) else { return };
    let mut lab = Lab::new(&terraform, provider);
    play(&mut lab);
    finish(&lab);
    run_acceptance_tests(&terraform);
}
