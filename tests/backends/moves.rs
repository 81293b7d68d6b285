//! States that move from a file of this machine to each kind of store, and back.

use std::path::Path;

use super::places::{self, Place};
use crate::support::{Outcome, Project, can_trace, program};

const BODY: &str = "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n";

/// Runs with an answer on standard input.
fn answered(project: &Project, args: &[&str], text: &str) -> Outcome {
    let file = project.write("answer", text);
    let mut command = project.command(program(), args);
    command.stdin(std::fs::File::open(file).unwrap());
    project.finish(command)
}

fn pulled(project: &Project) -> serde_json::Value {
    serde_json::from_str(&project.ok(&["state", "pull"]).out).unwrap()
}

fn there_and_back(place: Option<Place>, kind: &str, has_workspaces: bool) {
    let Some(place) = place else { return };
    let project = place.project("moving", BODY);
    let backend = project.read("work/backend.tf");
    std::fs::remove_file(project.path("work/backend.tf")).unwrap();
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    if has_workspaces {
        project.ok(&["workspace", "new", "w"]);
        project.ok(&["apply", "-auto-approve"]);
        project.ok(&["workspace", "select", "default"]);
    }
    let local = pulled(&project);
    project.write("work/backend.tf", &backend);
    project.run(&["init", "-input=false"]).expect(1, &[]);
    let moved = answered(&project, &["init"], "yes\n");
    moved.expect(0, &[&format!("Successfully configured the backend \"{kind}\"!")]);
    assert_eq!(pulled(&project), local, "lineage and serial are kept");
    project.ok(&["plan", "-detailed-exitcode"]);
    if has_workspaces {
        project.ok(&["workspace", "select", "w"]);
        project.ok(&["plan", "-detailed-exitcode"]);
        project.ok(&["workspace", "select", "default"]);
    }
    std::fs::remove_file(project.path("work/backend.tf")).unwrap();
    let unset = format!("Unsetting the previously set backend \"{kind}\"");
    project.run(&["plan"]).expect(1, &[&unset]);
    let back = answered(&project, &["init", "-migrate-state"], "yes\n");
    back.expect(0, &[&format!("Successfully unset the backend \"{kind}\".")]);
    assert_eq!(pulled(&project), local);
    project.ok(&["plan", "-detailed-exitcode"]);
    project.ok(&["destroy", "-auto-approve"]);
}

#[test]
fn s3() {
    there_and_back(places::s3(), "s3", true);
}

#[test]
fn gcs() {
    there_and_back(places::gcs(), "gcs", true);
}

#[test]
fn azurerm() {
    there_and_back(places::azurerm(), "azurerm", true);
}

#[test]
fn oci() {
    there_and_back(Some(places::oci()), "oci", true);
}

#[test]
fn oss() {
    there_and_back(Some(places::oss()), "oss", true);
}

#[test]
fn cos() {
    there_and_back(Some(places::cos()), "cos", true);
}

#[test]
fn pg() {
    there_and_back(places::pg(), "pg", true);
}

#[test]
fn consul() {
    there_and_back(Some(places::consul()), "consul", true);
}

#[test]
fn kubernetes() {
    there_and_back(Some(places::kubernetes()), "kubernetes", true);
}

#[test]
fn http() {
    there_and_back(Some(places::http()), "http", false);
}

/// A place without workspaces takes one of them. The others are nowhere else.
#[test]
fn workspaces_that_are_not_copied_keep_their_states() {
    let project = places::http().project("one", BODY);
    let backend = project.read("work/backend.tf");
    std::fs::remove_file(project.path("work/backend.tf")).unwrap();
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let left = project.read("work/terraform.tfstate");
    project.ok(&["workspace", "new", "w"]);
    project.ok(&["apply", "-auto-approve"]);
    let moved = pulled(&project);
    project.write("work/backend.tf", &backend);
    project.ok(&["init", "-force-copy"]);
    assert_eq!(pulled(&project), moved);
    assert_eq!(project.read("work/terraform.tfstate.d/w/terraform.tfstate"), "");
    assert_eq!(project.read("work/terraform.tfstate"), left);
}

/// Killed at each of its steps, and begun again: the copy is neither lost nor replaced by the state of another workspace.
#[test]
fn a_killed_copy_of_one_workspace_is_completed() {
    if !can_trace() {
        return;
    }
    let place = places::http();
    let mut unharmed = 0;
    for n in 1..40 {
        let project = place.project(&format!("killed{n}"), BODY);
        let backend = project.read("work/backend.tf");
        std::fs::remove_file(project.path("work/backend.tf")).unwrap();
        project.ok(&["init"]);
        project.ok(&["apply", "-auto-approve"]);
        let left = project.read("work/terraform.tfstate");
        project.ok(&["workspace", "new", "w"]);
        project.ok(&["apply", "-auto-approve"]);
        let moved = pulled(&project);
        // Without a lock, which a killed run would leave.
        let lines: Vec<&str> = backend.lines().filter(|line| !line.contains("lock_")).collect();
        project.write("work/backend.tf", &lines.join("\n"));
        let inject = format!("inject=renameat,fsync,fdatasync,ftruncate:signal=KILL:when={n}");
        let trace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat,fsync,fdatasync,ftruncate", "-e", &inject];
        let mut killed = project.command(Path::new("strace"), &trace);
        killed.arg(program()).args(["init", "-force-copy"]);
        unharmed = if project.finish(killed).code == Some(0) { unharmed + 1 } else { 0 };
        project.ok(&["init", "-force-copy"]);
        assert_eq!(pulled(&project), moved, "killed at {n}");
        assert_eq!(project.read("work/terraform.tfstate"), left, "killed at {n}");
        if unharmed == 3 {
            return;
        }
    }
    panic!("the command never succeeds");
}
