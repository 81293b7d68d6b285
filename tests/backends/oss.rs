//! The `oss` backend against a stub of Alibaba Cloud: alone, and beside the reference.

use super::shared::{self, LockTexts, SMALL};
use crate::support::oss::{ACCESS_KEY, BUCKET, OssStub, SECRET_KEY, TABLE};
use crate::support::{Project, reference};

fn project(stub: &OssStub, body: &str) -> Project {
    let url = stub.stub.url();
    Project::new(&format!(
        "terraform {{\n  backend \"oss\" {{\n    access_key          = \"{ACCESS_KEY}\"\n    secret_key          = \"{SECRET_KEY}\"\n    bucket              = \"{BUCKET}\"\n    key                 = \"a b/x.tfstate\"\n    \
         endpoint            = \"{url}\"\n    tablestore_endpoint = \"{url}\"\n    tablestore_table    = \"{TABLE}\"\n    \
         encrypt             = true\n    acl                 = \"private\"\n  }}\n}}\n{body}"
    ))
}

#[test]
fn both_programs_work_on_the_same_states() {
    let stub = OssStub::start();
    let (ours, theirs) = (project(&stub, SMALL), project(&stub, SMALL));
    shared::both_programs_work_on_the_same_states("oss", &ours, &theirs);
    // Each knows the record of the other.
    if let Some(terraform) = reference() {
        ours.finish(ours.command(&terraform, &["plan"])).expect(0, &["will be created"]);
        theirs.ok(&["workspace", "select", "default"]);
        theirs.run(&["plan"]).expect(0, &["will be created"]);
    }
    assert_eq!(stub.keys(), ["env:/a b/x.tfstate"]);
    assert_eq!(stub.rows().into_keys().collect::<Vec<_>>(), ["states/env:/a b/x.tfstate-md5"]);
}

#[test]
fn locks_of_either_program_stop_the_other() {
    let stub = OssStub::start();
    let texts = LockTexts {
        refused: ["invoking PutRow got an error", "OTSConditionCheckFail"],
        lost: "failed to retrieve lock info",
    };
    shared::locks_stop_other_programs(|body| project(&stub, body), &texts, &["main.tf", ".terraform"]);
}

#[test]
fn twenty_runs_at_once_take_turns() {
    let stub = OssStub::start();
    shared::twenty_runs_take_turns(|body| project(&stub, body));
}

/// The lock, the state with its checksum, and the lock's row when it is released.
#[test]
fn a_plan_without_changes_needs_few_requests() {
    let stub = OssStub::start();
    let project = project(&stub, SMALL);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    stub.stub.forget();
    project.ok(&["plan", "-detailed-exitcode"]);
    let mut seen = stub.stub.lines();
    seen.sort();
    let object = "GET /states/env:/a b/x.tfstate";
    assert_eq!(seen, [object, "POST /DeleteRow", "POST /GetRow", "POST /GetRow", "POST /PutRow"]);
}
