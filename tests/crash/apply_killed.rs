//! `kill -9` again and again in the middle of an apply whose instances leave a mark of their own outside.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::support::{Project, Running, processes, program};

const INSTANCES: usize = 500;
const KILLS: usize = 30;
const CONFIGURATION: &str = r#"
resource "terraform_data" "a" {
  count = 500
  input = count.index

  provisioner "local-exec" {
    command = "echo ${self.input} >> side.log"
  }
}
"#;

#[test]
fn no_reported_instance_is_lost() {
    let project = Project::new(CONFIGURATION);
    let mut reported = BTreeSet::new();
    let mut in_flight = BTreeSet::new();
    let (mut logged_before, mut uncertain, mut early) = (0, 0, 0);
    for kill in 0..KILLS {
        let command = project.command(program(), &["apply", "-auto-approve", "-no-color"]);
        let mut apply = Running::start(command);
        // From the first word of the run to many completions in, and not always right after a line.
        let wanted = [0, 1, 2, 6, 10, 18, 28][kill % 7];
        apply.until(|screen| match (kill % 7, screen.len()) {
            (0, length) if kill % 2 == 0 => length > 0,
            (0, _) => screen.contains(": Creating..."),
            _ => completed(screen).count() >= wanted,
        });
        spin(Duration::from_micros((kill as u64 * 733) % 9000));
        processes::kill(apply.child.id() as i32);
        let screen = apply.finish().out;
        processes::all_gone(project.mark());
        early += usize::from(completed(&screen).count() == 0);
        reported.extend(completed(&screen));

        let listed = project.run(&["state", "list"]);
        let known: BTreeSet<usize> = listed.out.lines().filter_map(index).collect();
        // A run killed before it did anything may leave no state at all.
        let sound = listed.code == Some(0) || listed.err.starts_with("No state file was found!");
        assert!(sound, "after kill {kill}: {}{}", listed.out, listed.err);
        let lost: Vec<_> = reported.difference(&known).collect();
        assert!(lost.is_empty(), "after kill {kill}: reported as complete and gone: {lost:?}\n{}", listed.err);

        // What an apply that creates nothing says while it takes up the journal.
        let plan = project.run(&["plan", "-no-color", "-lock=false", "-target=terraform_data.a[0]"]);
        assert_eq!(plan.code, Some(0), "after kill {kill}: {}{}", plan.out, plan.err);
        let named = format!("{}{}", plan.out, plan.err);
        in_flight.extend(named.lines().filter(|line| line.contains("  - ")).filter_map(index));
        uncertain += usize::from(named.contains("Changes of an interrupted run are uncertain"));
        let logged: Vec<usize> = side_log(&project);
        for instance in &logged[logged_before..] {
            let accounted = known.contains(instance) || in_flight.contains(instance);
            assert!(accounted, "after kill {kill}: {instance} was created and is not recorded\n{named}");
        }
        logged_before = logged.len();
        in_flight.clear();
    }
    assert!(uncertain > 0, "no kill ever hit an instance in flight: this test does not test");
    assert!(early < KILLS / 2 && !reported.is_empty(), "{early} of {KILLS} kills came before anything was done");

    project.ok(&["apply", "-auto-approve", "-no-color"]);
    let all: BTreeSet<usize> = (0..INSTANCES).collect();
    assert_eq!(project.ok(&["state", "list"]).out.lines().filter_map(index).collect::<BTreeSet<_>>(), all);
    assert_eq!(side_log(&project).into_iter().collect::<BTreeSet<_>>(), all);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
}

/// What the run had done is written first, and the backup holds it.
#[test]
fn a_state_is_changed_by_hand_after_a_kill() {
    changed_by_hand("-lock=true");
}

#[test]
fn a_state_is_changed_by_hand_without_its_lock_after_a_kill() {
    changed_by_hand("-lock=false");
}

