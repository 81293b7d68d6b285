//! Disks that are full or may not be written: what was done is kept elsewhere, and the error says where.

use std::path::Path;
use std::process::Command;

use crate::support::{self, Outcome, Project, processes, program};

/// Forty objects of two kilobytes: more than the disk below holds.
const MANY: &str = r#"
resource "terraform_data" "a" {
  count = 40
  input = join("", [for i in range(200) : "0123456789"])
}
"#;

/// Runs a command of the program after some shell commands in a separate mount namespace. None if the system
/// does not allow one.
fn in_namespace(project: &Project, before: &str, args: &str) -> Option<Outcome> {
    if !support::can_mount(project) {
        return None;
    }
    let script = format!("set -e\n{before}\nexec {:?} {args}", program().display().to_string());
    Some(project.finish(project.command(Path::new("unshare"), &["-rm", "sh", "-c", &script])))
}

/// A command that may not write files beyond so many blocks of 512 bytes.
fn limited(project: &Project, blocks: u32, args: &str) -> Command {
    let script = format!("ulimit -f {blocks}; exec {:?} {args}", program().display().to_string());
    project.command(Path::new("sh"), &["-c", &script])
}

fn completed(screen: &str) -> Vec<String> {
    let lines = screen.lines().filter_map(|line| line.split_once(": Creation complete after "));
    lines.map(|(address, _)| address.to_owned()).collect()
}

fn listed(project: &Project, args: &[&str]) -> Vec<String> {
    project.ok(args).out.lines().map(str::to_owned).collect()
}

#[test]
fn a_full_disk_ends_in_errored_tfstate() {
    let project = Project::new(MANY);
    std::fs::create_dir(project.path("small")).unwrap();
    let mount = "mount -t tmpfs -o size=48k none ../small";
    let args = "apply -auto-approve -no-color -parallelism=2 -state=../small/terraform.tfstate";
    let Some(outcome) = in_namespace(&project, mount, args) else { return };
    outcome.expect(
        1,
        &[
            "Error: Failed to save state",
            "Error: Failed to persist state to backend",
            "the state has been written to the file \"errored.tfstate\" in the current working directory",
            "terrane state push errored.tfstate",
            "no space left on device",
        ],
    );
    let done = completed(&outcome.out);
    assert!(!done.is_empty() && done.len() < 40, "{} of 40 done: choose another size", done.len());
    let kept = listed(&project, &["state", "list", "-state=errored.tfstate"]);
    assert!(done.iter().all(|address| kept.contains(address)), "done: {done:?}\nkept: {kept:?}");
    processes::all_gone(project.mark());

    // The remedy.
    project.ok(&["state", "push", "errored.tfstate"]);
    assert_eq!(listed(&project, &["state", "list"]), kept);
    let rest = format!("Resources: {} added, 0 changed, 0 destroyed.", 40 - kept.len());
    project.ok(&["apply", "-auto-approve"]).expect(0, &[&rest]);
}

/// Not even `errored.tfstate` can be written: the journal has it all.
#[test]
fn what_fits_nowhere_stays_in_the_journal() {
    let project = Project::new(MANY);
    let outcome = project.finish(limited(&project, 190, "apply -auto-approve -no-color -parallelism=2"));
    outcome.expect(
        1,
        &[
            "Error: Failed to save state",
            "file too large",
            "The journal that holds the changes of this run is kept beside the state",
        ],
    );
    let done = completed(&outcome.out);
    assert!(!done.is_empty(), "{}", outcome.out);
    assert!(project.exists("work/.terraform.tfstate.journal") && !project.exists("work/errored.tfstate"));
    let kept = listed(&project, &["state", "list"]);
    assert!(done.iter().all(|address| kept.contains(address)), "done: {done:?}\nkept: {kept:?}");
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(listed(&project, &["state", "list"]).len(), 40);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
}

