//! Interrupts: once, everything that runs is asked to stop; twice, it is abandoned, and what was in flight stays known.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Outcome, PATIENCE, Project, Running, processes, program};

const LOCAL: &str = r#"
terraform {
  required_providers {
    local = { source = "terraform.io/builtin/local" }
  }
}
"#;

fn interrupt(running: &Running) {
    signal(running, libc::SIGINT);
}

fn signal(running: &Running, number: i32) {
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(running.child.id() as i32, number) };
}

/// Runs until the screen has the text, interrupts, and again once that is mentioned, if `twice`.
fn interrupted(project: &Project, args: &[&str], text: &str, twice: bool) -> Outcome {
    let mut running = Running::start(project.command(program(), args));
    running.until(|screen| screen.contains(text));
    interrupt(&running);
    if twice {
        running.until(|screen| screen.contains("Stopping operation..."));
        // Another signal: the same one at once would be an echo.
        signal(&running, libc::SIGTERM);
    }
    let started = Instant::now();
    let outcome = running.finish();
    assert!(started.elapsed() < Duration::from_secs(20), "{outcome:?}");
    // Not later: they have ended before the program does.
    let left = processes::of(project.mark());
    assert!(left.is_empty(), "{left:?}\n{outcome:?}");
    outcome
}

#[test]
fn an_interrupted_plan_fails_and_cannot_be_applied() {
    let slow = r#"
data "local_command" "slow" {
  command   = "sh"
  arguments = ["-c", "sleep 60"]
}

resource "terraform_data" "early" {}

resource "terraform_data" "late" {
  input = data.local_command.slow.exit_code
}
"#;
    let project = Project::new(&format!("{LOCAL}{slow}"));
    for (args, saved) in [(&["plan", "-out=p"][..], true), (&["refresh"], false), (&["apply", "-auto-approve"], false)]
    {
        let outcome = interrupted(&project, args, "data.local_command.slow: Reading...", false);
        outcome.expect(1, &["Interrupt received.", "Error: execution halted", "The operation was interrupted."]);
        assert!(!outcome.out.contains("No changes."), "{outcome:?}");
        if saved {
            project.run(&["apply", "p"]).expect(1, &["Error: Cannot apply incomplete plan"]);
        }
        assert!(!project.exists("work/.terraform.tfstate.lock.info"));
    }
}

const PROVISIONED: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "sleep 60 & sleep 60; echo late >> log"
  }
  provisioner "local-exec" {
    command = "echo second >> log"
  }
}
"#;

/// Waits until the command of the provisioner has started both of its processes: a shell that is interrupted while it starts one
/// goes on until that has ended.
fn until_provisioning(running: &mut Running, project: &Project) {
    running.until(|screen| screen.contains("Executing:"));
    let end = Instant::now() + PATIENCE;
    while processes::of(project.mark()).iter().filter(|seen| seen.command == "sleep 60").count() < 2 {
        assert!(Instant::now() < end, "the command does not start");
    }
}

#[test]
fn an_interrupt_ends_local_exec_with_all_that_it_started() {
    let project = Project::new(PROVISIONED);
    let mut running = Running::start(project.command(program(), &["apply", "-auto-approve"]));
    until_provisioning(&mut running, &project);
    interrupt(&running);
    let outcome = running.finish();
    outcome.expect(1, &["Error: execution halted", "Error: local-exec provisioner error", "signal: interrupt"]);
    // Not later: they have ended before the program does.
    let left = processes::of(project.mark());
    assert!(left.is_empty(), "{left:?}\n{outcome:?}");
    assert!(!project.exists("work/log"));
    project.ok(&["state", "show", "terraform_data.a"]).expect(0, &["(tainted)"]);
}

/// Even a command that ignores interrupts, and at the same moment as the first one.
#[test]
fn a_second_interrupt_ends_local_exec_too() {
    let project = Project::new(&PROVISIONED.replace("sleep 60 &", "trap '' INT TERM; sleep 60 &"));
    for _ in 0..5 {
        let mut running = Running::start(project.command(program(), &["apply", "-auto-approve"]));
        until_provisioning(&mut running, &project);
        interrupt(&running);
        signal(&running, libc::SIGTERM);
        let outcome = running.finish();
        outcome.expect(1, &["Two interrupts received.", "Error: operation canceled"]);
        let left = processes::of(project.mark());
        assert!(left.is_empty(), "{left:?}\n{outcome:?}");
        assert!(!project.exists("work/log"));
        project.ok(&["state", "list"]);
    }
}

/// A closed terminal is an interrupt, unless `nohup` says otherwise; what ends the program at once ends the commands too.
#[test]
fn no_signal_leaves_a_command_behind() {
    let project = Project::new(PROVISIONED);
    for number in [libc::SIGHUP, libc::SIGQUIT, libc::SIGKILL] {
        let script = format!("ulimit -c 0; exec {:?} apply -auto-approve", program().display().to_string());
        let mut running = Running::start(project.command(Path::new("sh"), &["-c", &script]));
        until_provisioning(&mut running, &project);
        signal(&running, number);
        let outcome = running.finish();
        if number == libc::SIGHUP {
            outcome.expect(1, &["Interrupt received.", "Error: execution halted", "signal: interrupt"]);
        } else {
            assert_eq!(outcome.code, None, "{outcome:?}");
        }
        processes::all_gone(project.mark());
        assert!(!project.exists("work/log"));
        project.ok(&["state", "list"]);
    }
    let script = format!("exec nohup {:?} apply -auto-approve", program().display().to_string());
    let mut running = Running::start(project.command(Path::new("sh"), &["-c", &script]));
    until_provisioning(&mut running, &project);
    signal(&running, libc::SIGHUP);
    interrupt(&running);
    running.finish().expect(1, &["Interrupt received.", "Error: execution halted"]);
}

#[test]
fn a_second_interrupt_keeps_what_is_in_flight() {
    let slow = r#"
resource "terraform_data" "done" {}

resource "local_file" "slow" {
  filename   = "out.txt"
  source     = "pipe"
  depends_on = [terraform_data.done]
}
"#;
    let project = Project::new(&format!("{LOCAL}{slow}"));
    // Reading from it never ends.
    let made = std::process::Command::new("mkfifo").arg(project.path("work/pipe")).status().unwrap();
    assert!(made.success());
    let outcome = interrupted(&project, &["apply", "-auto-approve"], "local_file.slow: Creating...", true);
    outcome.expect(1, &["Two interrupts received.", "Error: operation canceled", "- local_file.slow"]);
    assert!(project.exists("work/.terraform.tfstate.journal"));
    assert!(!project.exists("work/.terraform.tfstate.lock.info"));
    let uncertain = ["Warning: Changes of an interrupted run are uncertain", "- local_file.slow"];
    let listed = project.ok(&["state", "list"]);
    listed.expect(0, &uncertain);
    // The warning is no value that scripts could take for one.
    assert_eq!(listed.out, "terraform_data.done\n");
    project.run(&["plan"]).expect(0, &uncertain);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
    project.ok(&["plan"]);
}
