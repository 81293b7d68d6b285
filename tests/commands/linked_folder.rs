//! A working directory that a symbolic link leads to: paths have the name that the shell has for it, in `PWD`.

use std::path::Path;

use crate::support::{Outcome, Project, program};

const MAIN: &str = "output \"paths\" { value = join(\" \", [path.cwd, abspath(\".\"), abspath(path.root)]) }\n";

fn run_in(project: &Project, folder: &Path, args: &[&str]) -> Outcome {
    let mut command = project.command(program(), args);
    command.current_dir(folder).env("PWD", folder);
    let outcome = project.finish(command);
    assert_eq!(outcome.code, Some(0), "{args:?}\n{}{}", outcome.out, outcome.err);
    outcome
}

#[test]
fn paths_have_the_name_of_the_link() {
    let project = Project::new(MAIN);
    project.write("work/other/main.tf", MAIN);
    let link = project.path("link");
    std::os::unix::fs::symlink(project.work(), &link).unwrap();
    run_in(&project, &link, &["apply", "-auto-approve"]);
    let here = link.display();
    assert_eq!(run_in(&project, &link, &["output", "-raw", "paths"]).out, format!("{here} {here} {here}"));

    // Another folder than that of `PWD` has its real name.
    run_in(&project, &link, &["-chdir=other", "apply", "-auto-approve"]);
    let there = project.path("work/other").canonicalize().unwrap();
    let paths = run_in(&project, &link, &["-chdir=other", "output", "-raw", "paths"]).out;
    assert_eq!(paths, format!("{here} {there} {there}", there = there.display()));

    let file = project.write("work/f.tf", "locals {\nx=1\n}\n");
    let linked = link.join(file.file_name().unwrap());
    assert_eq!(run_in(&project, &link, &["fmt", &linked.display().to_string()]).out, "f.tf\n");
}
