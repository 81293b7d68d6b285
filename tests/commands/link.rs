//! Links to the program under the names that it stands in for.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::{Outcome, Project, program};

const BIN: &str = "home/bin";

/// A project with a folder for links.
fn project() -> Project {
    let project = Project::new("");
    std::fs::create_dir_all(project.path(BIN)).unwrap();
    project
}

fn link(project: &Project, flags: &[&str], name: &str) -> Outcome {
    let folder = project.path(BIN).display().to_string();
    let args = [&["link"][..], flags, &[name, folder.as_str()]].concat();
    project.run(&args)
}

/// The program without links in its path.
fn real_program() -> PathBuf {
    program().canonicalize().unwrap()
}

#[test]
fn links_start_the_program_under_their_name() {
    let mut project = project();
    project.set("PATH", project.path(BIN));
    for (name, first_line) in [("terraform", "Terraform v1.11.4\n"), ("tofu", "OpenTofu v")] {
        let made = link(&project, &[], name);
        let path = project.path(BIN).join(name);
        let expected = format!("Created {}, a symbolic link to {}.\n", path.display(), real_program().display());
        assert_eq!((made.code, made.out, made.err), (Some(0), expected, String::new()));
        assert_eq!(std::fs::read_link(&path).unwrap(), real_program());
        let version = project.finish(project.command(&path, &["version"]));
        assert!(version.out.starts_with(first_line), "{}", version.out);
        // Also by a link, which then leads to the program itself.
        let again = project.finish(project.command(&path, &["link", name, &project.path(BIN).display().to_string()]));
        assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
        assert_eq!(std::fs::read_link(&path).unwrap(), real_program());
    }
    assert_eq!(std::fs::read_dir(project.path(BIN)).unwrap().count(), 2);
}

#[test]
fn files_of_others_are_replaced_by_force_only() {
    let project = project();
    let path = project.script(&format!("{BIN}/terraform"), "#!/bin/sh\necho other\n");
    let refused = link(&project, &[], "terraform");
    refused.expect(1, &["Error: Failed to create a link", "exists and is not a link to Terrane", "add -force."]);
    assert_eq!(project.read(&format!("{BIN}/terraform")), "#!/bin/sh\necho other\n");
    link(&project, &["-force"], "terraform").expect(0, &["Created"]);
    assert_eq!(std::fs::read_link(&path).unwrap(), real_program());

    let gone = project.path(BIN).join("tofu");
    symlink(project.path("gone/terrane"), &gone).unwrap();
    link(&project, &[], "tofu").expect(0, &["Created"]);
    assert_eq!(std::fs::read_link(&gone).unwrap(), real_program());
}

#[test]
fn wrong_names_and_folders_are_errors() {
    let project = project();
    let folder = project.path(BIN).display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (&["link"], "Error: Name and folder of the link expected"),
        (&["link", "tofu", &folder, "-force"], "Error: Name and folder of the link expected"),
        (&["link", "terrane", &folder], "Error: Unsupported name of a link"),
        (&["link", "tofu", "gone"], "open gone: no such file or directory."),
        (&["link", "tofu", "main.tf"], "main.tf is not a folder."),
    ];
    for (args, expected) in cases {
        project.run(args).expect(1, &[expected]);
    }
    assert_eq!(std::fs::read_dir(project.path(BIN)).unwrap().count(), 0);
}

#[test]
fn what_the_shell_starts_instead_is_reported() {
    let mut project = project();
    let other = project.script("other/tofu", "#!/bin/sh\n");
    let (bin, others) = (project.path(BIN), project.path("other"));
    let not_on_path =
        format!("The folder {} is not in PATH: the command \"tofu\" does not start the link.", bin.display());
    let behind = format!("The command \"tofu\" starts {}, which comes earlier in PATH.", other.display());
    for (folders, expected) in
        [(vec![&others], not_on_path.as_str()), (vec![&others, &bin], behind.as_str()), (vec![&bin, &others], "")]
    {
        project.set("PATH", PathBuf::from(std::env::join_paths(&folders).unwrap()));
        let made = link(&project, &[], "tofu");
        let (_, note) = made.out.split_once('\n').unwrap();
        assert_eq!((made.code, note.trim()), (Some(0), expected), "{folders:?}");
    }
}
