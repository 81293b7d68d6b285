//! What people read after a destruction that failed, after one interrupt and after two. As the reference says it, 1.11.4, which keeps no
//! states: the lines about these are of Terrane, as is exit code 1 after an interrupt.

use std::time::Instant;

use crate::support::{Outcome, PATIENCE, Project, Running, program};

const SETUP: &str = r#"
resource "terraform_data" "network" {
  provisioner "local-exec" {
    command = "true"
  }
}
"#;

const TESTS: &str = r#"
run "network" {
  module {
    source = "./setup"
  }
}

run "works" {}

run "later" {}
"#;

/// The second object is not destroyed unless there is a file `go`.
const STAYS: &str = r#"resource "terraform_data" "first" {
  input = "first"
}

resource "terraform_data" "second" {
  input = terraform_data.first.output

  provisioner "local-exec" {
    when    = destroy
    command = "test -e go"
  }
}
"#;

/// The second object is not complete unless there is a file `go`.
const WAITS: &str = r#"resource "terraform_data" "a_first" {
  input = "first"
}

resource "terraform_data" "b_slow" {
  input = terraform_data.a_first.output

  provisioner "local-exec" {
    command = "touch started; until [ -e go ] || [ ! -e main.tf ]; do sleep 0.02; done"
  }
}

resource "terraform_data" "c_last" {
  input = terraform_data.b_slow.output
}
"#;

struct Case {
    name: &'static str,
    main: &'static str,
    interrupts: usize,
    out: &'static str,
    /// Until the diagnostics of the run.
    err: &'static str,
    /// How many states are kept.
    kept: usize,
}

const CASES: &[Case] = &[
    Case {
        name: "failed destruction",
        main: STAYS,
        interrupts: 0,
        out: "main.tftest.hcl... in progress
  run \"network\"... pass
  run \"works\"... pass
  run \"later\"... pass
main.tftest.hcl... tearing down
main.tftest.hcl... fail

Failure! 3 passed, 0 failed.
",
        err: "Terrane encountered an error destroying resources created while executing
main.tftest.hcl/later.

Error: local-exec provisioner error

  with terraform_data.second,
  on main.tf line 8, in resource \"terraform_data\" \"second\":
   8:   provisioner \"local-exec\" {

Error running command 'test -e go': exit status 1. Output: 

Terrane left the following resources in state after executing
main.tftest.hcl/later, and they need to be cleaned up manually:
  - terraform_data.first
  - terraform_data.second

Their state is kept in .terraform/test/XXXXXXXX.tfstate. To destroy them,
run:
    terrane test cleanup
",
        kept: 1,
    },
    Case {
        name: "one interrupt",
        main: WAITS,
        interrupts: 1,
        out: "main.tftest.hcl... in progress
  run \"network\"... pass
  run \"works\"... pass
  run \"later\"... skip
main.tftest.hcl... tearing down
main.tftest.hcl... pass

Success! 2 passed, 0 failed, 1 skipped.
",
        err: "
Interrupt received.
Please wait for Terrane to exit or data loss may occur.
Gracefully shutting down...

",
        kept: 0,
    },
    Case {
        name: "two interrupts",
        main: WAITS,
        interrupts: 2,
        out: "main.tftest.hcl... in progress
  run \"network\"... pass
  run \"works\"... fail
main.tftest.hcl... tearing down
main.tftest.hcl... fail

Failure! 1 passed, 1 failed.
",
        err: "
Interrupt received.
Please wait for Terrane to exit or data loss may occur.
Gracefully shutting down...


Two interrupts received. Exiting immediately. Note that data loss may have
occurred.


Terrane was interrupted while executing main.tftest.hcl, and may not have
performed the expected cleanup operations.

Terrane has already created the following resources for \"network\" from
\"./setup\":
  - terraform_data.network

Terrane was in the process of creating the following resources for \"works\"
from the module under test, and they may not have been destroyed:
  - terraform_data.a_first
  - terraform_data.b_slow
  - terraform_data.c_last

Their states are kept. To destroy these resources, run \"terrane test
cleanup\":
  - .terraform/test/XXXXXXXX.tfstate
  - .terraform/test/XXXXXXXX.tfstate

Error: Test interrupted

",
        kept: 2,
    },
];

