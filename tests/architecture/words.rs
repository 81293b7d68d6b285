//! Words that documentation, comments and names of tests do not use, because readers whose first language is not English have to read them
//! twice. Each has what to write instead.

use std::path::Path;

use super::here;
use super::pages::{all_pages, prose};

/// A banned word or phrase in lower case and what to write, one per line.
const BANNED: &str = include_str!("words.txt");

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
    BANNED.lines().filter_map(|row| row.split_once(": ")).filter(|(phrase, _)| contains(phrase)).collect()
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

/// The names of test functions with spaces, by line.
fn test_names(text: &str) -> impl Iterator<Item = (usize, String)> {
    let lines = text.lines().zip(text.lines().skip(1)).enumerate();
    lines.filter_map(|(at, (attribute, line))| {
        let attribute = attribute.trim_start();
        let is_test = attribute.starts_with("#[test]") || attribute.starts_with("#[tokio::test");
        let (_, rest) = line.split_once("fn ").filter(|_| is_test)?;
        Some((at + 2, rest.split('(').next()?.replace('_', " ")))
    })
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
fn comments_and_test_names_are_in_plain_words() {
    let mut found = Vec::new();
    for root in ["src", "tests"] {
        for (path, text) in super::source_files(&here(root)) {
            if Path::new(&path).starts_with("fixtures") || path == "architecture/words.rs" {
                continue;
            }
            let comments = text.lines().enumerate().map(|(number, line)| (number + 1, comment(line).to_string()));
            found.extend(complaints(&format!("{root}/{path}"), comments.chain(test_names(&text))));
        }
    }
    assert!(found.is_empty(), "{} lines\n{}", found.len(), found.join("\n"));
}

#[test]
fn banned_words_are_found() {
    let (first, instead) = BANNED.lines().next().unwrap().split_once(": ").unwrap();
    assert_eq!(banned(&format!("X, {first}, y. {first}y")), [(first, instead)]);
    assert!(banned("").is_empty() && banned(&format!("x{first} {first}y {first}'s")).is_empty());
    assert_eq!(comment("f(\"http://x\"); // a // b"), "// a // b");
    assert_eq!(test_names("#[test]\nfn a_b() {}\nfn c() {}").collect::<Vec<_>>(), [(2, "a b".to_string())]);
    assert_eq!(spoken("a `mod x` b \"c\" d"), "a   b   d");
    let found = complaints("a.rs", [(3, format!("// `{first}` {first}"))].into_iter());
    assert_eq!(found, [format!("a.rs:3: \"{first}\": write {instead}")]);
}
