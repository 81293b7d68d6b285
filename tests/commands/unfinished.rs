//! The end of an apply that failed or was interrupted: a terminal shows a summary, a pipe only what the reference shows.

use crate::support::terminal::Screen;
use crate::support::{Project, Running, program};

const STEPS: &str = r#"
resource "terraform_data" "first" {}

resource "terraform_data" "second" {
  provisioner "local-exec" {
    command = "COMMAND"
  }
  depends_on = [terraform_data.first]
}

resource "terraform_data" "third" {
  depends_on = [terraform_data.second]
}
"#;

/// A command that survives interrupts, and says when it runs.
const STUBBORN: &str = "trap '' INT; echo waiting; while [ ! -e go ]; do sleep 0.01; done";

fn start(project: &Project, args: &[&str]) -> Screen {
    Screen::start(project.command(program(), args))
}

/// From the summary on.
fn summary(shown: &str) -> &str {
    shown.find("\nApply ").map_or("", |at| &shown[at..])
}

const TAINTED: &str = "

Tainted (the next apply replaces them):
  - terraform_data.second

Not started:
  - terraform_data.third
";

#[test]
fn a_failed_apply_ends_with_a_summary() {
    let mut project = Project::new(&STEPS.replace("COMMAND", "exit 1"));
    let (code, shown) = start(&project, &["apply", "-auto-approve"]).finish();
    let numbers = "\nApply failed. Resources: 1 added, 0 changed, 0 destroyed, 1 tainted, 1 not started.";
    assert_eq!((code, summary(&shown)), (Some(1), &*format!("{numbers}{TAINTED}")), "{shown}");
    let outcome = project.run(&["apply", "-auto-approve"]);
    assert!(!outcome.out.contains("Apply failed"), "{outcome:?}");
    project.set("TF_IN_AUTOMATION", "1");
    let (_, shown) = start(&project, &["apply", "-auto-approve"]).finish();
    assert_eq!(summary(&shown), "", "{shown}");
}

#[test]
fn an_error_of_the_plan_has_no_summary() {
    let project = Project::new("output \"a\" {\n  value = nope.a\n}\n");
    let (code, shown) = start(&project, &["apply", "-auto-approve"]).finish();
    assert_eq!((code, summary(&shown)), (Some(1), ""), "{shown}");
}

#[test]
fn an_interrupted_apply_ends_with_a_summary() {
    let mut project = Project::new(&STEPS.replace("COMMAND", STUBBORN));
    let interrupted = |project: &Project| {
        let screen = start(project, &["apply", "-auto-approve"]);
        screen.until("(local-exec): waiting");
        screen.signal(libc::SIGINT);
        screen.until("Stopping operation...");
        project.write("work/go", "");
        screen.finish()
    };
    // The command ended well, but it may have left out the rest for the interrupt.
    let (code, shown) = interrupted(&project);
    let numbers = "\nApply interrupted. Resources: 1 added, 0 changed, 0 destroyed, 1 tainted, 1 not started.";
    assert_eq!((code, summary(&shown)), (Some(1), &*format!("{numbers}{TAINTED}")), "{shown}");
    assert!(shown.contains("interrupted (exit status 0)"), "{shown}");
    // OpenTofu believes it.
    std::fs::remove_file(project.path("work/go")).unwrap();
    project.ok(&["destroy", "-auto-approve"]);
    project.set("TERRANE_NAME", "tofu");
    let (code, shown) = interrupted(&project);
    let expected = "\nApply interrupted. Resources: 2 added, 0 changed, 0 destroyed, 1 not started.\n\nNot started:\n  - terraform_data.third\n";
    assert_eq!((code, summary(&shown)), (Some(1), expected), "{shown}");
    assert!(!project.ok(&["state", "show", "terraform_data.second"]).out.contains("tainted"));
}

#[test]
fn two_interrupts_name_whose_provisioners_were_running() {
    let project = Project::new(&STEPS.replace("COMMAND", STUBBORN));
    let screen = start(&project, &["apply", "-auto-approve"]);
    screen.until("(local-exec): waiting");
    screen.signal(libc::SIGINT);
    screen.until("Stopping operation...");
    // Another signal, for the same one at once would be an echo of the first.
    screen.signal(libc::SIGTERM);
    let (code, shown) = screen.finish();
    let numbers = "\nApply interrupted. Resources: 1 added, 0 changed, 0 destroyed, 1 tainted, 1 not started.";
    assert_eq!((code, summary(&shown)), (Some(1), &*format!("{numbers}{TAINTED}")), "{shown}");
    for text in ["Two interrupts received: what still runs is abandoned", "  - terraform_data.second"] {
        assert!(shown.contains(text), "{shown}");
    }
    assert!(!shown.contains("data loss may have occurred"), "{shown}");
    project.ok(&["state", "show", "terraform_data.second"]).expect(0, &["(tainted)"]);
}

#[test]
fn an_interrupted_question_threatens_with_nothing() {
    let project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    let screen = start(&project, &["apply"]);
    screen.until("Enter a value:");
    screen.signal(libc::SIGINT);
    let (code, shown) = screen.finish();
    assert_eq!(code, Some(1), "{shown}");
    let (_, end) = shown.split_once("Enter a value: ").unwrap();
    let error = "Error: error asking for approval: interrupted\n\nNothing was changed.\n";
    assert_eq!(end, format!("\n\nInterrupt received.\n\n{error}"));
    // In a pipe as the reference.
    let mut command = project.command(program(), &["apply"]);
    let (reader, _writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let mut running = Running::start(command);
    running.until(|screen| screen.contains("Enter a value:"));
    // SAFETY: the call touches no memory.
    assert_eq!(unsafe { libc::kill(running.child.id() as i32, libc::SIGINT) }, 0);
    let outcome = running.finish();
    let (_, end) = outcome.out.split_once("Enter a value: ").unwrap();
    let text =
        "Interrupt received.\nPlease wait for Terrane to exit or data loss may occur.\nGracefully shutting down...";
    assert_eq!(end, format!("\n\n{text}\n\n"), "{outcome:?}");
    assert!(!outcome.err.contains("Nothing was changed"), "{outcome:?}");
}
