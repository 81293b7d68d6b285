//! What the state of any backend has to stand; each backend's tests say where its states are.

use std::path::{Path, PathBuf};

use super::counted::{Counted, other_directory};
use crate::support::{Project, Running, processes, program, reference};

pub const SMALL: &str = "variable \"x\" { default = 1 }\nresource \"terraform_data\" \"a\" {\n  input = var.x\n}\noutput \"x\" { value = terraform_data.a.output }\n";

/// This program, and the reference if it is installed.
pub fn programs() -> Vec<PathBuf> {
    let mut programs = vec![program().to_path_buf()];
    programs.extend(reference());
    programs
}

/// Two directories with the states of one store, of [`SMALL`]: what either program writes the other reads, in two workspaces.
/// In the end only the default workspace is left, empty.
pub fn both_programs_work_on_the_same_states(kind: &str, ours: &Project, theirs: &Project) {
    ours.ok(&["init"]);
    ours.ok(&["apply", "-auto-approve"]);
    ours.ok(&["workspace", "new", "w"]);
    ours.ok(&["apply", "-auto-approve"]);
    if let Some(terraform) = reference() {
        let them = |args: &[&str]| theirs.finish(theirs.command(&terraform, args));
        them(&["init"]).expect(0, &[&format!("Successfully configured the backend {kind:?}!")]);
        them(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
        them(&["apply", "-auto-approve", "-var=x=2"]).expect(0, &["0 added, 1 changed, 0 destroyed"]);
        them(&["workspace", "select", "w"]).expect(0, &[]);
        them(&["output"]).expect(0, &["x = 1"]);
        ours.ok(&["workspace", "select", "default"]);
        ours.run(&["plan", "-detailed-exitcode", "-var=x=2"]).expect(0, &["No changes."]);
        ours.ok(&["workspace", "select", "w"]);
    }
    ours.ok(&["destroy", "-auto-approve"]);
    ours.ok(&["workspace", "select", "default"]);
    ours.ok(&["workspace", "delete", "w"]);
    ours.ok(&["destroy", "-auto-approve"]);
}

/// An apply that has created its first instance.
pub fn applying(counted: &Counted, project: &Project, program: &Path) -> Running {
    let run = Running::start(project.command(program, &["apply", "-auto-approve", "-parallelism=1"]));
    counted.until_created(project, 1);
    run
}

/// How locks of a backend show.
pub struct LockTexts<'a> {
    /// In the error of who finds the state locked.
    pub refused: [&'a str; 2],
    /// In the error of a run whose lock was released by force.
    pub lost: &'a str,
}

/// Each program holds the lock once: neither gets it meanwhile. A forced unlock stops our run, which loses nothing. `files` are what
/// another directory needs to be of the same store.
pub fn locks_stop_other_programs(project: impl Fn(&str) -> Project, texts: &LockTexts<'_>, files: &[&str]) {
    let counted = Counted::new(6);
    let programs = programs();
    for holder in &programs {
        let first = project(&counted.body("sleep 0.4"));
        let second = project(&counted.body("true"));
        first.finish(first.command(holder, &["init"])).expect(0, &[]);
        for other in &programs {
            second.finish(second.command(other, &["init", "-reconfigure"])).expect(0, &[]);
        }
        let run = applying(&counted, &first, holder);
        let mut id = String::new();
        for other in &programs {
            let refused = second.finish(second.command(other, &["plan"]));
            refused.expect(1, &texts.refused);
            id = refused.text().split("ID: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        }
        if holder == &programs[0] {
            second.run(&["force-unlock", "-force", &id]).expect(0, &["successfully unlocked"]);
            run.finish().expect(1, &[texts.lost]);
            counted.nothing_is_lost(&first);
        } else {
            assert_eq!(run.finish().code, Some(0));
        }
        let last = other_directory(&first, files);
        last.finish(last.command(holder, &["destroy", "-auto-approve"])).expect(0, &[]);
    }
}

/// Runs that are killed, and servers that vanish during a run (`set_down`), at several moments: before anything was created, and
/// when one, two and three of four objects were. `release` frees the lock that is left.
pub fn kills_and_vanishing_servers_lose_nothing(
    project: impl Fn(&str) -> Project,
    set_down: impl Fn(bool),
    release: impl Fn(&Project),
) {
    let counted = Counted::new(4);
    // Whether the run had not ended by itself before.
    let run = |moment: usize, kill: bool| {
        let project = project(&counted.body("sleep 0.1"));
        project.ok(&["init"]);
        let run = Running::start(project.command(program(), &["apply", "-auto-approve", "-parallelism=2"]));
        counted.until_moment(&project, moment);
        if kill {
            processes::kill(run.child.id() as i32);
        } else {
            set_down(true);
        }
        let outcome = run.finish();
        processes::all_gone(project.mark());
        set_down(false);
        release(&project);
        let uncertain = counted.nothing_is_lost(&project);
        assert!(kill || uncertain == 0, "{moment}");
        project.ok(&["destroy", "-auto-approve"]);
        if kill { outcome.is_killed() } else { outcome.code != Some(0) }
    };
    let killed = (0..8).filter(|moment| run(*moment, true)).count();
    assert!(killed >= 4, "only {killed} of 8 kills came before the end of the run");
    let failed = (0..4).filter(|moment| run(*moment, false)).count();
    assert!(failed > 0, "no run needed the server after it had vanished");
}

/// Twenty runs that change one state at the same time: each has the state for itself.
pub fn twenty_runs_take_turns(project: impl Fn(&str) -> Project) {
    let project = project("variable \"n\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.n\n}\n");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-var=n=start"]);
    let others: Vec<Project> = (0..20).map(|_| other_directory(&project, &["main.tf", ".terraform"])).collect();
    let start = |n: usize| {
        let value = format!("-var=n={n}");
        let args = ["apply", "-auto-approve", "-lock-timeout=100s", &value];
        Running::start(others[n].command(program(), &args))
    };
    let runs: Vec<Running> = (0..20).map(start).collect();
    for run in runs {
        run.finish().expect(0, &["0 added, 1 changed, 0 destroyed"]);
    }
    let state: serde_json::Value = serde_json::from_str(&project.ok(&["state", "pull"]).out).unwrap();
    assert_eq!(state["serial"].as_u64(), Some(21), "each run had the state for itself");
}
