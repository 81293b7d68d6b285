//! The `kubernetes` backend against a stub of an API server: alone, beside the reference, and with its lock lost.

use std::time::Duration;

use serde_json::json;

use super::counted::{Counted, other_directory};
use crate::support::kubernetes::KubernetesStub;
use crate::support::{Project, Running, processes, program, reference};

const LEASE: &str = "namespaces/default/leases/lock-tfstate-default-x";

/// The reference takes no server but one of a kubeconfig file.
fn project(stub: &KubernetesStub, body: &str) -> Project {
    let project = Project::new(&format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"x\"\n    config_path   = \"kubeconfig\"\n  }}\n}}\n{body}"
    ));
    let url = stub.stub.url();
    project.write("work/kubeconfig", &format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\nclusters:\n- name: k\n  cluster:\n    server: {url}\nusers:\n- name: u\n  user: {{token: t}}\n"
    ));
    project
}

const SMALL: &str = "variable \"x\" { default = 1 }\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\noutput \"x\" { value = terraform_data.a.output }\n";

#[test]
fn both_programs_work_on_the_same_states() {
    let stub = KubernetesStub::start();
    let (ours, theirs) = (project(&stub, SMALL), project(&stub, SMALL));
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    ours.ok(&["workspace", "new", "w"]);
    ours.ok(&["apply", "-auto-approve"]);
    if let Some(terraform) = reference() {
        let them = |args: &[&str]| theirs.finish(theirs.command(&terraform, args));
        them(&["init"]).expect(0, &["Successfully configured the backend \"kubernetes\"!"]);
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
    assert_eq!(stub.names(), [LEASE, "namespaces/default/secrets/tfstate-default-x"]);
}

#[test]
fn locks_of_either_program_stop_the_other_and_are_released_by_force() {
    let stub = KubernetesStub::start();
    let counted = Counted::new(6);
    let mut programs = vec![program().to_path_buf()];
    programs.extend(reference());
    for holder in &programs {
        let first = project(&stub, &counted.body("sleep 0.4"));
        let second = project(&stub, &counted.body("true"));
        first.finish(first.command(holder, &["init"])).expect(0, &[]);
        for other in &programs {
            second.finish(second.command(other, &["init", "-reconfigure"])).expect(0, &[]);
        }
        let run = Running::start(first.command(holder, &["apply", "-auto-approve", "-parallelism=1"]));
        while counted.created(&first).is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut id = String::new();
        for other in &programs {
            let refused = second.finish(second.command(other, &["plan"]));
            refused.expect(1, &["the state is already locked by another terraform client", "OperationTypeApply"]);
            id = refused.text().split("ID: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        }
        let is_ours = holder == &programs[0];
        if is_ours {
            second.run(&["force-unlock", "-force", &id]).expect(0, &["successfully unlocked"]);
            run.finish().expect(1, &["the state lock was lost: the lease was released"]);
            counted.nothing_is_lost(&first);
        } else {
            assert_eq!(run.finish().code, Some(0));
        }
        let last = other_directory(&first, &["main.tf", "kubeconfig", ".terraform"]);
        last.finish(last.command(holder, &["destroy", "-auto-approve"])).expect(0, &[]);
    }
}

#[test]
fn a_lease_that_another_takes_stops_the_run_and_loses_nothing() {
    let stub = KubernetesStub::start();
    let counted = Counted::new(60);
    let project = project(&stub, &counted.body("sleep 0.3"));
    project.ok(&["init"]);
    let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=1"]));
    while counted.created(&project).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    stub.change(LEASE, |lease| lease["spec"]["holderIdentity"] = json!("other"));
    run.finish().expect(1, &["State lock lost", "the lease is held by \"other\""]);
    let created = counted.created(&project).len();
    assert!(created < 60, "nothing new was started");
    stub.change(LEASE, |lease| lease["spec"] = json!({}));
    assert_eq!(counted.nothing_is_lost(&project), 0);
    // The one in flight when the run stopped may have been created again.
    assert!((60..=61).contains(&counted.created(&project).len()), "none was created twice");
}

#[test]
fn servers_that_vanish_and_kills_lose_nothing() {
    let stub = KubernetesStub::start();
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
        if stub.object(LEASE).is_some_and(|lease| lease["spec"]["holderIdentity"].is_string()) {
            // Leases do not expire.
            let id = stub.object(LEASE).unwrap()["spec"]["holderIdentity"].as_str().unwrap().to_owned();
            project.ok(&["force-unlock", "-force", &id]);
        }
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
