//! Runs the commands of a case in a separate folder and records their output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::normal;
use crate::support::recorded_release;

pub struct Player {
    program: PathBuf,
    /// The name by which the program calls itself.
    name: &'static str,
    case: PathBuf,
    place: tempfile::TempDir,
}

impl Player {
    pub fn ours(case: &Path) -> Player {
        Player::new(crate::support::program().to_path_buf(), "terrane", case)
    }

    pub fn reference(case: &Path) -> Player {
        Player::new(PathBuf::from("terraform"), "terraform", case)
    }

    fn new(program: PathBuf, name: &'static str, case: &Path) -> Player {
        let place = tempfile::Builder::new().prefix("terrane-case-").tempdir().unwrap();
        copy(case, &place.path().join("work"));
        std::fs::create_dir(place.path().join("home")).unwrap();
        Player { program, name, case: case.to_path_buf(), place }
    }

    /// Every line of `steps.txt` with what came of it. A line is a command's arguments, with variables before them and
    /// `< FILE` for its input behind them as in a shell; or `cp FROM TO`, `rm FILE`, `cat FILE`, `ls`; or a comment.
    pub fn play(&self) -> String {
        let steps = std::fs::read_to_string(self.case.join("steps.txt")).unwrap();
        let mut played = String::new();
        for step in steps.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            played += &format!("$ {step}\n");
            match words(step).iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                ["cp", from, to] => {
                    std::fs::copy(self.work().join(from), self.work().join(to)).unwrap();
                }
                ["rm", file] => std::fs::remove_file(self.work().join(file)).unwrap(),
                ["cat", file] => {
                    let text = std::fs::read_to_string(self.work().join(file)).unwrap();
                    played += &normal::state(&text);
                }
                ["ls"] => played += &self.files(),
                words => played += &self.command(words),
            }
        }
        played
    }

    /// The names of the files that are there, a line each.
    fn files(&self) -> String {
        let entries = std::fs::read_dir(self.work()).unwrap().flatten();
        let names: BTreeSet<String> =
            entries.map(|entry| normal::undated(&entry.file_name().to_string_lossy())).collect();
        names.into_iter().map(|name| format!("{name}\n")).collect()
    }

    fn work(&self) -> PathBuf {
        self.place.path().join("work")
    }

    fn command(&self, words: &[&str]) -> String {
        let is_variable = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
        let variables = words.iter().take_while(is_variable).count();
        let (words, input) = match words {
            [words @ .., "<", file] => (words, Stdio::from(std::fs::File::open(self.work().join(file)).unwrap())),
            words => (words, Stdio::null()),
        };
        let mut command = Command::new(&self.program);
        command.args(&words[variables..]).current_dir(self.work()).stdin(input).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.place.path().join("home")).env("CHECKPOINT_DISABLE", "1");
        command.env("TF_CLI_ARGS", "-no-color");
        // The reference keeps no snapshots beside the state.
        command.env("TERRANE_STATE_HISTORY", "0");
        let given = || words[..variables].iter().filter_map(|word| word.split_once('='));
        let name = given().find(|(name, _)| *name == "TERRANE_NAME").map_or("", |(_, name)| name);
        command.env("TERRANE_COMPATIBLE_VERSION", recorded_release(name)).envs(given());
        let output = command.output().unwrap();
        let place = self.place.path().canonicalize().unwrap();
        let text = |bytes: &[u8]| normal::screen(&String::from_utf8_lossy(bytes), self.name, &place);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let mut shown = out;
        if !err.is_empty() {
            // How many empty lines stand around errors is not worth a difference.
            let lines: Vec<&str> = err.trim_matches('\n').lines().collect();
            let lines: Vec<&str> = lines.chunk_by(|a, b| a.is_empty() && b.is_empty()).map(|run| run[0]).collect();
            shown += &format!("--- error output\n{}\n", lines.join("\n"));
        }
        match output.status.code() {
            Some(0) => shown,
            code => format!("{shown}--- exit code {}\n", code.map_or("none".into(), |code| code.to_string())),
        }
    }
}

/// The words of a line; single quotes keep blanks together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            c => word.push(c),
        }
    }
    words
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        match path.is_dir() {
            true => copy(&path, &to.join(name)),
            false if name == "steps.txt" || name == "expected.txt" => {}
            false => drop(std::fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// What was found whole, and behind it the lines around the first that differs: logs keep their ends.
pub fn difference(expected: &str, found: &str) -> String {
    let at = expected.lines().zip(found.lines()).take_while(|(e, f)| e == f).count();
    let around = |text: &str| text.lines().skip(at.saturating_sub(4)).take(12).collect::<Vec<_>>().join("\n");
    format!("=== all of it\n{found}\n=== line {}, expected\n{}\n=== found\n{}", at + 1, around(expected), around(found))
}
