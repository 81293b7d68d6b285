//! All skipped tests are reported in the same way, and none passes because a variable is not set.

use super::{here, source_files};
use crate::support::needs::Need;

/// Files of tests: of the program and of the library.
fn files() -> Vec<(String, String)> {
    let below = |root: &str| {
        let named = |(path, text)| (format!("{root}/{path}"), text);
        source_files(&here(root)).into_iter().map(named).collect::<Vec<_>>()
    };
    [below("tests"), below("src")].concat()
}

/// Messages of skipped tests outside of `needs::skip`, where they are not counted.
fn messages(files: &[(String, String)]) -> Vec<String> {
    let mark = concat!("\"skip", "ped: ");
    let is_other = |path: &str| path != "tests/support/needs.rs";
    let others = files.iter().filter(|(path, text)| is_other(path) && text.contains(mark));
    others.map(|(path, _)| path.clone()).collect()
}

/// Tests that return at once because a variable is not set, and are not ignored.
fn idle(files: &[(String, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let returns =
                line.contains("else { return }") || lines.get(at + 1).is_some_and(|next| next.trim() == "return;");
            if !(line.contains(concat!("env::", "var")) && returns) {
                continue;
            }
            let before = &lines[at.saturating_sub(5)..at];
            let begins =
                before.iter().rposition(|line| line.trim_start().starts_with("#[")).map(|last| &before[..=last]);
            let is_test = |line: &&str| line.trim().starts_with("#[test]") || line.trim().starts_with("#[tokio::test");
            let attributes = begins.unwrap_or_default();
            if attributes.iter().any(is_test) && !attributes.iter().any(|line| line.contains("#[ignore")) {
                found.push(format!("{path}:{}", at + 1));
            }
        }
    }
    found
}

#[test]
fn skipped_tests_have_a_reason() {
    let files = files();
    assert_eq!(messages(&files), Vec::<String>::new(), "call needs::skip");
    assert_eq!(idle(&files), Vec::<String>::new(), "add #[ignore], or a default");
}

#[test]
fn idle_tests_are_found() {
    let found = |text: &str| idle(&[("a.rs".to_owned(), text.to_owned())]);
    let test = |attribute: &str, rest: &str| format!("#[test]\n{attribute}fn a() {{\n    {rest}\n}}\n");
    let (letting, asking) = (
        concat!("let Ok(a) = std::env::", "var(A) else { return };"),
        concat!("if std::env::", "var_os(A).is_none() {\n        return;\n    }"),
    );
    assert_eq!(found(&test("", letting)), ["a.rs:3"]);
    assert_eq!(found(&test("", asking)), ["a.rs:3"]);
    for text in [letting, asking] {
        assert!(found(&test("#[ignore = \"long\"]\n", text)).is_empty(), "{text}");
    }
    assert!(found(&test("", concat!("let a = std::env::", "var(A).unwrap_or_default();"))).is_empty());
}

/// The page about tests names all reasons, in the same order.
#[test]
fn reasons_are_documented() {
    let page = std::fs::read_to_string(here("docs/contributing.md")).unwrap();
    let table = page.split_once("| Word | Without it").unwrap().1.split("\n\n").next().unwrap();
    let words: Vec<&str> = table.lines().skip(2).map(|line| line.split('`').nth(1).unwrap()).collect();
    assert_eq!(words, Need::ALL.map(|(_, word)| word));
}