/// The old state does not fit into its backup, so the new one, which is small, must go elsewhere.
#[test]
fn a_backup_that_cannot_be_made_saves_the_state_elsewhere() {
    let project = Project::new(MANY);
    project.ok(&["apply", "-auto-approve"]);
    let before = project.read("work/terraform.tfstate");
    project.write("work/main.tf", "resource \"terraform_data\" \"small\" {}\n");
    let outcome = project.finish(limited(&project, 64, "apply -auto-approve -no-color"));
    outcome.expect(1, &["Error: Failed to save state", "file too large", "\"errored.tfstate\""]);
    assert_eq!(project.read("work/terraform.tfstate"), before, "a state that cannot be backed up is not touched");
    assert_eq!(listed(&project, &["state", "list", "-state=errored.tfstate"]), ["terraform_data.small"]);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
    project.ok(&["state", "push", "errored.tfstate"]);
    assert_eq!(project.read("work/terraform.tfstate.backup"), before);
    project.ok(&["plan", "-detailed-exitcode"]).expect(0, &["No changes."]);
}

#[test]
fn a_read_only_state_ends_in_errored_tfstate() {
    let project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    project.ok(&["apply", "-auto-approve"]);
    let before = project.read("work/terraform.tfstate");
    project.write("work/main.tf", "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n");
    let read_only = "mount --bind terraform.tfstate terraform.tfstate\nmount -o remount,bind,ro terraform.tfstate";

    // It cannot be locked: said at once, with nothing done.
    let Some(refused) = in_namespace(&project, read_only, "apply -auto-approve -no-color") else { return };
    refused.expect(1, &["Error: Error acquiring the state lock", "terraform.tfstate: read-only file system"]);
    assert!(completed(&refused.out).is_empty() && !project.exists("work/errored.tfstate"));

    let unlocked = in_namespace(&project, read_only, "apply -auto-approve -no-color -lock=false");
    let Some(outcome) = unlocked else { return };
    outcome
        .expect(1, &["Error: Failed to save state", "terraform.tfstate: read-only file system", "\"errored.tfstate\""]);
    assert_eq!(project.read("work/terraform.tfstate"), before);
    let kept = listed(&project, &["state", "list", "-state=errored.tfstate"]);
    assert_eq!(kept, ["terraform_data.a", "terraform_data.b"]);
}

/// Runs a command by a shell that decides where its output goes. Returns its status, as the shell has it, and its errors.
fn printed_to(project: &Project, command: &str) -> (Option<i32>, String) {
    let script = format!("terrane() {{ {:?} \"$@\"; }}\n{command}", program().display().to_string());
    let outcome = project.finish(project.command(Path::new("bash"), &["-c", &script]));
    (outcome.code, outcome.err)
}

#[test]
fn output_that_does_not_arrive_fails_the_command() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let project = Project::new("resource \"terraform_data\" \"a\" {}\noutput \"o\" {\n  value = 1\n}\n");
    let full = "Error: Failed to write to standard output: no space left on device\n";
    for command in ["version", "validate", "plan", "apply -auto-approve", "output", "show -json", "state list", "graph"]
    {
        let (code, err) = printed_to(&project, &format!("terrane {command} > /dev/full"));
        assert_eq!((code, err.as_str()), (Some(1), full), "{command}");
        // The reader is gone: as the reference, by the signal. What it was for is done.
        let (code, err) =
            printed_to(&project, &format!("exec 9> >(exec true); wait $!; terrane {command} >&9; echo $? >&2"));
        assert_eq!((code, err.trim()), (Some(0), "141"), "{command}");
    }
    assert_eq!(listed(&project, &["state", "list"]), ["terraform_data.a"]);
}

/// Runs a command in which syncs of files and folders fail, by rules of `strace`, which counts them in each thread. None if the
/// system does not allow that.
fn with_failing_syncs(project: &Project, folder: &Path, rules: &[String], args: &[&str]) -> Option<Outcome> {
    if !support::can_trace() {
        return None;
    }
    let trace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"];
    let mut command = project.command(Path::new("strace"), &trace);
    for rule in rules {
        command.args(["-e", &format!("inject={rule}")]);
    }
    command.arg(program()).args(args).current_dir(folder);
    Some(project.finish(command))
}

/// As [`with_failing_syncs`]: the Nth sync.
fn with_failing_sync(project: &Project, folder: &Path, n: usize, args: &[&str]) -> Option<Outcome> {
    with_failing_syncs(project, folder, &[format!("fsync:error=EIO:when={n}")], args)
}

/// So many runs in a row without a failure: no thread syncs more often.
const UNHARMED: usize = 5;

