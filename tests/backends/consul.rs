//! The `consul` backend against a stub of an agent: alone, beside the reference, and with its lock lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::counted::Counted;
use super::shared::{self, LockTexts, SMALL, applying};
use crate::support::consul::ConsulStub;
use crate::support::stub::{Answer, Fault, Stub};
use crate::support::{Project, Running, program, wait_until};

fn project(stub: &ConsulStub, body: &str) -> Project {
    let address = stub.address();
    Project::new(&format!(
        "terraform {{\n  backend \"consul\" {{\n    address = \"{address}\"\n    path    = \"states/a\"\n  }}\n}}\n{body}"
    ))
}

#[test]
fn both_programs_work_on_the_same_states() {
    let stub = ConsulStub::start();
    let (ours, theirs) = (project(&stub, SMALL), project(&stub, SMALL));
    shared::both_programs_work_on_the_same_states("consul", &ours, &theirs);
    assert_eq!(stub.keys(), ["states/a"]);
}

#[test]
fn locks_of_either_program_stop_the_other_and_are_released_by_force() {
    let stub = ConsulStub::start();
    let texts = LockTexts { refused: ["Error acquiring the state lock", "consul session: "], lost: "State lock lost" };
    shared::locks_stop_other_programs(|body| project(&stub, body), &texts, &["main.tf", ".terraform"]);
}

#[test]
fn a_session_that_expires_stops_the_run_and_loses_nothing() {
    let stub = ConsulStub::start();
    let counted = Counted::new(6);
    let project = project(&stub, &counted.body("sleep 0.3"));
    project.ok(&["init"]);
    let run = applying(&counted, &project, program());
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
            wait_until("the lock is lost", || open.load(Ordering::SeqCst));
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
        wait_until("the run reads the data source", || !slow.calls().is_empty());
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
    let release = |_: &Project| {
        stub.expire_sessions();
        stub.end_delays();
    };
    shared::kills_and_vanishing_servers_lose_nothing(
        |body| project(&stub, body),
        |down| stub.stub.set_down(down),
        release,
    );
}

#[test]
fn twenty_runs_at_once_take_turns() {
    let stub = ConsulStub::start();
    shared::twenty_runs_take_turns(|body| project(&stub, body));
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
