//! `state mv` between the states of two working directories.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Project, program};

fn project(backend: &str) -> Project {
    let project = Project::new("resource \"terraform_data\" \"a\" {}\n\nresource \"terraform_data\" \"b\" {}\n");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("other/main.tf", &format!("{backend}\nresource \"terraform_data\" \"o\" {{}}\n"));
    other(&project, &["init"]);
    other(&project, &["apply", "-auto-approve"]);
    project
}

/// Runs a command in the other directory.
fn other(project: &Project, args: &[&str]) -> String {
    let dir = format!("-chdir={}", project.path("other").display());
    project.ok(&[&[dir.as_str()], args].concat()).out
}

fn serial(project: &Project, file: &str) -> u64 {
    let state: serde_json::Value = serde_json::from_str(&project.read(file)).unwrap();
    state["serial"].as_u64().unwrap()
}

fn backups(project: &Project, dir: &str) -> usize {
    let names = std::fs::read_dir(project.path(dir)).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".backup")).count()
}

#[test]
fn objects_go_to_another_directory_and_back() {
    let project = project("terraform {\n  backend \"local\" {\n    path = \"sub/x.tfstate\"\n  }\n}\n");
    let (here, there) = (serial(&project, "work/terraform.tfstate"), serial(&project, "other/sub/x.tfstate"));
    let dry = project.ok(&["state", "mv", "-dry-run", "-to-dir=../other", "terraform_data.a", "terraform_data.z"]).out;
    assert_eq!(dry, "Would move \"terraform_data.a\" to \"terraform_data.z\" in ../other\n");
    assert_eq!(serial(&project, "work/terraform.tfstate"), here);
    let done = project.ok(&["state", "mv", "-to-dir=../other", "terraform_data.a", "terraform_data.z"]).out;
    assert_eq!(
        done,
        "Move \"terraform_data.a\" to \"terraform_data.z\" in ../other\nSuccessfully moved 1 object(s).\n"
    );
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.b\n");
    assert_eq!(other(&project, &["state", "list"]), "terraform_data.o\nterraform_data.z\n");
    assert_eq!(serial(&project, "work/terraform.tfstate"), here + 1);
    assert_eq!(serial(&project, "other/sub/x.tfstate"), there + 1);
    assert_eq!((backups(&project, "work"), backups(&project, "other/sub")), (1, 1));
    assert!(!project.exists("work/.terraform.tfstate.move") && !project.exists("other/sub/.x.tfstate.move"));

    project.ok(&["state", "mv", "-from=../other", "terraform_data.*", "module.m"]);
    let all = "terraform_data.b\nmodule.m.terraform_data.o\nmodule.m.terraform_data.z\n";
    assert_eq!(project.ok(&["state", "list"]).out, all);
    assert_eq!(other(&project, &["state", "list"]), "");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let project = project("");
    let mv = |args: &[&str]| project.run(&[&["state", "mv"], args, &["terraform_data.a", "terraform_data.z"]].concat());
    mv(&["-to-dir=../other", "-from=../other"]).expect(1, &["exclude each other"]);
    mv(&["-to-dir=../other", "-state=x"]).expect(1, &["-state cannot be used"]);
    mv(&["-to-dir=../other", "-lock=false"]).expect(1, &["-lock=false cannot be used"]);
    mv(&["-to-dir=."]).expect(1, &["Error: Source and destination are the same"]);
    mv(&["-to-dir=nowhere"]).expect(1, &["There is no directory nowhere."]);
    let flag_last = ["state", "mv", "terraform_data.a", "terraform_data.z", "-to-dir=../other"];
    project.run(&flag_last).expect(1, &["Flags come before the addresses: -to-dir=../other"]);
    project.run(&["state", "mv", "-to-dir=../other", "terraform_data.b", "terraform_data.o"]).expect(1, &["already"]);
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.a\nterraform_data.b\n");
    assert_eq!(other(&project, &["state", "list"]), "terraform_data.o\n");
}

/// Killed at any moment, the object is in one of the states once both were looked at, never in none and never in both.
#[test]
fn a_kill_loses_nothing() {
    let project = project("");
    let mut killed = 0;
    for round in 0..30 {
        let there = other(&project, &["state", "list"]).contains("terraform_data.a\n");
        let direction = if there { "-from=../other" } else { "-to-dir=../other" };
        let args = ["state", "mv", direction, "terraform_data.a", "terraform_data.a"];
        let mut command = project.command(program(), &args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(10 + round * 7 % 200));
        let _ = child.kill();
        killed += usize::from(child.wait().unwrap().signal().is_some());
        // Looking shows the same as what is then written.
        let seen = (project.ok(&["state", "list"]).out, other(&project, &["state", "list"]));
        other(&project, &["plan", "-refresh=false"]);
        project.ok(&["plan", "-refresh=false"]);
        other(&project, &["plan", "-refresh=false"]);
        let now = (project.ok(&["state", "list"]).out, other(&project, &["state", "list"]));
        assert_eq!(seen, now, "round {round}");
        let count = [&now.0, &now.1].iter().filter(|list| list.contains("terraform_data.a\n")).count();
        assert_eq!(count, 1, "round {round}: {now:?}");
    }
    assert!(killed > 0);
    assert!(!project.exists("work/.terraform.tfstate.move") && !project.exists("other/.terraform.tfstate.move"));
}