/// A copy of a folder, in place of an earlier one.
fn copied(project: &Project, from: &str, to: &str) -> std::path::PathBuf {
    let _ = std::fs::remove_dir_all(project.path(to));
    let copy = Command::new("cp").arg("-r").arg(project.path(from)).arg(project.path(to)).status().unwrap();
    assert!(copy.success());
    project.path(to)
}

fn addresses_in(project: &Project, folder: &Path) -> Vec<String> {
    let mut command = project.command(program(), &["state", "list"]);
    command.current_dir(folder);
    let listed = project.finish(command);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    listed.out.lines().map(str::to_owned).collect()
}

/// What was reported as not saved must not be completed by the next command.
#[test]
fn a_failed_sync_changes_nothing_later() {
    let project = Project::new("resource \"terraform_data\" \"x\" {\n  count = 4\n}\n");
    project.ok(&["apply", "-auto-approve"]);
    let before = addresses_in(&project, &project.work());
    let mut unharmed = 0;
    for n in 1..40 {
        let folder = copied(&project, "work", "copy");
        let args = ["state", "rm", "terraform_data.x[0]"];
        let Some(outcome) = with_failing_sync(&project, &folder, n, &args) else { return };
        let now = addresses_in(&project, &folder);
        match outcome.text().contains("was not saved") {
            true => assert_eq!(now, before, "sync {n}: {}", outcome.err),
            false => {
                assert_eq!(now.len(), 4 - usize::from(outcome.out.contains("Removed")), "sync {n}: {}", outcome.err)
            }
        }
        unharmed = if outcome.code == Some(0) { unharmed + 1 } else { 0 };
        if unharmed == UNHARMED {
            assert!(n > 3 + UNHARMED, "no sync failed");
            return;
        }
    }
    panic!("the command never succeeds");
}

/// Where nothing becomes durable any more, the old state is still there, and whole.
#[test]
fn a_disk_that_fails_for_good_keeps_the_old_state() {
    let project = Project::new("resource \"terraform_data\" \"x\" {\n  count = 4\n}\n");
    project.ok(&["apply", "-auto-approve"]);
    let before = addresses_in(&project, &project.work());
    for n in 1..12 {
        let folder = copied(&project, "work", "copy");
        let rules = ["fdatasync:error=EIO:when=1+".to_owned(), format!("fsync:error=EIO:when={n}+")];
        let args = ["state", "rm", "terraform_data.x[0]"];
        let Some(outcome) = with_failing_syncs(&project, &folder, &rules, &args) else { return };
        assert_eq!(outcome.code, Some(1), "sync {n}: {}", outcome.out);
        assert_eq!(addresses_in(&project, &folder), before, "sync {n}: {}", outcome.err);
    }
}

#[test]
fn a_failed_sync_leaves_each_object_in_one_state() {
    let project = Project::new("resource \"terraform_data\" \"x\" {\n  count = 4\n}\n");
    project.ok(&["apply", "-auto-approve"]);
    project.write("other/main.tf", "resource \"terraform_data\" \"o\" {}\n");
    let mut apply = project.command(program(), &["apply", "-auto-approve"]);
    apply.current_dir(project.path("other"));
    project.finish(apply).expect(0, &[]);
    let mut unharmed = 0;
    for n in 1..60 {
        let (from, to) = (copied(&project, "work", "from"), copied(&project, "other", "to"));
        let args = ["state", "mv", "-to-dir=../to", "terraform_data.x", "module.m.terraform_data.x"];
        let Some(outcome) = with_failing_sync(&project, &from, n, &args) else { return };
        let (left, moved) = (addresses_in(&project, &from), addresses_in(&project, &to));
        let expected = if outcome.text().contains("not saved") { [(4, 1)].as_slice() } else { &[(4, 1), (0, 5)] };
        assert!(expected.contains(&(left.len(), moved.len())), "sync {n}: {left:?} {moved:?}\n{}", outcome.err);
        unharmed = if outcome.code == Some(0) { unharmed + 1 } else { 0 };
        if unharmed == UNHARMED {
            assert!(n > 5 + UNHARMED, "no sync failed");
            return;
        }
    }
    panic!("the command never succeeds");
}
