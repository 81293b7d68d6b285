//! The `cos` backend against a stub of Tencent Cloud: alone, and beside the reference. Both programs know the service by its own name, over
//! TLS.

use super::clouds::Front;
use super::counted::Counted;
use super::places::cos_block;
use super::shared::{self, SMALL, applying, programs};
use crate::support::cos::CosStub;
use crate::support::faulty::Way;
use crate::support::proxy::Proxy;
use crate::support::{Project, reference};

struct Cloud {
    stub: CosStub,
    front: Front,
    _way: Way,
}

impl Cloud {
    fn start() -> Cloud {
        let stub = CosStub::start();
        let (way, authority) = Way::secure(stub.stub.port);
        Cloud { stub, front: Front { authority, proxy: Proxy::start(way.port) }, _way: way }
    }

    fn project(&self, body: &str) -> Project {
        let mut project = Project::new(&format!("terraform {{\n  backend {}\n}}\n{body}", cos_block("a b")));
        self.front.use_in(&mut project);
        project
    }
}

#[test]
fn both_programs_work_on_the_same_states() {
    let cloud = Cloud::start();
    let (ours, theirs) = (cloud.project(SMALL), cloud.project(SMALL));
    shared::both_programs_work_on_the_same_states("cos", &ours, &theirs);
    // Each knows the record of the other.
    if let Some(terraform) = reference() {
        ours.finish(ours.command(&terraform, &["plan"])).expect(0, &["will be created"]);
        theirs.ok(&["workspace", "select", "default"]);
        theirs.run(&["plan"]).expect(0, &["will be created"]);
    }
    assert_eq!(cloud.stub.keys(), ["a b/terraform.tfstate"]);
    assert!(cloud.stub.tags().is_empty());
}

#[test]
fn locks_of_either_program_stop_the_other() {
    let cloud = Cloud::start();
    let counted = Counted::new(4);
    for holder in programs() {
        let first = cloud.project(&counted.body("sleep 0.5"));
        let second = cloud.project(SMALL);
        first.finish(first.command(&holder, &["init"])).expect(0, &[]);
        for other in programs() {
            second.finish(second.command(&other, &["init", "-reconfigure"])).expect(0, &[]);
        }
        let run = applying(&counted, &first, &holder);
        for other in programs() {
            let refused = second.finish(second.command(&other, &["plan"]));
            refused.expect(1, &["lock file a b/terraform.tfstate.tflock exists", "OperationTypeApply"]);
        }
        run.finish().expect(0, &[]);
        first.finish(first.command(&holder, &["destroy", "-auto-approve"])).expect(0, &[]);
    }
}

/// The guard, the lock under it, the state, and the lock's removal.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let cloud = Cloud::start();
    let project = cloud.project(SMALL);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    cloud.stub.stub.forget();
    project.ok(&["plan", "-detailed-exitcode"]);
    let of = |call: crate::support::stub::Call| call.headers.get("x-tc-action").cloned().unwrap_or_else(|| call.line());
    let seen: Vec<String> = cloud.stub.stub.calls().into_iter().map(of).collect();
    let (state, lock) = ("/a b/terraform.tfstate", "/a b/terraform.tfstate.tflock");
    let expected = [
        "CreateTag".to_owned(),
        format!("HEAD {lock}"),
        format!("PUT {lock}"),
        "DeleteTag".to_owned(),
        format!("GET {state}"),
        format!("GET {lock}"),
        format!("DELETE {lock}"),
        "DescribeTags".to_owned(),
    ];
    assert_eq!(seen, expected);
}
