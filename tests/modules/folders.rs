//! Folders: local ones, absolute ones, and the copy that `init -from-module` makes.

use super::{Repository, calls};
use crate::support::Project;

#[test]
fn absolute_folders_are_linked_first_and_copied_then() {
    let project = Project::new("");
    project.write("shared/main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n");
    project.write("shared/inner/x.tf", "");
    project.write("shared/.hidden", "");
    let shared = project.path("shared").canonicalize().unwrap().display().to_string();
    project.write("work/main.tf", &calls(&[("a", &shared)]));
    project.ok(&["init"]).expect(
        0,
        &[
            &format!("Downloading file://{shared} for a..."),
            "- a in .terraform/modules/a",
            &format!("- a.inner in {shared}/inner"),
        ],
    );
    assert_eq!(std::fs::read_link(project.path("work/.terraform/modules/a")).unwrap().display().to_string(), shared);
    project.ok(&["validate"]);
    assert_eq!(project.ok(&["get"]).out, "");
    // There is nothing to check: it is the user's own folder.
    assert!(!project.exists("work/.terraform.modules.lock.hcl"));
    project.write("work/main.tf", &calls(&[("b", &shared), ("c", &format!("{shared}//inner"))]));
    project.ok(&["init"]);
    let kinds = ["b", "c"].map(|key| project.path(&format!("work/.terraform/modules/{key}")).is_symlink());
    assert_eq!(kinds.iter().filter(|link| **link).count(), 1, "one is the link, the other its copy");
    project.write("work/main.tf", &calls(&[("a", &format!("{shared}/gone"))]));
    project.run(&["init"]).expect(1, &["source path error: stat", "no such file or directory"]);
}

#[test]
fn local_folders() {
    let project = Project::new("");
    project.write("work/main.tf", &calls(&[("a", "./x/../x//"), ("b", "../beside")]));
    project.write("work/x/main.tf", "");
    project.write("beside/main.tf", "");
    let out = project.ok(&["get"]).out;
    assert_eq!(out, "- a in x\n- b in ../beside\n");
    let manifest = project.read("work/.terraform/modules/modules.json");
    assert!(
        manifest.contains(r#"{"Key":"a","Source":"./x","Dir":"x"},{"Key":"b","Source":"../beside","Dir":"../beside"}"#)
    );
    project.write("work/main.tf", &calls(&[("a", "./missing")]));
    project.run(&["init"]).expect(
        1,
        &[
            "Error: Unreadable module directory Unable to evaluate directory symlink: lstat missing: no such file or directory",
            "The directory could not be read for module \"a\" at main.tf:1.",
        ],
    );
}

#[test]
fn paths_stay_in_their_package() {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    repository.commit(&[("main.tf", "module \"up\" {\n  source = \"../../outside\"\n}\n")]);
    project.write("work/main.tf", &calls(&[("m", &repository.url())]));
    let text = format!(
        "The given source directory for module.m.module.up would be outside of its containing package {:?}.",
        repository.url()
    );
    project.run(&["init"]).expect(1, &["Error: Local module path escapes module package", &text]);
}

#[test]
fn from_module() {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    let other = Repository::new(&project, "other");
    other.commit(&[("o.tf", "")]);
    let main = calls(&[("deep", "./deep"), ("far", &other.url())]);
    repository.commit(&[("sub/main.tf", &main), ("sub/deep/x.tf", ""), ("sub/.hidden", ""), ("top.tf", "")]);
    std::fs::remove_file(project.path("work/main.tf")).unwrap();
    let source = format!("{}//sub", repository.url());
    let from = format!("-from-module={source}");
    project.ok(&["init", &from]).expect(
        0,
        &[
            &format!("Copying configuration from {source:?}... Downloading {} for far... - deep - far", other.url()),
            "Initializing the backend... Initializing modules... - deep in deep",
            "has been successfully initialized!",
        ],
    );
    assert_eq!(project.read("work/main.tf"), main);
    assert!(project.exists("work/deep/x.tf") && project.exists("work/.terraform/modules/far/o.tf"));
    assert!(!project.exists("work/.hidden") && !project.exists("work/.terraform/init-from-module"));
    assert!(project.read("work/.terraform.modules.lock.hcl").contains(&other.url()));
    project.ok(&["validate"]);
    project.run(&["init", &from]).expect(1, &["The working directory already contains files."]);
    std::fs::remove_dir_all(project.work()).unwrap();
    std::fs::create_dir_all(project.work()).unwrap();
    project
        .run(&["init", "-from-module=nope/nope"])
        .expect(1, &["cannot detect a supported external module source type for nope/nope"]);
    project.write("work/notes.txt", "");
    project.run(&["init", &from]).expect(1, &["Can't populate non-empty directory"]);
}
