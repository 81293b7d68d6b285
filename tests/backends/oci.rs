//! The `oci` backend against a stub of Oracle Cloud. Terraform 1.11.4 has no such backend.

use super::counted::Counted;
use super::shared::{self, SMALL};
use crate::support::oci::{BUCKET, NAMESPACE, OciStub};
use crate::support::{Project, Running, processes, program};

fn project(stub: &OciStub, body: &str) -> Project {
    let mut project = Project::new(&format!(
        "terraform {{\n  backend \"oci\" {{\n    bucket    = \"{BUCKET}\"\n    namespace = \"{NAMESPACE}\"\n    \
         key       = \"a b/x.tfstate\"\n  }}\n}}\n{body}"
    ));
    stub.configure(&mut |name, value| project.set(name, value));
    project
}

#[test]
fn workspaces_come_and_go() {
    let stub = OciStub::start();
    let (ours, others) = (project(&stub, SMALL), project(&stub, SMALL));
    ours.run(&["init"]).expect(0, &["Successfully configured the backend \"oci\"!"]);
    ours.ok(&["apply", "-auto-approve"]);
    ours.ok(&["workspace", "new", "w"]);
    others.ok(&["init"]);
    others.run(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    others.ok(&["workspace", "select", "w"]);
    others.ok(&["apply", "-auto-approve"]);
    ours.run(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
    ours.ok(&["destroy", "-auto-approve"]);
    ours.ok(&["workspace", "select", "default"]);
    ours.ok(&["workspace", "delete", "w"]);
    assert_eq!(stub.names(), ["a b/x.tfstate"]);
    let record = std::fs::read_to_string(ours.path("work/.terraform/terraform.tfstate")).unwrap();
    assert!(record.contains("\"private_key\": null"), "variables are not recorded: {record}");
}

/// The lock of one run stops another; a forced unlock stops the run, which loses nothing.
#[test]
fn locks_stop_others() {
    let stub = OciStub::start();
    let counted = Counted::new(6);
    let (first, second) = (project(&stub, &counted.body("sleep 0.4")), project(&stub, SMALL));
    first.ok(&["init"]);
    second.ok(&["init"]);
    let run = shared::applying(&counted, &first, program());
    let refused = second.run(&["plan"]);
    refused.expect(1, &["Error Code: IfNoneMatchFailed", "Lock Info"]);
    let id = refused.text().split("ID: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    second.run(&["force-unlock", "-force", &id]).expect(0, &["successfully unlocked"]);
    run.finish().expect(1, &["Failed to retrieve lock information"]);
    counted.nothing_is_lost(&first);
    first.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn a_killed_run_is_recovered() {
    let stub = OciStub::start();
    let counted = Counted::new(4);
    let project = project(&stub, &counted.body("sleep 0.2"));
    project.ok(&["init"]);
    let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=1"]));
    counted.until_created(&project, 2);
    processes::kill(run.child.id() as i32);
    assert!(run.finish().is_killed());
    processes::all_gone(project.mark());
    let id = serde_json::from_slice::<serde_json::Value>(&stub.content("a b/x.tfstate.lock")).unwrap();
    project.ok(&["force-unlock", "-force", id["ID"].as_str().unwrap()]);
    counted.nothing_is_lost(&project);
    project.ok(&["destroy", "-auto-approve"]);
}

/// The lock, the state, and the lock when it is released.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let stub = OciStub::start();
    let project = project(&stub, SMALL);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    stub.stub.forget();
    project.ok(&["plan", "-detailed-exitcode"]);
    let folder = "/n/ns/b/states/o/a b/x.tfstate";
    let lock = |method: &str| format!("{method} {folder}.lock");
    assert_eq!(stub.stub.lines(), [lock("PUT"), format!("GET {folder}"), lock("GET"), lock("DELETE")]);
}
