//! The documentation says what the code says.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base::env;

use super::here;
use super::rules::{AREAS, LONG_FILES};

fn page(name: &str) -> String {
    let path = here("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn pages_have_no_marks_of_a_merge() {
    for page in super::pages::all_pages() {
        let text = std::fs::read_to_string(here(page.to_str().unwrap())).unwrap();
        let is_mark = |line: &&str| line.starts_with("<<<<<<< ") || *line == "=======" || line.starts_with(">>>>>>> ");
        assert_eq!(text.lines().find(is_mark), None, "{}", page.display());
    }
}

/// Variables are read by their name in `base::env`, and all documented variables are read.
#[test]
fn variables_are_declared_and_read() {
    let mut read = String::new();
    for (path, text) in super::source_files(&here("src")) {
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for call in ["environment.get(\"", ".non_empty(\"", ".with_prefix(\""] {
            assert!(
                // The language has no environment, but refinements of strings with the same names.
                path == "base/env.rs"
                    || path.starts_with("lang/")
                    || path.starts_with("acceptance/")
                    || !code.contains(call),
                "{path} reads a variable that is not in base/env.rs"
            );
        }
        if !path.starts_with("base/env") {
            read.push_str(code);
        }
    }
    let words: BTreeSet<&str> = read.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let idle = |variable: &&env::Variable| !words.contains(variable.name) && !variable.doc.contains("ignored");
    let idle: Vec<_> = env::all().filter(|variable| idle(variable)).map(|variable| variable.name).collect();
    assert!(idle.is_empty(), "declared and never read: {idle:?}");
}

/// What each area may import, as the page's table has it.
fn area_table() -> String {
    let mut table = String::from("| Layer | Area | May import |\n|---|---|---|\n");
    for (layer, part) in AREAS {
        let may = part.may.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        let may = if may.is_empty() { "no other area".to_string() } else { may };
        let _ = writeln!(table, "| {layer} | `{}` | {may} |", part.path);
    }
    table
}

#[test]
fn architecture_page_has_the_tested_order() {
    let table = area_table();
    let page = page("architecture.md");
    assert!(page.contains(&table), "docs/architecture.md should have this table:\n\n{table}");
    for (path, _) in LONG_FILES {
        assert!(page.contains(path), "docs/architecture.md should say why {path} is long");
    }
}

/// What the way of one `apply` names is where it says.
#[test]
fn the_way_of_one_apply_names_what_exists() {
    let page = page("architecture.md");
    let (_, rest) = page.split_once("## The way of one `apply`").unwrap();
    let way = rest.split("\n## ").next().unwrap();
    assert!(way.lines().count() <= 60, "it is to be short");
    let mut seen = 0;
    for path in way.split('`').skip(1).step_by(2).filter(|quoted| quoted.contains("::")) {
        let (owner, name) = path.rsplit_once("::").unwrap();
        // A method's owner is a type, written with a capital.
        let (module, type_name) = match owner.rsplit_once("::") {
            Some((module, last)) if last.starts_with(char::is_uppercase) => (module, Some(last)),
            _ => (owner, None),
        };
        let file = format!("src/{}", module.replace("::", "/"));
        let text = [format!("{file}.rs"), format!("{file}/mod.rs"), format!("{file}/lib.rs")]
            .iter()
            .find_map(|file| std::fs::read_to_string(here(file)).ok());
        let text = text.unwrap_or_else(|| panic!("no {file}.rs"));
        let has_type = type_name.is_none_or(|name| text.contains(&format!("struct {name}")));
        let is_there = has_type && (text.contains(&format!("fn {name}(")) || text.contains(&format!("fn {name}<")));
        assert!(is_there, "{path} is not there");
        seen += 1;
    }
    assert!(seen >= 20, "only {seen} functions named");
}

/// Every folder of the two upper levels has its place on the map.
#[test]
fn architecture_page_names_every_folder() {
    let page = page("architecture.md");
    for (path, _) in super::source_files(&here("src")).iter().filter(|(path, _)| !path.contains("/tests/")) {
        let folder =
            path.split('/').take(path.split('/').count().saturating_sub(1).min(2)).collect::<Vec<_>>().join("/");
        assert!(folder.is_empty() || page.contains(&format!("{folder}/")), "docs/architecture.md lacks {folder}/");
    }
}

/// The source files that the pages name are there.
#[test]
fn pages_name_files_that_exist() {
    for path in super::pages::all_pages().into_iter().map(|page| here(page.to_str().unwrap())) {
        let text = std::fs::read_to_string(&path).unwrap();
        for quoted in text.split('`').skip(1).step_by(2) {
            let named = quoted.starts_with("src/") || quoted.starts_with("tests/") || quoted.starts_with("docs/");
            let plain = quoted.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
            assert!(!named || !plain || here(quoted).exists(), "{} names {quoted}", path.display());
        }
    }
}

#[test]
fn third_party_page_lists_every_package() {
    let page = page("third-party.md");
    let lock = std::fs::read_to_string(here("Cargo.lock")).unwrap();
    // Packages of this workspace have no source.
    let packages = lock.split("[[package]]").filter(|package| package.contains("\nsource = "));
    let names = packages.filter_map(|package| package.split("name = \"").nth(1)?.split('"').next());
    let missing: Vec<_> = names.filter(|name| !page.contains(&format!("\n| {name} | "))).collect();
    assert!(missing.is_empty(), "docs/third-party.md needs rows for {missing:?}");
}
