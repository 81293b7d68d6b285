//! What no transcript can show: interrupts, locks, and the way that the README describes.

use std::path::Path;

use crate::support::{Project, Running, program};

const SLOW: &str = r#"
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "while [ ! -e go ]; do sleep 0.05; done"
  }
}

resource "terraform_data" "second" {
  input = terraform_data.first.id
}
"#;

fn interrupt(running: &Running) {
    signal(running, libc::SIGINT);
}

fn signal(running: &Running, number: i32) {
    // SAFETY: the call touches no memory.
    assert_eq!(unsafe { libc::kill(running.child.id() as i32, number) }, 0);
}

fn applying(project: &Project) -> Running {
    let mut running = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    running.until(|screen| screen.contains("Provisioning with 'local-exec'"));
    running
}

#[test]
fn quickstart_works_without_network() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/quickstart");
    let project = Project::new("");
    for entry in std::fs::read_dir(example).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), project.work().join(entry.file_name())).unwrap();
    }
    project.ok(&["init"]).expect(0, &["Terrane has been successfully initialized!"]);
    project.ok(&["apply", "-auto-approve"]).expect(0, &["Apply complete!", "0 changed, 0 destroyed."]);
    project.ok(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    project.ok(&["destroy", "-auto-approve"]).expect(0, &["Destroy complete!"]);
    assert_eq!(project.ok(&["state", "list"]).out, "");
}

#[test]
fn version_names_the_program_and_the_language() {
    let project = Project::new("");
    let text = project.ok(&["version"]);
    text.expect(0, &[concat!("Terrane v", env!("CARGO_PKG_VERSION")), "1.11.4"]);
    assert_eq!(project.ok(&["-version"]).out, text.out);
    let document: serde_json::Value = serde_json::from_str(&project.ok(&["version", "-json"]).out).unwrap();
    assert_eq!(document["terraform_version"], "1.11.4");
    assert_eq!(document["provider_selections"], serde_json::json!({}));
}

#[test]
fn an_interrupt_ends_what_runs_and_starts_nothing() {
    let project = Project::new(SLOW);
    project.ok(&["init"]);
    let mut running = applying(&project);
    interrupt(&running);
    running.until(|screen| screen.contains("Gracefully shutting down..."));
    project.write("work/go", "");
    let outcome = running.finish();
    outcome.expect(
        1,
        &[
            "Interrupt received. Please wait for Terrane to exit or data loss may occur.",
            "Stopping operation...",
            "execution halted",
        ],
    );
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.first\n");
}

#[test]
fn a_second_interrupt_gives_up() {
    // The command survives the first interrupt, so that the second one finds it running.
    let project = Project::new(&SLOW.replace("while", "trap '' INT; touch started; while"));
    project.ok(&["init"]);
    let mut running = applying(&project);
    running.until(|_| project.work().join("started").exists());
    interrupt(&running);
    running.until(|screen| screen.contains("Gracefully shutting down..."));
    signal(&running, libc::SIGTERM);
    running.finish().expect(
        1,
        &["Two interrupts received. Exiting immediately. Note that data loss may have occurred.", "operation canceled"],
    );
}

#[test]
fn a_lock_is_waited_for() {
    let project = Project::new(SLOW);
    project.ok(&["init"]);
    let running = applying(&project);
    let refused = project.run(&["plan", "-no-color"]);
    refused.expect(1, &["Error: Error acquiring the state lock"]);
    let refused = project.run(&["plan", "-no-color", "-lock-timeout=300ms"]);
    refused.expect(1, &["Error: Error acquiring the state lock"]);
    let mut waiting = Running::start(project.command(program(), &["plan", "-no-color", "-lock-timeout=2m"]));
    waiting.until(|screen| screen.contains("Acquiring state lock. This may take a few moments..."));
    project.write("work/go", "");
    running.finish().expect(0, &["Apply complete! Resources: 2 added, 0 changed, 0 destroyed."]);
    waiting.finish().expect(0, &["No changes. Your infrastructure matches the configuration."]);
}
