//! The life of a state, for every store.

use std::path::Path;
use std::time::Duration;

use super::Store;
use crate::support::faulty::Fault;
use crate::support::{Outcome, Project, Running, program, reference};

/// Three objects; each says in a file that it was made.
fn configuration(store: &Store, port: u16, name: &str, version: u32) -> String {
    format!(
        r#"terraform {{
  {}
}}
resource "terraform_data" "a" {{
  count = 3
  input = {version}
  provisioner "local-exec" {{
    command = "echo ${{count.index}} >> $HOME/created"
  }}
}}
output "version" {{
  value = terraform_data.a[0].output
}}
"#,
        (store.block)(port, name)
    )
}

fn created(project: &Project) -> usize {
    if project.exists("home/created") { project.read("home/created").lines().count() } else { 0 }
}

fn with(project: &Project, program: &Path, args: &[&str]) -> Outcome {
    project.finish(project.command(program, args))
}

/// `ID: x` of a lock that is shown.
pub fn lock_id(outcome: &Outcome) -> Option<String> {
    let text = outcome.text();
    let (_, after) = text.split_once("Lock Info: ID: ")?;
    after.split(' ').next().map(str::to_owned)
}

/// From `init` to `destroy`, in turns with the reference.
pub fn whole(store: Option<Store>) {
    let Some(store) = store else { return };
    let project = store.project(&configuration(&store, store.server.port, "life", 1));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(created(&project), 3);
    project.ok(&["workspace", "new", "second"]);
    project.ok(&["apply", "-auto-approve"]);
    assert!(project.ok(&["workspace", "list"]).out.contains("* second"));
    project.ok(&["destroy", "-auto-approve"]);
    project.ok(&["workspace", "select", "default"]);
    project.ok(&["workspace", "delete", "second"]);
    project.ok(&["plan", "-detailed-exitcode"]);
    held_locks(&store, &project, program());
    if let Some(reference) = reference() {
        let theirs = |args: &[&str]| {
            let outcome = with(&project, &reference, args);
            assert_eq!(outcome.code, Some(0), "{args:?}\n{}{}", outcome.out, outcome.err);
        };
        // Each reads what the other wrote, in the same folder.
        theirs(&["init"]);
        theirs(&["plan", "-detailed-exitcode"]);
        project.write("work/main.tf", &configuration(&store, store.server.port, "life", 2));
        theirs(&["apply", "-auto-approve"]);
        project.ok(&["plan", "-detailed-exitcode"]);
        theirs(&["workspace", "new", "third"]);
        assert!(project.ok(&["workspace", "list"]).out.contains("* third"));
        theirs(&["workspace", "select", "default"]);
        project.ok(&["workspace", "delete", "third"]);
        held_locks(&store, &project, &reference);
    }
    project.ok(&["destroy", "-auto-approve"]);
    assert_eq!(project.ok(&["state", "list"]).out, "");
}

/// A lock that a program holds is seen by this one and, where it is there, by the reference; this one takes it away by force.
fn held_locks(store: &Store, project: &Project, holder: &Path) {
    let text = configuration(store, store.server.port, "life", 9).replace("echo", "sleep 30; echo");
    let slow = store.project(&text);
    assert_eq!(with(&slow, holder, &["init"]).code, Some(0));
    let mut running = Running::start(slow.command(holder, &["apply", "-auto-approve", "-replace=terraform_data.a[0]"]));
    running.until(|out| out.contains("Provisioning with"));
    let refused = project.run(&["plan"]);
    refused.expect(1, &["Error acquiring the state lock", "Operation: OperationTypeApply"]);
    let id = lock_id(&refused).unwrap();
    if let Some(reference) = reference() {
        let seen = with(project, &reference, &["plan", "-no-color"]);
        assert_eq!((seen.code, lock_id(&seen).as_deref()), (Some(1), Some(&*id)), "{}{}", seen.out, seen.err);
    }
    running.child.kill().unwrap();
    assert!(running.finish().is_killed());
    project.run(&["plan"]).expect(1, &["Error acquiring the state lock"]);
    // Not a number: the emulator deletes objects of any generation.
    project.run(&["force-unlock", "-force", "other"]).expect(1, &["Failed to unlock state"]);
    project.ok(&["force-unlock", "-force", &id]);
    project.ok(&["plan"]);
}

