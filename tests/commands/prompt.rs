//! What the reference's console cannot do.

use std::fs::File;

use crate::support::{Project, program};

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
    ask("module.child").expect(1, &["Error: Invalid scope", "no module instance module.child"]);
    ask("foo.bar").expect(1, &["Error: Invalid scope \"foo.bar\""]);
}
