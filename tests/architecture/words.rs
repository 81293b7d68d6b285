//! Words that the documentation and the comments do not use, because readers whose first language is not English have to read them
//! twice. Each has what to write instead.

use std::path::Path;

use super::here;
use super::pages::{all_pages, prose};

/// A banned word or phrase in lower case, and what to write.
const BANNED: &[(&str, &str)] = &[
    ("nobody", "no user, no process, no request; or the passive voice"),
    ("somebody", "a user, another process"),
    ("somebody's", "of another user"),
    ("anybody", "any user"),
    ("whoever", "the caller, the process that"),
    ("whomever", "the user that"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("falters", "fails"),
    ("mistake", "error"),
    ("mistakes", "errors"),
    ("by chance", "random, not defined"),
    ("the like", "name the things"),
    ("and the like", "name the things"),
    ("at hand", "available"),
    ("all the same", "still, nevertheless"),
    ("of ours", "of Terrane, of this crate"),
    ("of theirs", "of the other program"),
    ("has a word", "logs, reports"),
    ("would rather", "prefers"),
    ("as it were", "leave it out"),
    ("cannot be had", "is not available"),
    ("can be had", "is available"),
    ("may be had", "is available"),
    ("held against", "compared with"),
    ("holds against", "compares with"),
    ("passed over", "ignored, skipped"),
    ("passes over", "ignores, skips"),
    ("in its turn", "then"),
    ("gives back its turn", "releases its slot"),
    ("is told", "is reported, is shown; receives"),
    ("are told", "are reported, are shown; receive"),
    ("be told", "be reported, be shown; receive"),
    ("goes after", "follows"),
];

/// The phrases in a line, on word boundaries.
fn banned(line: &str) -> Vec<(&'static str, &'static str)> {
    let line = line.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let contains = |phrase: &str| {
        line.match_indices(phrase).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + phrase.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    };
    BANNED.iter().filter(|(phrase, _)| contains(phrase)).copied().collect()
}

/// The text without what is in backticks or double quotes: names of code, and texts of programs.
fn spoken(line: &str) -> String {
    let unquoted: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    unquoted.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The comment of a line of Rust; empty if there is none.
fn comment(line: &str) -> &str {
    let start = |at: usize| at == 0 || line[..at].ends_with(char::is_whitespace);
    line.match_indices("//").find(|(at, _)| start(*at)).map_or("", |(at, _)| &line[at..])
}

fn complaints(name: &str, lines: impl Iterator<Item = (usize, String)>) -> Vec<String> {
    let complaint = |(number, line): (usize, String)| {
        let found = banned(&spoken(&line)).into_iter();
        found.map(|(phrase, instead)| format!("{name}:{number}: \"{phrase}\": write {instead}")).collect::<Vec<_>>()
    };
    lines.flat_map(complaint).collect()
}

#[test]
fn pages_are_in_plain_words() {
    let mut found = Vec::new();
    for page in all_pages() {
        let text = std::fs::read_to_string(here(page.to_str().unwrap())).unwrap();
        let number = |line: &str| text.lines().position(|other| other == line).map_or(0, |at| at + 1);
        let lines = prose(&text).into_iter().map(|line| (number(line), line.to_string()));
        found.extend(complaints(&page.display().to_string(), lines));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn comments_are_in_plain_words() {
    let mut found = Vec::new();
    for root in ["src", "tests"] {
        for (path, text) in super::source_files(&here(root)) {
            if Path::new(&path).starts_with("fixtures") || path == "architecture/words.rs" {
                continue;
            }
            let lines = text.lines().enumerate().map(|(number, line)| (number + 1, comment(line).to_string()));
            found.extend(complaints(&format!("{root}/{path}"), lines));
        }
    }
    assert!(found.is_empty(), "{} lines\n{}", found.len(), found.join("\n"));
}

#[test]
fn banned_words_are_found() {
    assert_eq!(banned("Nobody is there, by chance.").len(), 2);
    assert!(banned("commended, somebodys; amend").is_empty());
    assert_eq!(comment("f(\"http://x\"); // a // b"), "// a // b");
    assert_eq!(spoken("a `mistakes` b"), "a   b");
    assert_eq!(complaints("a.rs", [(3, "// a mistake".to_string())].into_iter()), ["a.rs:3: \"mistake\": write error"]);
}