/// First lines of the requests of a plan without changes.
pub fn requests_of_an_empty_plan(store: &Store) -> Vec<String> {
    let project = store.project(&configuration(store, store.way.port, "plan", 1));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    store.way.plan(None);
    project.ok(&["plan", "-detailed-exitcode"]);
    store.way.seen()
}

/// A project whose state is in the store, and how many requests an apply of it sends.
fn prepared(store: &Store, name: &str) -> Project {
    let project = store.project(&configuration(store, store.way.port, name, 1));
    store.way.plan(None);
    project.ok(&["init"]);
    project
}

/// Takes a lock away that a failed run has left.
pub fn clear(project: &Project) {
    let plan = project.run(&["plan"]);
    let text = plan.text();
    let guard = || text.split_once("\"terrane force-unlock ")?.1.split('"').next().map(str::to_owned);
    if let Some(id) = lock_id(&plan).or_else(guard) {
        project.run(&["force-unlock", "-force", &id]);
    }
}

/// After any fault: the next run in the folder continues, and no object was created twice or lost.
fn complete(project: &Project, what: &str) {
    clear(project);
    let outcome = project.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, Some(0), "{what}\n{}{}", outcome.out, outcome.err);
    assert_eq!(created(project), 3, "{what}\n{}", project.read("home/created"));
    assert_eq!(project.ok(&["state", "list"]).out.lines().count(), 3, "{what}");
}

/// A fault at each request of an apply. Those that pass are not noticed.
pub fn faults(store: Option<Store>) {
    let Some(store) = store else { return };
    let project = prepared(&store, "count");
    store.way.plan(None);
    project.ok(&["apply", "-auto-approve"]);
    let requests = store.way.seen().len();
    let passing = [Fault::Before, Fault::After, Fault::Status(429), Fault::Status(500), Fault::Status(503)];
    for number in 1..=requests {
        for fault in passing {
            let what = format!("{fault:?} at request {number} of {requests}");
            let project = prepared(&store, &what.replace([' ', '(', ')'], "-"));
            store.way.plan(Some((number, fault)));
            let outcome = project.run(&["apply", "-auto-approve"]);
            assert_eq!(outcome.code, Some(0), "{what}\n{}{}", outcome.out, outcome.err);
            store.way.plan(None);
            complete(&project, &what);
        }
        let what = format!("gone at request {number} of {requests}");
        let project = prepared(&store, &what.replace(' ', "-"));
        store.way.plan(Some((number, Fault::Gone)));
        project.run(&["apply", "-auto-approve"]);
        store.way.plan(None);
        complete(&project, &what);
    }
}

/// Killed while each request of an apply is on its way.
pub fn kills(store: Option<Store>) {
    let Some(store) = store else { return };
    let project = prepared(&store, "count");
    store.way.plan(None);
    project.ok(&["apply", "-auto-approve"]);
    let requests = store.way.seen().len();
    for number in 1..=requests {
        let what = format!("killed at request {number} of {requests}");
        let project = prepared(&store, &what.replace(' ', "-"));
        store.way.plan(Some((number, Fault::Held)));
        let mut running = Running::start(project.command(program(), &["apply", "-auto-approve"]));
        assert!(store.way.reached(Duration::from_secs(60)), "{what}");
        running.child.kill().unwrap();
        assert!(running.finish().is_killed(), "{what}");
        store.way.release();
        store.way.plan(None);
        complete(&project, &what);
    }
}
