//! `init -migrate-state` of encrypted states: to other places, to the same file, back, and between two keys.

use super::{SECRET, configuration, project};
use crate::backends::places::{self, Place};
use crate::support::Project;

const BLOCK: &str = "work/backend.tf";

/// A project with an encrypted local state.
fn encrypted() -> Project {
    let project = project(&["new"], "");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project
}

fn local(project: &Project, setting: &str) {
    project.write(BLOCK, &format!("terraform {{\n backend \"local\" {{\n {setting}\n }}\n}}\n"));
}

/// Nothing is lost, and the project is not stuck.
fn holds_all(project: &Project) {
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
    let pulled = project.ok(&["state", "pull"]).out;
    assert!(pulled.contains("Zq7-secret"), "{SECRET} is not in {pulled}");
}

fn migrate(project: &Project) {
    project.ok(&["init", "-migrate-state", "-force-copy"]);
    holds_all(project);
}

/// To a server and back.
fn there_and_back(place: &Place, name: &str) {
    let mut project = encrypted();
    place.configure(&mut project, name);
    migrate(&project);
    assert_eq!(project.read("work/terraform.tfstate"), "", "the local state is elsewhere");
    assert!(project.read("work/terraform.tfstate.backup").contains("encrypted_data"));
    std::fs::remove_file(project.path(BLOCK)).unwrap();
    migrate(&project);
    assert!(project.read("work/terraform.tfstate").contains("encrypted_data"));
}

#[test]
fn an_encrypted_local_state_moves_to_a_server_and_back() {
    there_and_back(&places::http(), "one");
    there_and_back(&places::kubernetes(), "one");
    there_and_back(&places::consul(), "one");
}

#[test]
fn an_encrypted_local_state_moves_to_s3_and_back() {
    if let Some(place) = places::s3() {
        there_and_back(&place, "sealed");
    }
}

#[test]
fn an_encrypted_local_state_moves_to_another_file_and_back() {
    let project = encrypted();
    local(&project, "path = \"other/s.tfstate\"");
    migrate(&project);
    assert_eq!(project.read("work/terraform.tfstate"), "");
    assert!(project.read("work/other/s.tfstate").contains("encrypted_data"));
    std::fs::remove_file(project.path(BLOCK)).unwrap();
    migrate(&project);
}

/// However the file is named, it must not be emptied.
#[test]
fn an_encrypted_state_that_stays_in_its_file_is_kept() {
    let absolute = |project: &Project| project.path("work/terraform.tfstate").display().to_string();
    for (option, setting) in [
        ("-migrate-state", ""),
        ("-migrate-state", "./terraform.tfstate"),
        ("-reconfigure", "/"),
        ("-migrate-state", "link"),
    ] {
        let project = encrypted();
        std::os::unix::fs::symlink("terraform.tfstate", project.path("work/link")).unwrap();
        local(
            &project,
            &match setting {
                "" => String::new(),
                "/" => format!("path = {:?}", absolute(&project)),
                setting => format!("path = {setting:?}"),
            },
        );
        project.ok(&["init", option, "-force-copy"]);
        holds_all(&project);
        assert!(project.read("work/terraform.tfstate").contains("encrypted_data"), "{option} {setting}");
        std::fs::remove_file(project.path(BLOCK)).unwrap();
        migrate(&project);
    }
}

#[test]
fn an_encrypted_state_moves_with_a_change_of_its_key() {
    let mut project = encrypted();
    // With the new backend comes a new key, which is the old one's name here: only the fallback reads the local state.
    project.write("work/main.tf", &configuration(&["old", "new"], ""));
    let place = places::http();
    place.configure(&mut project, "keys");
    migrate(&project);
    project.write("work/main.tf", &configuration(&["old"], ""));
    holds_all(&project);
    project.write("work/main.tf", &configuration(&["new", "old"], ""));
    local(&project, "path = \"back.tfstate\"");
    migrate(&project);
    project.write("work/main.tf", &configuration(&["new"], ""));
    holds_all(&project);
}

#[test]
fn reconfigure_leaves_an_encrypted_local_state_for_another_place() {
    let mut project = encrypted();
    let place = places::http();
    place.configure(&mut project, "reconfigured");
    project.ok(&["init", "-reconfigure", "-force-copy"]);
    holds_all(&project);
    assert_eq!(project.read("work/terraform.tfstate"), "");
}
