//! What the reference's console cannot do.

use std::fs::File;

use crate::support::terminal::{is_cooked, terminal};
use crate::support::{Project, Running, program};

const CONFIGURATION: &str = r#"
locals {
  names = { first = "a", second = "b" }
}

module "child" {
  source = "./child"
  count  = 2
  text   = "t${count.index}"
}
"#;

fn project() -> Project {
    let project = Project::new(CONFIGURATION);
    project.write("work/child/main.tf", "variable \"text\" {}\nlocals {\n  louder = upper(var.text)\n}\n");
    project.ok(&["init"]);
    project
}

#[test]
fn expressions_see_the_names_of_the_scope() {
    let project = project();
    let ask = |scope: &str| {
        let input = project.write("work/expression.txt", "local.louder\n");
        let mut command = project.command(program(), &["console", "-no-color", &format!("-scope={scope}")]);
        command.stdin(File::open(input).unwrap());
        project.finish(command)
    };
    assert_eq!(ask("module.child[1]").out, "\"T1\"\n");
    ask("").expect(1, &["Error: Reference to undeclared local value"]);
    ask("module.child").expect(1, &["Error: Failed to retrieve evaluation scope", "module.child"]);
    ask("foo.bar").expect(1, &["Error: Invalid scope \"foo.bar\""]);
}

#[test]
fn a_signal_ends_the_prompt() {
    let project = project();
    for folder in ["work", "empty"] {
        std::fs::create_dir_all(project.path(folder)).unwrap();
        let (_ours, theirs) = terminal();
        let mut command = project.command(program(), &["console", "-no-color"]);
        command.current_dir(project.path(folder)).stdin(theirs.try_clone().unwrap());
        let mut running = Running::start(command);
        running.until(|screen| screen.contains("> "));
        assert_eq!(project.exists("work/.terraform.tfstate.lock.info"), folder == "work");
        // SAFETY: the call touches no memory.
        assert_eq!(unsafe { libc::kill(running.child.id() as i32, libc::SIGTERM) }, 0);
        let ended = running.finish();
        assert_eq!(ended.code, Some(1), "{folder}: {ended:?}");
        assert!(!project.exists("work/.terraform.tfstate.lock.info") && is_cooked(&theirs), "{folder}");
    }
}