fn changed_by_hand(lock: &str) {
    let project = Project::new(
        "resource \"terraform_data\" \"first\" {}\nresource \"terraform_data\" \"gate\" {\n  input = \
         terraform_data.first.id\n  provisioner \"local-exec\" {\n    command = \"sleep 60\"\n  }\n}\n",
    );
    let mut apply = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    apply.until(|screen| screen.contains("terraform_data.gate: Provisioning"));
    processes::kill(apply.child.id() as i32);
    apply.finish();
    processes::all_gone(project.mark());

    let recovered = ["Warning: Changes of an interrupted run were recovered", "Removed terraform_data.first"];
    project.run(&["state", "rm", lock, "-backup=kept", "terraform_data.first"]).expect(0, &recovered);
    assert!(!project.exists("work/.terraform.tfstate.journal"));
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.gate\n");
    assert_eq!(project.ok(&["state", "list", "-state=kept"]).out, "terraform_data.first\nterraform_data.gate\n");
    project.ok(&["untaint", "terraform_data.gate"]);
}

/// An output is a result: its value may be known before the object that it belongs to exists.
#[test]
fn outputs_of_objects_that_were_not_made_are_not_recovered() {
    let project = Project::new(
        "resource \"terraform_data\" \"first\" {\n  input = \"1\"\n}\nresource \"terraform_data\" \"gate\" {\n  input = \
         terraform_data.first.id\n  provisioner \"local-exec\" {\n    command = \"sleep 60\"\n  }\n}\nresource \"terraform_data\" \
         \"last\" {\n  input = \"3\"\n  depends_on = [terraform_data.gate]\n}\noutput \"first\" {\n  value = \
         terraform_data.first.input\n}\noutput \"last\" {\n  value = terraform_data.last.input\n}\n",
    );
    let mut apply = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    apply.until(|screen| screen.contains("terraform_data.gate: Provisioning"));
    processes::kill(apply.child.id() as i32);
    apply.finish();
    processes::all_gone(project.mark());
    assert_eq!(project.ok(&["output"]).out, "first = \"1\"\n");
    project.ok(&["state", "rm", "terraform_data.gate"]);
    assert_eq!(project.ok(&["output"]).out, "first = \"1\"\n");
}

/// The change that triggers them is done, so no plan would name them again.
#[test]
fn actions_of_a_killed_run_are_named() {
    let action = |name: &str, script: &str| {
        format!(
            "action \"local_command\" \"{name}\" {{\n  config {{\n    command   = \"sh\"\n    arguments = [\"-c\", {script:?}]\n  \
             }}\n}}\n"
        )
    };
    let project = Project::new(&format!(
        "terraform {{\n  required_providers {{\n    local = {{ source = \"terraform.io/builtin/local\" }}\n  }}\n}}\nresource \
         \"terraform_data\" \"a\" {{\n  lifecycle {{\n    action_trigger {{\n      events  = [after_create]\n      actions = \
         [action.local_command.one, action.local_command.two]\n    }}\n  }}\n}}\n{}{}",
        action("one", "echo one >> log; sleep 60"),
        action("two", "echo two >> log"),
    ));
    project.ok(&["init"]);
    let mut apply = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    let end = Instant::now() + crate::support::PATIENCE;
    while !project.exists("work/log") && apply.child.try_wait().unwrap().is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    processes::kill(apply.child.id() as i32);
    apply.finish();
    for seen in processes::of(project.mark()) {
        processes::kill(seen.pid);
    }
    processes::all_gone(project.mark());
    let named = [
        "Actions of an interrupted run were not completed",
        "action.local_command.one, called from terraform_data.a (was running)",
        "action.local_command.two, called from terraform_data.a",
    ];
    project.run(&["plan", "-lock=false"]).expect(0, &named);
    project.run(&["plan"]).expect(0, &named);
    let plan = project.ok(&["plan"]);
    assert!(plan.out.contains("No changes.") && !plan.out.contains("action.local_command"), "{}", plan.out);
}

/// The instances that the screen reports as complete.
fn completed(screen: &str) -> impl Iterator<Item = usize> {
    screen.lines().filter(|line| line.contains(": Creation complete after ")).filter_map(index)
}

/// The number in `terraform_data.a[7]`, wherever it is in the line.
fn index(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("terraform_data.a[")?;
    rest.split_once(']')?.0.parse().ok()
}

fn side_log(project: &Project) -> Vec<usize> {
    if !project.exists("work/side.log") {
        return Vec::new();
    }
    project.read("work/side.log").lines().map(|line| line.parse().unwrap()).collect()
}

/// Passes time without giving the processor away.
fn spin(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}
