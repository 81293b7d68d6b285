//! The `kubernetes` backend against a stub of an API server: alone, beside the reference, and with its lock lost.

use serde_json::json;

use super::counted::Counted;
use super::shared::{self, LockTexts, SMALL, applying};
use crate::support::kubernetes::KubernetesStub;
use crate::support::{Project, program};

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

#[test]
fn both_programs_work_on_the_same_states() {
    let stub = KubernetesStub::start();
    let (ours, theirs) = (project(&stub, SMALL), project(&stub, SMALL));
    shared::both_programs_work_on_the_same_states("kubernetes", &ours, &theirs);
    assert_eq!(stub.names(), [LEASE, "namespaces/default/secrets/tfstate-default-x"]);
}

#[test]
fn locks_of_either_program_stop_the_other_and_are_released_by_force() {
    let stub = KubernetesStub::start();
    let texts = LockTexts {
        refused: ["the state is already locked by another terraform client", "OperationTypeApply"],
        lost: "the state lock was lost: the lease was released",
    };
    shared::locks_stop_other_programs(|body| project(&stub, body), &texts, &["main.tf", "kubeconfig", ".terraform"]);
}

#[test]
fn a_lease_that_another_takes_stops_the_run_and_loses_nothing() {
    let stub = KubernetesStub::start();
    let counted = Counted::new(60);
    let project = project(&stub, &counted.body("sleep 0.3"));
    project.ok(&["init"]);
    let run = applying(&counted, &project, program());
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
    // Leases do not expire.
    let release = |project: &Project| {
        let lease = stub.object(LEASE).unwrap_or_default();
        if let Some(id) = lease["spec"]["holderIdentity"].as_str() {
            project.ok(&["force-unlock", "-force", id]);
        }
    };
    shared::kills_and_vanishing_servers_lose_nothing(
        |body| project(&stub, body),
        |down| stub.stub.set_down(down),
        release,
    );
}
