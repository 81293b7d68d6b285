//! Configurations with errors, and every word that is said about them.
//!
//! `invalid_configurations.txt` has a case per `### COMMAND; COMMAND # NAME`, with the text of `main.tf`; `--- FILE` begins another file. What
//! is expected was recorded from the reference into `invalid_configurations_expected.txt`: `tests/record.sh` does it again.

use std::path::Path;

use super::transcript::{Player, difference};

struct Case {
    command: String,
    name: String,
    files: Vec<(String, String)>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            let (command, name) = heading.split_once(" # ").expect("a command and a name");
            let files = vec![("main.tf".to_string(), String::new())];
            cases.push(Case { command: command.into(), name: name.into(), files });
            continue;
        }
        let files = &mut cases.last_mut().expect("a case begins with ###").files;
        match line.strip_prefix("--- ") {
            Some(file) => files.push((file.to_string(), String::new())),
            None => {
                let (_, text) = files.last_mut().expect("main.tf at least");
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    cases
}

fn play(case: &Case, player: fn(&Path) -> Player) -> String {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in &case.files {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(dir.path().join("steps.txt"), case.command.replace("; ", "\n")).unwrap();
    // Texts about the other program's past keep its name.
    let played = player(dir.path()).play().replace("Terraform", "Terrane");
    format!("### {}\n{played}", case.name)
}

/// All cases, a quarter of them at a time.
fn play_all(cases: &[Case], player: fn(&Path) -> Player) -> String {
    let chunks = cases.chunks(cases.len().div_ceil(4).max(1));
    let played: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = chunks
            .map(|chunk| scope.spawn(move || chunk.iter().map(|case| play(case, player)).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    played.join("\n")
}

#[test]
fn errors_have_the_texts_of_the_reference() {
    let folder = super::folder();
    let cases = cases(&std::fs::read_to_string(folder.join("invalid_configurations.txt")).unwrap());
    let expected = folder.join("invalid_configurations_expected.txt");
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        std::fs::write(&expected, play_all(&cases, Player::reference)).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&expected).unwrap_or_default();
    let played = play_all(&cases, Player::ours);
    assert!(played == recorded, "{}", difference(&recorded, &played));
}
