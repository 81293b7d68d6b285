//! The `consul` backend against a stub of an agent: alone, beside the reference, and with its lock lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::counted::{Counted, other_directory};
use crate::support::consul::ConsulStub;
use crate::support::stub::{Answer, Fault, Stub};
use crate::support::{Project, Running, processes, program, reference};

fn project(stub: &ConsulStub, body: &str) -> Project {
    let address = stub.address();
    Project::new(&format!(
        "terraform {{\n  backend \"consul\" {{\n    address = \"{address}\"\n    path    = \"states/a\"\n  }}\n}}\n{body}"
    ))
}

const SMALL: &str = "variable \"x\" { default = 1 }\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\noutput \"x\" { value = terraform_data.a.output }\n";

#[test]
fn both_programs_work_on_the_same_states() {
    let stub = ConsulStub::start();
    let (ours, theirs) = (project(&stub, SMALL), project(&stub, SMALL));
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    ours.ok(&["workspace", "new", "w"]);
    ours.ok(&["apply", "-auto-approve"]);
    if let Some(terraform) = reference() {
        let them = |args: &[&str]| theirs.finish(theirs.command(&terraform, args));
        them(&["init"]).expect(0, &["Successfully configured the backend \"consul\"!"]);
        them(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
        them(&["apply", "-auto-approve", "-var=x=2"]).expect(0, &["0 added, 1 changed, 0 destroyed"]);
        them(&["workspace", "select", "w"]).expect(0, &[]);
        them(&["output"]).expect(0, &["x = 1"]);
        ours.ok(&["workspace", "select", "default"]);
        ours.run(&["plan", "-detailed-exitcode", "-var=x=2"]).expect(0, &["No changes."]);
        ours.ok(&["workspace", "select", "w"]);
    }
    ours.ok(&["destroy", "-auto-approve"]);
    ours.ok(&["workspace", "select", "default"]);
    ours.ok(&["workspace", "delete", "w"]);
    ours.ok(&["destroy", "-auto-approve"]);
    assert_eq!(stub.keys(), ["states/a"]);
}

#[test]
fn locks_of_either_program_stop_the_other_and_are_released_by_force() {
    let stub = ConsulStub::start();
    let counted = Counted::new(6);
    let mut programs = vec![program().to_path_buf()];
    programs.extend(reference());
    for holder in &programs {
        let first = project(&stub, &counted.body("sleep 0.4"));
        first.finish(first.command(holder, &["init"])).expect(0, &[]);
        let run = Running::start(first.command(holder, &["apply", "-auto-approve", "-parallelism=1"]));
        while counted.created(&first).is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let second = project(&stub, &counted.body("true"));
        let mut id = String::new();
        for other in &programs {
            second.finish(second.command(other, &["init"])).expect(0, &[]);
            let refused = second.finish(second.command(other, &["plan"]));
            refused.expect(1, &["Error acquiring the state lock", "consul session: "]);
            id = refused.text().split("ID: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        }
        let is_ours = holder == &programs[0];
        if is_ours {
            second.run(&["force-unlock", "-force", &id]).expect(0, &["successfully unlocked"]);
            run.finish().expect(1, &["State lock lost"]);
            counted.nothing_is_lost(&first);
        } else {
            assert_eq!(run.finish().code, Some(0));
        }
        let last = other_directory(&first, &["main.tf", ".terraform"]);
        last.finish(last.command(holder, &["destroy", "-auto-approve"])).expect(0, &[]);
    }
}

#[test]
fn a_session_that_expires_stops_the_run_and_loses_nothing() {
    let stub = ConsulStub::start();
    let counted = Counted::new(6);
    let project = project(&stub, &counted.body("sleep 0.3"));
    project.ok(&["init"]);
    let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=1"]));
    while counted.created(&project).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    stub.expire_sessions();
    run.finish().expect(1, &["State lock lost", "no longer holds it"]);
    assert!(counted.created(&project).len() < 6, "nothing new was started");
    stub.end_delays();
    assert_eq!(counted.nothing_is_lost(&project), 0);
    // The one in flight when the run stopped may have been created again.
    assert!((6..=7).contains(&counted.created(&project).len()), "none was created twice");
}

/// Nothing is changed; what was planned may not fit any more.
#[test]
fn a_session_that_expires_fails_plans_and_refreshes() {
    let stub = ConsulStub::start();
    for command in [&["plan", "-out=kept"][..], &["refresh"], &["apply", "-auto-approve"]] {
        let gate = Arc::new(AtomicBool::new(false));
        let open = gate.clone();
        // Answers once the lock is lost.
        let slow = Stub::start(move |_| {
            while !open.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(10));
            }
            Answer::new(404, "")
        });
        let body = format!(
            "data \"terraform_remote_state\" \"slow\" {{\n  backend  = \"http\"\n  config   = {{ address = \"{}/\" }}\n  \
             defaults = {{ x = 1 }}\n}}\nresource \"terraform_data\" \"a\" {{\n  input = \
             data.terraform_remote_state.slow.outputs\n}}\n",
            slow.url()
        );
        let project = project(&stub, &body);
        project.ok(&["init"]);
        let run = Running::start(project.command(program(), command));
        while slow.calls().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        stub.expire_sessions();
        // The watch over the lock hears of it at once.
        std::thread::sleep(Duration::from_millis(500));
        gate.store(true, Ordering::SeqCst);
        run.finish().expect(1, &["Error: State lock lost", "Nothing was changed."]);
        assert!(stub.keys().iter().all(|key| key != "states/a"), "{command:?} wrote a state");
        stub.end_delays();
    }
}

#[test]
fn agents_that_vanish_and_kills_lose_nothing() {
    let stub = ConsulStub::start();
    let counted = Counted::new(4);
    let run = |moment: u64, kill: bool| {
        let project = project(&stub, &counted.body("sleep 0.1"));
        project.ok(&["init"]);
        let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=2"]));
        std::thread::sleep(Duration::from_millis(60 + 60 * moment));
        if kill {
            processes::kill(run.child.id() as i32);
        } else {
            stub.stub.set_down(true);
        }
        run.finish();
        processes::all_gone(project.mark());
        stub.stub.set_down(false);
        stub.expire_sessions();
        stub.end_delays();
        let uncertain = counted.nothing_is_lost(&project);
        assert!(kill || uncertain == 0, "{moment}");
        project.ok(&["destroy", "-auto-approve"]);
    };
    for moment in 0..8 {
        run(moment, true);
    }
    for moment in 0..4 {
        run(moment, false);
    }
}

#[test]
fn twenty_runs_at_once_take_turns() {
    let stub = ConsulStub::start();
    let project = project(&stub, "variable \"n\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.n\n}\n");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-var=n=start"]);
    let others: Vec<Project> = (0..20).map(|_| other_directory(&project, &["main.tf", ".terraform"])).collect();
    let start = |n: usize| {
        let value = format!("-var=n={n}");
        let args = ["apply", "-auto-approve", "-lock-timeout=100s", &value];
        Running::start(others[n].command(program(), &args))
    };
    let runs: Vec<Running> = (0..20).map(start).collect();
    for run in runs {
        run.finish().expect(0, &["0 added, 1 changed, 0 destroyed"]);
    }
    let state: serde_json::Value = serde_json::from_str(&project.ok(&["state", "pull"]).out).unwrap();
    assert_eq!(state["serial"].as_u64(), Some(21), "each run had the state for itself");
}

#[test]
fn slow_agents_are_waited_for() {
    let stub = ConsulStub::start();
    let project = project(&stub, SMALL);
    project.ok(&["init"]);
    for number in 0..30 {
        stub.stub.fault(number + stub.stub.calls().len(), Fault::Slow(500));
    }
    project.ok(&["apply", "-auto-approve"]);
}
