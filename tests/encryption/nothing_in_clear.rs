//! No file of the working directory, the home or the folder for temporary files ever holds a secret.

use super::{finds, project};
use crate::support::{Project, Running, processes, program};

const SLOW: &str = "variable \"slow\" {\n default = false\n}\nresource \"terraform_data\" \"slow\" {\n count = var.slow ? 1 : 0\n input = \
                    var.secret\n depends_on = [terraform_data.a]\n provisioner \"local-exec\" {\n command = \"echo running; sleep 30\"\n }\n}\n";

fn clear(project: &Project, when: &str) {
    let found = finds(project);
    assert!(found.is_empty(), "{when}: {found:?}");
}

#[test]
fn a_whole_life_under_encryption() {
    let project = project(&["new"], SLOW);
    let step = |args: &[&str]| {
        project.ok(args);
        clear(&project, &args.join(" "));
    };
    step(&["init"]);
    step(&["plan", "-out=first.tfplan"]);
    assert!(project.ok(&["show", "first.tfplan"]).out.contains("terraform_data.a"));
    step(&["apply", "first.tfplan"]);
    step(&["apply", "-auto-approve", "-var=step=2"]);
    assert!(project.read("work/terraform.tfstate").contains("encryption_version"));
    assert!(project.read("work/terraform.tfstate.backup").starts_with("{\"serial\":"));
    step(&["state", "mv", "terraform_data.a", "terraform_data.b"]);
    step(&["state", "mv", "terraform_data.b", "terraform_data.a"]);
    step(&["taint", "terraform_data.a"]);
    step(&["workspace", "new", "two"]);
    step(&["apply", "-auto-approve"]);
    step(&["destroy", "-auto-approve"]);
    step(&["workspace", "select", "default"]);
    assert!(project.ok(&["output", "-json"]).out.contains("Zq7-secret"));
    step(&["destroy", "-auto-approve"]);
}

#[test]
fn the_journal_of_a_killed_run_is_encrypted_and_replayed() {
    let project = project(&["new"], SLOW);
    project.ok(&["init"]);
    let mut apply =
        Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color", "-var=slow=true"]));
    apply.until(|screen| screen.contains("): running"));
    clear(&project, "while an apply runs");
    processes::kill(apply.child.id() as i32);
    apply.finish();
    processes::all_gone(project.mark());
    clear(&project, "after a kill");
    assert!(project.read("work/.terraform.tfstate.journal").starts_with("sealed 1 {"));
    let plan = project.ok(&["plan", "-no-color", "-lock-timeout=5s"]);
    // On a slow machine the run has written a snapshot of all that it had done.
    let is_recovered = format!("{}{}", plan.out, plan.err).contains("Changes of an interrupted run were recovered");
    let is_known = project.ok(&["state", "list"]).out.contains("terraform_data.slow[0]");
    assert!(is_recovered || is_known, "{}{}", plan.out, plan.err);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
    assert!(project.ok(&["state", "list"]).out.starts_with("terraform_data.a\n"));
    clear(&project, "after the recovery");
}

/// The search finds what there is to find.
#[test]
fn without_encryption_the_secret_is_found() {
    let project = project(&[], "");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(finds(&project), [project.path("work/terraform.tfstate")]);
}
