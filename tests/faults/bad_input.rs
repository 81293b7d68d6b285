//! Invalid input: the complete output, compared with that of the reference under Terrane's name.
//!
//! A folder of `fixtures/bad_input` is a configuration with the command in `command.txt` and the screen in
//! `expected.txt`. RECORD=reference takes the screens from the reference, RECORD=ours from us, to be compared by hand:
//! ours differ on purpose where they have a place that the reference does not tell, or find more.

use std::path::Path;

use crate::support::{Outcome, Project, program, reference};

#[test]
fn invalid_input_is_reported_as_by_the_reference() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bad_input");
    let mut folders: Vec<_> = std::fs::read_dir(&fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let record = std::env::var("RECORD").unwrap_or_default();
    let keep_ours = record == "ours";
    let recorder = if record == "reference" { reference() } else { None };
    let mut wrong = Vec::new();
    for folder in &folders {
        let project = Project::new("");
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if !["command.txt", "expected.txt"].contains(&&*name) {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                project.write(&format!("work/{name}"), &text);
                files.push((name, text));
            }
        }
        let command = std::fs::read_to_string(folder.join("command.txt")).unwrap();
        let mut args: Vec<_> = command.split_whitespace().collect();
        args.push("-no-color");
        // Where a flag may not follow what the command is about.
        if args[0] == "state" {
            args.pop();
        }
        if keep_ours {
            let said = screen(&project.finish(project.command(program(), &args)));
            std::fs::write(folder.join("expected.txt"), said).unwrap();
            continue;
        }
        if let Some(terraform) = &recorder {
            let said = screen(&project.finish(project.command(terraform, &args)));
            std::fs::write(folder.join("expected.txt"), renamed(&said)).unwrap();
            continue;
        }
        let said = screen(&project.finish(project.command(program(), &args)));
        let expected = std::fs::read_to_string(folder.join("expected.txt")).unwrap_or_default();
        if said != expected {
            wrong.push(format!("=== {}: {command}--- expected\n{expected}--- said\n{said}", folder.display()));
        }
        for (name, text) in files {
            assert_eq!(project.read(&format!("work/{name}")), text, "{}: {name} was changed", folder.display());
        }
    }
    assert!(folders.len() >= 25, "only {} folders found", folders.len());
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), folders.len(), wrong.join("\n"));
}

fn screen(outcome: &Outcome) -> String {
    let code = outcome.code.map_or("killed".to_owned(), |code| code.to_string());
    let (out, err) = (outcome.out.trim_end(), outcome.err.trim_end());
    format!("{out}\n---\n{err}\n---\nexit {code}\n").trim_start().to_owned()
}

/// The reference's words with our name for the program, and its own for the language.
fn renamed(text: &str) -> String {
    let mut text = text.replace("Terraform", "Terrane");
    for command in ["init", "plan", "apply", "state", "force-unlock", "providers", "version", "get"] {
        text = text.replace(&format!("terraform {command}"), &format!("terrane {command}"));
    }
    text
}
