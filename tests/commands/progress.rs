//! The status area of a terminal, the modes of `-progress`, and the times of steps.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::support::terminal::Screen;
use crate::support::{Project, program};

/// The second object waits for a file.
const STEPS: &str = r#"
resource "terraform_data" "first" {}

resource "terraform_data" "second" {
  provisioner "local-exec" {
    command = "while [ ! -e go ]; do sleep 0.01; done; printf '%s\n' one two"
  }
  depends_on = [terraform_data.first]
}

resource "terraform_data" "third" {
  depends_on = [terraform_data.second]
}
"#;

/// What begins each piece with an area.
const BEGIN: &str = "\x1b[?2026h";

fn start(project: &Project, args: &[&str]) -> Screen {
    Screen::start(project.command(program(), args))
}

/// What stays on the screen: all that was written without the areas, and without what takes them away.
fn log(shown: &str) -> String {
    let mut out = String::new();
    let shown = shown.replace("\r\n", "\n");
    let mut rest = shown.as_str();
    while let Some((before, area)) = rest.split_once("\x1b[?7l") {
        out.push_str(before);
        rest = area.split_once("\x1b[?7h").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    [BEGIN, "\x1b[?2026l", "\r\x1b[J", "\x1b7", "\x1b8"].iter().fold(out, |out, code| out.replace(code, ""))
}

#[test]
fn an_apply_has_an_area_that_leaves_nothing() {
    let project = Project::new(STEPS);
    let screen = start(&project, &["apply", "-auto-approve", "-progress=tty"]);
    screen.until("Applying: 1 of 3 changes");
    screen.until("terraform_data.second  creating");
    screen.until("waits for the provisioner local-exec");
    project.write("work/go", "");
    let (code, shown) = screen.finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.rfind("\x1b[J") > shown.rfind("Applying:"), "{shown}");
    let log = log(&shown);
    assert!(!log.contains('\x1b') && !log.contains("Applying:") && !log.contains("Still creating"), "{log}");
    let lines = [
        "terraform_data.second: Provisioning with 'local-exec'...\n",
        "terraform_data.second (local-exec): one\nterraform_data.second (local-exec): two\n",
        "Apply complete! Resources: 3 added, 0 changed, 0 destroyed.\n",
    ];
    for line in lines {
        assert!(log.contains(line), "{line}\n{log}");
    }
    // The times are there for the next run, and say nothing of this one.
    let durations = project.path("home/.local/state/terrane/durations");
    let text = std::fs::read_to_string(&durations).unwrap();
    assert!(text.contains("\nterraform_data create ") && !text.contains("second"), "{text}");
    assert_eq!(std::fs::metadata(&durations).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_typed_line_leaves_no_piece_of_an_area() {
    let project = Project::new(STEPS);
    let mut screen = start(&project, &["apply", "-auto-approve", "-progress=tty"]);
    screen.until("terraform_data.second  creating");
    screen.send("\n");
    // The cursor returns to where the area starts before it is drawn again.
    screen.until("\x1b8\r\x1b[J");
    project.write("work/go", "");
    let (code, shown) = screen.finish();
    assert_eq!(code, Some(0), "{shown}");
}

#[test]
fn a_suspended_apply_has_no_area_and_goes_on() {
    let project = Project::new(STEPS);
    let mut screen = start(&project, &["apply", "-auto-approve", "-progress=tty"]);
    screen.until("terraform_data.second  creating");
    screen.signal(libc::SIGTSTP);
    // The area is taken away, and nothing is written with that.
    screen.until("\x1b[?2026h\r\x1b[J\x1b[?2026l");
    project.write("work/go", "");
    // It may not be suspended yet; where no shell could continue it, the system does not suspend it.
    for _ in 0..600 {
        if screen.child.try_wait().unwrap().is_some() {
            break;
        }
        screen.signal(libc::SIGCONT);
        std::thread::sleep(Duration::from_millis(100));
    }
    let (code, shown) = screen.finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Apply complete!"), "{shown}");
}

#[test]
fn a_question_is_not_overdrawn() {
    let project = Project::new("resource \"terraform_data\" \"a\" {}\n");
    let mut screen = start(&project, &["apply", "-progress=tty"]);
    screen.until("Enter a value: ");
    screen.send("yes\n");
    let (code, shown) = screen.finish();
    assert_eq!(code, Some(0), "{shown}");
    let (_, answer) = shown.split_once("Enter a value: ").unwrap();
    assert!(answer.starts_with("yes"), "{shown}");
}

#[test]
fn a_wait_for_the_lock_names_its_owner() {
    let project = Project::new(STEPS);
    let owner = start(&project, &["apply", "-auto-approve", "-progress=none"]);
    owner.until("Provisioning with 'local-exec'");
    let waiting = start(&project, &["plan", "-lock-timeout=120s", "-progress=tty"]);
    waiting.until("Waiting for the state lock of ");
    waiting.until("for \"apply\"");
    let explaining = start(&project, &["explain", "-lock-timeout=120s", "-progress=tty", "terraform_data.first"]);
    explaining.until("Waiting for the state lock of ");
    project.write("work/go", "");
    let (code, shown) = owner.finish();
    assert_eq!((code, shown.contains('\x1b')), (Some(0), false), "{shown}");
    let (code, shown) = waiting.finish();
    assert_eq!(code, Some(0), "{shown}");
    assert!(log(&shown).contains("Acquiring state lock. This may take a few moments...\n"), "{shown}");
    let (code, shown) = explaining.finish();
    assert!(code == Some(0) && !log(&shown).contains("Waiting"), "{shown}");
}

#[test]
fn an_area_needs_a_terminal_for_people() {
    let mut project = Project::new("resource \"terraform_data\" \"a\" {\n  input = 1\n}\n");
    // The project's commands have NO_COLOR.
    let (_, plain) = start(&project, &["plan"]).finish();
    assert!(!plain.contains('\x1b'), "{plain}");
    let (_, json) = start(&project, &["plan", "-json", "-progress=tty"]).finish();
    assert!(!json.contains('\x1b'), "{json}");
    let piped = project.ok(&["plan"]);
    for args in [&["plan", "-progress=tty"], &["plan", "-progress=plain"], &["plan", "-progress=none"]] {
        let outcome = project.ok(args);
        assert_eq!((&outcome.out, &outcome.err), (&piped.out, &piped.err), "{args:?}");
    }
    for command in [&["explain", "terraform_data.a"][..], &["graph"]] {
        let plain = project.ok(command);
        let with_flag = [&command[..1], &["-progress=tty"], &command[1..]].concat();
        assert_eq!(project.ok(&with_flag).out, plain.out, "{command:?}");
    }
    project.run(&["plan", "-progress=fast"]).expect(1, &["invalid value \"fast\" for flag -progress"]);
    project.set("TERRANE_PROGRESS", "fast");
    project.run(&["plan"]).expect(1, &["Invalid value of an environment variable", "TERRANE_PROGRESS", "\"fast\""]);
    // The flag is above the variable, and other commands have neither.
    project.ok(&["plan", "-progress=auto"]);
    project.ok(&["version"]);
}

#[test]
fn times_of_steps_are_shown_and_written() {
    let project = Project::new("resource \"terraform_data\" \"a\" {\n  count = 12\n}\n");
    let plain = project.ok(&["apply", "-auto-approve", "-timings"]);
    plain.expect(0, &["The slowest 10 of ", "create", "terraform_data.a["]);
    project.ok(&["plan", "-timings=t.html"]);
    let page = project.read("work/t.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("<td>terraform_data.a[11]<td>refresh"), "{page}");
    project.ok(&["apply", "-json", "-auto-approve", "-destroy", "-timings=t.json"]);
    let trace: serde_json::Value = serde_json::from_str(&project.read("work/t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["name"] == "terraform_data.a[0]" && event["cat"] == "delete"), "{trace}");
    // What cannot be written is found before anything is applied.
    project.write("work/folder.html/file", "");
    for file in ["none/t.json", "folder.html"] {
        let refused = project.run(&["apply", "-auto-approve", &format!("-timings={file}")]);
        refused.expect(1, &["Error: Failed to write the timings", file]);
        assert_eq!(refused.out, "");
    }
    assert!(!project.read("work/terraform.tfstate").contains("terraform_data"));
    assert!(!project.path("work/none").exists());
    project.run(&["plan", "-timings=t.txt"]).expect(1, &["Error: Invalid value of -timings"]);
    project.run(&["plan", "-timings", "-json"]).expect(1, &["Error: Invalid output format"]);
}
