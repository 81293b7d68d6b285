//! One lock for both programs, held by either of them, with reads in between.

use std::os::fd::AsRawFd;
use std::path::Path;

use crate::support::{Project, Running, program, reference};

/// Reads its own state in every way that a configuration has, then waits at the gate for a file `go`.
const CONFIGURATION: &str = r#"
data "terraform_remote_state" "own" {
  backend = "local"
  config  = { path = "terraform.tfstate" }
}

locals {
  text = try(file("terraform.tfstate"), "")
  hash = try(filesha256("terraform.tfstate"), "")
}

resource "terraform_data" "first" {}

resource "terraform_data" "gate" {
  input      = length("${local.text}${local.hash}") > 1
  depends_on = [terraform_data.first, data.terraform_remote_state.own]

  provisioner "local-exec" {
    command = "until [ -e go ] || [ ! -e main.tf ]; do sleep 0.02; done"
  }
}

output "first" {
  value = terraform_data.first.id
}
"#;

/// Every command that reads the state without its lock.
const READS: &[&[&str]] = &[
    &["show"],
    &["show", "-json"],
    &["show", "terraform.tfstate"],
    &["output"],
    &["output", "-json"],
    &["state", "list"],
    &["state", "show", "terraform_data.first"],
    &["state", "pull"],
    &["providers"],
    &["validate"],
    &["plan", "-lock=false"],
    &["plan", "-lock=false", "-refresh=false", "-out=kept.plan"],
    &["show", "kept.plan"],
];

/// Every command that changes the state by hand, and what comes behind its flags.
const EDITS: &[(&[&str], &[&str])] = &[
    (&["state", "mv"], &["terraform_data.first", "terraform_data.second"]),
    (&["state", "rm"], &["terraform_data.first"]),
    (&["state", "replace-provider", "-auto-approve"], &["terraform.io/builtin/terraform", "example.com/acme/other"]),
    (&["taint"], &["terraform_data.first"]),
    (&["untaint"], &["terraform_data.first"]),
];

const HELD: &[&str] =
    &["Error acquiring the state lock", "resource temporarily unavailable", "Operation: OperationTypeApply"];

fn waiting_apply(project: &Project, program: &Path) -> Running {
    let mut apply = Running::start(project.command(program, &["apply", "-auto-approve", "-no-color"]));
    apply.until(|screen| screen.contains("terraform_data.gate: Provisioning with 'local-exec'..."));
    apply
}

/// A state with something in it to read, and the gate closed.
fn project() -> Project {
    let project = Project::new(CONFIGURATION);
    project.ok(&["apply", "-auto-approve", "-target=terraform_data.first"]);
    project
}

/// Whether another process has a lock on the state file.
fn is_locked(project: &Project) -> bool {
    let file = std::fs::File::options().read(true).write(true).open(project.path("work/terraform.tfstate")).unwrap();
    // SAFETY: zeroes are a valid value of this plain structure.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    // SAFETY: the descriptor is open and the structure outlives the call.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &mut lock) }, 0);
    lock.l_type != libc::F_UNLCK as libc::c_short
}

#[test]
fn our_lock_survives_every_read() {
    let project = project();
    assert!(!is_locked(&project), "the check for locks sees some that are not there");
    let apply = waiting_apply(&project, program());
    assert!(is_locked(&project), "by the holder's own reads");
    let mut locked_out = HELD.to_vec();
    locked_out.push("Lock Info: ID:");
    for read in READS {
        project.ok(read);
        assert!(is_locked(&project), "lost by {read:?}");
        assert!(project.exists("work/.terraform.tfstate.lock.info"), "lost by {read:?}");
    }
    for refused in [&["plan"][..], &["apply", "-auto-approve"], &["destroy", "-auto-approve"], &["refresh"]] {
        project.run(refused).expect(1, &locked_out);
        assert!(is_locked(&project), "lost by {refused:?}");
    }
    for (edit, words) in EDITS {
        project.run(&[edit, *words].concat()).expect(1, &locked_out);
        // Nor do they write over what the holder does.
        let unlocked = [edit, &["-lock=false"][..], words].concat();
        project.run(&unlocked).expect(1, &["Error: State is being changed by another run"]);
        assert!(is_locked(&project), "lost by {edit:?}");
    }
    let reference = reference();
    if let Some(terraform) = &reference {
        for refused in [&["plan", "-no-color"][..], &["apply", "-auto-approve", "-no-color"]] {
            project.finish(project.command(terraform, refused)).expect(1, &locked_out);
        }
    }
    project.write("work/go", "");
    apply.finish().expect(0, &["Apply complete! Resources: 1 added"]);
    assert!(!is_locked(&project) && !project.exists("work/.terraform.tfstate.lock.info"));
    if let Some(terraform) = &reference {
        project.finish(project.command(terraform, &["plan", "-no-color"])).expect(0, &[]);
    }
}

#[test]
fn the_lock_of_the_reference_is_respected() {
    let Some(terraform) = reference() else { return };
    let project = project();
    // The reference loses its lock when it reads its own state file by another way.
    let own_reads = "locals {\n  text = \"\"\n  hash = \"ab\"\n}\n\nresource";
    let (_, rest) = CONFIGURATION.split_once("resource").unwrap();
    let rest = rest.replace(", data.terraform_remote_state.own", "");
    project.write("work/main.tf", &format!("{own_reads}{rest}"));
    let apply = waiting_apply(&project, &terraform);
    for refused in
        [&["plan"][..], &["plan", "-lock-timeout=1s"], &["apply", "-auto-approve"], &["destroy", "-auto-approve"]]
    {
        project.run(refused).expect(1, HELD);
    }
    for read in READS {
        project.ok(read);
        assert!(is_locked(&project), "lost by {read:?}");
    }
    project.run(&["plan"]).expect(1, HELD);
    project.write("work/go", "");
    apply.finish().expect(0, &["Apply complete! Resources: 1 added"]);
    project.ok(&["plan"]);
}

#[test]
fn a_lock_is_waited_for() {
    let project = project();
    let apply = waiting_apply(&project, program());
    let mut waiting = Running::start(project.command(program(), &["plan", "-no-color", "-lock-timeout=60s"]));
    waiting.until(|screen| screen.contains("Acquiring state lock. This may take a few moments..."));
    project.write("work/go", "");
    apply.finish().expect(0, &[]);
    waiting.finish().expect(0, &[]);
}

/// Each holds the lock for a moment, so all have it long before the time is up.
#[test]
fn all_waiting_processes_acquire_the_lock() {
    let project = Project::new("resource \"terraform_data\" \"a\" {\n  count = 20\n}\n");
    project.ok(&["apply", "-auto-approve"]);
    let plan = || Running::start(project.command(program(), &["plan", "-no-color", "-lock-timeout=60s"]));
    let running: Vec<Running> = (0..20).map(|_| plan()).collect();
    for plan in running {
        plan.finish().expect(0, &["No changes."]);
    }
}