#[test]
fn reports_say_what_is_left_and_where() {
    for case in CASES {
        let project = Project::new(case.main);
        project.write("work/setup/main.tf", SETUP);
        project.write("work/main.tftest.hcl", TESTS);
        project.ok(&["get"]);
        let outcome = interrupted(&project, case.interrupts);
        let (out, err) = (masked(&outcome.out, &project), masked(&outcome.err, &project));
        assert_eq!(outcome.code, Some(1), "{}: {out}{err}", case.name);
        assert_eq!(out, case.out, "{}: {err}", case.name);
        match case.interrupts {
            2 => assert!(err.starts_with(case.err), "{}: {err}", case.name),
            _ => assert_eq!(err, case.err, "{}", case.name),
        }
        assert_eq!(ids(&project).len(), case.kept, "{}: {err}", case.name);
        project.write("work/go", "");
        project.ok(&["test", "cleanup"]);
        assert!(!project.exists("work/.terraform/test/manifest.json"), "{}", case.name);
        assert_eq!(ids(&project), Vec::<String>::new(), "{}", case.name);
    }
}

/// Terraform reports no teardown after the second interrupt since 1.12, and its error after "execution halted" since 1.13.
#[test]
fn newer_releases_end_with_the_second_interrupt() {
    let mut project = Project::new(WAITS);
    project.any_release();
    project.write("work/main.tftest.hcl", "run \"works\" {}\n");
    let outcome = interrupted(&project, 2);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.out, outcome.err);
    assert_eq!(
        outcome.out,
        "main.tftest.hcl... in progress\n  run \"works\"... fail\nmain.tftest.hcl... fail\n\nFailure! 0 passed, 1 failed.\n"
    );
    // Errors with a place in the configuration follow those without one.
    let (before, _) = outcome.err.split_once("\nError: Test interrupted\n").unwrap_or_default();
    assert!(before.contains("\nError: execution halted\n"), "{}", outcome.err);
    project.write("work/go", "");
    project.ok(&["test", "cleanup"]);
}

/// Runs the tests, with so many interrupts once an object is being created.
fn interrupted(project: &Project, interrupts: usize) -> Outcome {
    let mut running = Running::start(project.command(program(), &["test", "-no-color"]));
    if interrupts > 0 {
        until(&mut running, |_| project.exists("work/started"));
        signal(&running, libc::SIGINT);
        until(&mut running, |err| err.contains("Gracefully shutting down..."));
        match interrupts {
            // Another signal: the same one at once would be an echo.
            2 => signal(&running, libc::SIGTERM),
            _ => drop(project.write("work/go", "")),
        }
    }
    let outcome = running.finish();
    let _ = std::fs::remove_file(project.path("work/go"));
    outcome
}

fn signal(running: &Running, number: i32) {
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(running.child.id() as i32, number) };
}

/// Waits until a condition holds, to judge by the error output and by files.
fn until(running: &mut Running, condition: impl Fn(&str) -> bool) {
    let end = Instant::now() + PATIENCE;
    loop {
        let (out, err) = running.screen();
        if condition(&err) {
            return;
        }
        let ended = running.child.try_wait().unwrap();
        assert!(ended.is_none() && Instant::now() < end, "it does not come (ended: {ended:?})\n{out}{err}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The IDs of all state files and journals.
fn ids(project: &Project) -> Vec<String> {
    let folder = project.path("work/.terraform/test");
    let names = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let id = |name: std::ffi::OsString| {
        let name = name.to_string_lossy().into_owned();
        Some(name.trim_start_matches('.').split_once(".tfstate")?.0.to_owned())
    };
    let mut ids: Vec<String> = names.filter_map(id).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// The text without the IDs of states, which are random.
fn masked(text: &str, project: &Project) -> String {
    ids(project).iter().fold(text.to_owned(), |text, id| text.replace(id.as_str(), "XXXXXXXX"))
}
