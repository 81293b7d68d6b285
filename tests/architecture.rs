//! The rules of the code, as tests: allowed imports, access to the outside, and the form of files, names and comments.
//!
//! Reads `src/` as text. The rules are tables in `rules`; `docs` compares the documentation with the code; `pages` runs its commands.

mod circles;
mod commands;
mod dialect;
mod docs;
mod environment;
mod examples;
mod functions;
mod homonyms;
mod identifiers;
mod imports;
mod language;
mod name;
pub mod pages;
mod rules;
#[cfg(unix)]
mod scripts;
mod secrets;
mod skips;
mod summaries;
mod text_errors;
mod unused;
mod words;
pub mod workflows;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Every Rust file below, as (path with `/`, text), sorted.
fn source_files(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // What another program wrote.
                if !path.ends_with("generated") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                let below = path.strip_prefix(root).unwrap().components().map(|c| c.as_os_str().to_str().unwrap());
                files.push((below.collect::<Vec<_>>().join("/"), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_source_keeps_the_rules() {
    let complaints = rules::complaints(&here("src"));
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Events of all other crates are reduced in the log, as those of libraries are.
#[test]
fn the_log_knows_the_crates_of_the_program() {
    let areas = rules::AREAS.iter().map(|(_, part)| part.path);
    let manifest = |area: &str| std::fs::read_to_string(here("src").join(area).join("Cargo.toml")).unwrap();
    let package = |area: &str| manifest(area).split('"').nth(1).unwrap().replace('-', "_");
    // The macro runs in the compiler, the acceptance tests in another program.
    let mut crates: Vec<String> = areas
        .filter(|area| !["derive", "acceptance"].contains(area))
        .map(package)
        .chain(["terrane".to_owned()])
        .collect();
    crates.sort();
    assert_eq!(crates, base::log::OWN_CRATES);
}

/// A kind of error has one summary, in one place.
#[test]
fn every_summary_is_written_once() {
    let repeated = summaries::repeated(&source_files(&here("src")));
    assert!(repeated.is_empty(), "give these a constant where all who need it may see it:\n{}", repeated.join("\n"));
}

#[test]
fn nothing_is_decided_by_the_text_of_a_diagnostic() {
    let found = summaries::decisions(&source_files(&here("src")));
    assert!(found.is_empty(), "give the diagnostic a kind:\n{}", found.join("\n"));
    let file = |text: &str| [("a.rs".to_string(), text.to_string())];
    for text in ["if d.summary == X {", "d.detail.contains(\"x\")"] {
        assert_eq!(summaries::decisions(&file(text)).len(), 1, "{text}");
    }
}

/// Texts say `{PROGRAM}` and `{COMMAND}`, so that they are right under every name.
#[test]
fn texts_take_the_name_of_the_program_from_one_place() {
    let places = name::spelled_out(&source_files(&here("src")));
    assert!(places.is_empty(), "use PROGRAM or COMMAND of base::name:\n{}", places.join("\n"));
    let found = |line: &str| !name::spelled_out(&[("a.rs".to_string(), line.to_string())]).is_empty();
    for text in
        [r#"f("Terrane will");"#, r#"f("x\nTerrane is");"#, r#"f("run \"terrane init\"")"#, "    Terrane can \\"]
    {
        assert!(found(text), "{text}");
    }
    for text in ["    Terrane,", "// Terrane is", r#"Name::Terrane => "#, r#"join("terrane").join"#] {
        assert!(!found(text), "{text}");
    }
}

/// What differs between the programs is named, in one file of each area, and takes the dialect as a value.
#[test]
fn the_dialect_is_asked_for_in_few_files() {
    let files = source_files(&here("src"));
    let questions = dialect::questions(&files);
    let elsewhere: Vec<String> = questions
        .iter()
        .filter(|(path, _)| !dialect::may_ask(path))
        .map(|(path, line)| format!("{path}:{line}"))
        .collect();
    assert!(elsewhere.is_empty(), "make these a named rule in the opentofu.rs of the area:\n{}", elsewhere.join("\n"));
    let asking: BTreeSet<&str> = questions.iter().map(|(path, _)| *path).collect();
    assert!(asking.len() <= dialect::MOST_FILES, "{} files ask for the dialect: {asking:?}", asking.len());
    for (file, _) in dialect::EXCEPTIONS {
        assert!(asking.contains(file), "{file} needs no exception");
    }
    let rules = files.iter().filter(|(path, _)| path.ends_with("/opentofu.rs"));
    let without_test: Vec<&str> = rules
        .filter(|(_, text)| !text.contains("#[test]") && !text.contains("#[tokio::test]"))
        .map(|(path, _)| &**path)
        .collect();
    assert!(without_test.is_empty(), "test these rules in all dialects: {without_test:?}");
}

#[test]
fn a_question_for_the_dialect_is_found() {
    let file = |text: &str| [("a/b.rs".to_string(), text.to_string())];
    for text in [
        "if x.dialect().is_opentofu() {",
        "if tofu_at_least(dialect, 13) {",
        "    Dialect::Terraform => 1,",
        "let d = Dialect::of_process();",
    ] {
        assert_eq!(dialect::questions(&file(text)), [("a/b.rs", 1)], "{text}");
    }
    for text in [
        "// as d.is_opentofu()",
        "f(x.dialect())",
        "d.language().program()",
        "use a;\n#[cfg(test)]\nmod t {\n    Dialect::OpenTofu\n}",
    ] {
        assert!(dialect::questions(&file(text)).is_empty(), "{text}");
    }
    assert!(dialect::may_ask("engine/opentofu.rs") && !dialect::may_ask("engine/run.rs"));
}

#[test]
fn a_repeated_summary_is_found() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let found = summaries::repeated(&[
        file("a.rs", "fn f() {\n    Diagnostic::error(\n        \"One \\\"two\\\"\", detail)\n}"),
        file("b.rs", "fn g() { diags.warning(format!(\"One \\\"two\\\"\"), d) }"),
        file("tests.rs", "fn g() { diags.warning(\"Alone\", d); diags.warning(\"Alone\", d) }"),
        file("c.rs", "const X: &str = \"Named\"; fn h() { Diagnostic::error(X, d) }"),
    ]);
    assert_eq!(found, ["\"One \\\\\\\"two\\\\\\\"\" stands at a.rs:2, b.rs:1"]);
}

/// Each folder of fixtures is a small source tree; `expected.txt` beside it lists what is wrong with it.
#[test]
fn each_rule_can_be_broken() {
    let mut seen = 0;
    for entry in std::fs::read_dir(here("tests/fixtures/architecture")).unwrap() {
        let folder = entry.unwrap().path();
        let expected = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
        let complaints = rules::complaints(&folder.join("src")).join("\n");
        assert_eq!(complaints, expected.trim_end(), "in {}", folder.display());
        seen += 1;
    }
    assert!(seen >= 35, "only {seen} fixtures found");
}

/// What is above in an area's list of modules never needs what is below, so that each part can be read for itself.
#[test]
fn parts_of_an_area_do_not_import_each_other_in_circles() {
    for area in circles::AREAS {
        let found = circles::circles(&here("src"), area);
        assert!(found.is_empty(), "circles in {area}: {found:?}");
    }
}

#[test]
fn no_circle_of_files_is_large() {
    let mut large: Vec<(&str, usize)> = Vec::new();
    let mut shown = String::new();
    for (_, part) in rules::AREAS {
        let circles = circles::circles_of_files(&here("src"), part.path);
        for circle in circles.iter().filter(|circle| circle.len() > circles::MOST_FILES) {
            large.push((part.path, circle.len()));
            shown += &format!("{}: {}\n", part.path, circle.join(" "));
        }
    }
    assert_eq!(large, circles::KNOWN, "break new circles; take those that are gone from the list:\n{shown}");
}

/// Readers find a type by its name.
#[test]
fn types_of_a_crate_have_different_names() {
    let files = source_files(&here("src"));
    let of_area = |(_, part): &(u8, rules::Part)| {
        let below = format!("{}/", part.path);
        let own = files.iter().filter(|(path, _)| path.starts_with(&below) && !is_test(path));
        let mut names = homonyms::homonyms(own);
        names.retain(|name| !homonyms::is_excepted(part.path, name));
        (part.path, names)
    };
    let found: Vec<_> = rules::AREAS.iter().map(of_area).filter(|(_, names)| !names.is_empty()).collect();
    let known: Vec<_> =
        homonyms::KNOWN.iter().map(|(area, names)| (*area, names.iter().map(ToString::to_string).collect())).collect();
    assert_eq!(found, known, "rename new ones; take those that are gone from the list");
    let file = |text: &str| (String::new(), text.to_string());
    let two = [
        file("struct A; mod b { enum B {} } fn f() { struct C; }"),
        file("type B = u8; trait C {} #[cfg(test)] mod t { trait A {} }"),
    ];
    assert_eq!(homonyms::homonyms(two.iter()), ["B"]);
}

/// An error at the border of an area is a type that callers can look into.
#[test]
fn errors_are_types() {
    let files = source_files(&here("src")).into_iter().filter(|(path, _)| !is_test(path));
    let mut by_area = std::collections::BTreeMap::<String, usize>::new();
    for (path, text) in files {
        let area = path.split('/').next().unwrap_or_default();
        *by_area.entry(area.to_string()).or_default() += text_errors::functions(&text).len();
    }
    let all: usize = by_area.values().sum();
    assert!(all <= text_errors::MOST, "{all} functions return a text as their error: {by_area:?}");
    assert!(all + text_errors::SLACK > text_errors::MOST, "lower the limit to {all}: {by_area:?}");
    let text = "fn a() -> Result<u8, String> {} trait T { async fn b() -> Option<io::Result<(), String>>; } fn c() -> Result<String, E> {}
        #[cfg(test)] mod tests { fn d() -> Result<u8, String> {} }";
    assert_eq!(text_errors::functions(text), ["a", "b"]);
}

#[test]
fn public_functions_are_used() {
    let found = unused::functions(&source_files(&here("src")), &source_files(&here("tests")));
    assert!(found.is_empty(), "remove what nothing uses:\n{}", found.join("\n"));
    let file = |path: &str, text: &str| (path.to_string(), text.to_string());
    let source = [
        file("a/lib.rs", "pub async fn one() {}\n// two()\npub(crate) fn two() {}\npub fn three() {}\nfn four() {}"),
        file("sdk/lib.rs", "pub fn five() {}"),
    ];
    let found = unused::functions(&source, &[file("t.rs", "three();")]);
    assert_eq!(found, ["a/lib.rs: one", "a/lib.rs: two"]);
}

#[test]
fn a_circle_is_found() {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a/mod.rs", "use super::b::X;"),
        ("b.rs", "fn f() { crate::c::g() }"),
        ("c.rs", "use crate::{a::Y, d};"),
        ("d.rs", "#[cfg(test)] mod tests { use crate::a::Z; }"),
    ] {
        let path = dir.path().join("area").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(circles::circles(dir.path(), "area"), [["a", "b", "c"]]);
    assert_eq!(circles::circles_of_files(dir.path(), "area"), [["a", "b", "c"]]);
}

#[test]
fn secrets_have_no_debug_form() {
    let of = |(path, text): (String, String)| {
        secrets::complaints(&text).into_iter().map(move |complaint| format!("{path}: {complaint}"))
    };
    let found: Vec<String> = source_files(&here("src")).into_iter().flat_map(of).collect();
    assert!(found.is_empty(), "use base::secret::Secret, or leave out Debug:\n{}", found.join("\n"));
    let named = "#[derive(Clone, Debug)] struct A { api_token: Option<String>, hidden: Secret, secret: Secret }";
    assert_eq!(secrets::complaints(named), ["A.api_token would be shown by A's Debug"]);
}

#[test]
fn functions_ask_little_of_their_callers() {
    let of = |(path, text): (String, String)| {
        functions::complaints(&text).into_iter().map(move |complaint| format!("{path}: {complaint}"))
    };
    let found: Vec<String> = source_files(&here("src")).into_iter().flat_map(of).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let wide = "trait T { fn a(&self, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8); fn h(i: bool, j: bool); }";
    assert_eq!(functions::complaints(wide), ["h: 2 parameters, 2 of them booleans"]);
    let wider = wide.replace("&self", "z: u8");
    assert_eq!(functions::complaints(&wider).len(), 2);
}

/// Examples run as documentation tests, so that they compile with the library as it is.
#[test]
fn public_items_of_the_library_have_examples() {
    let missing = ["src/sdk", "src/acceptance"].map(|folder| examples::items_without_example(&here(folder))).concat();
    let excepted = |name: &String| examples::EXCEPTIONS.iter().any(|(item, _)| item == name);
    let (excepted, missing): (Vec<String>, Vec<String>) = missing.into_iter().partition(excepted);
    assert!(missing.is_empty(), "add an example to the documentation of these:\n{}", missing.join("\n"));
    assert_eq!(excepted.len(), examples::EXCEPTIONS.len(), "only these need an exception: {excepted:?}");
}

#[test]
fn a_missing_example_is_found() {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("lib.rs", "#[doc(hidden)] pub mod h; mod a; pub mod b; mod c; pub use a::{One, Two}; pub use x::y::{Y as Z};"),
        ("a.rs", "pub struct One; pub trait Two { fn two(&self); } pub struct Private;"),
        ("b/mod.rs", "mod d; pub use d::exported; pub const MOST: u8 = 1; pub(super) fn internal() {}"),
        ("b/d.rs", "/// ```\n/// x();\n/// ```\npub fn exported() {} pub fn private() {}"),
        (
            "c.rs",
            "impl One { pub fn new() {} fn a() {} /** ```text\n``` */ pub fn b() {} } impl Private { pub fn c() {} }",
        ),
    ] {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let expected = ["One", "One::b", "One::new", "Two", "Two::two", "Z", "b::MOST"];
    assert_eq!(examples::items_without_example(dir.path()), expected);
}

#[test]
fn names_explain_what_they_name() {
    let of = |(path, text): (String, String)| {
        identifiers::complaints(&text).into_iter().map(move |complaint| format!("{path}: {complaint}"))
    };
    let files = source_files(&here("src")).into_iter();
    let found: Vec<String> = files.filter(|(path, _)| !is_test(path)).flat_map(of).collect();
    assert!(found.is_empty(), "types are nouns, functions verbs with objects:\n{}", found.join("\n"));
    let text = "struct Said; enum E { Found } impl E { fn settle() {} } mod tests { struct Shown; }";
    assert_eq!(identifiers::complaints(text), ["type Said", "type Found", "fn settle"]);
}

/// The code of a file before its tests. A file of tests may be declared anywhere; the code behind such a line counts.
fn before_tests(text: &str) -> &str {
    let is_module = |at: usize| {
        let mut lines = text[at..].trim_start().lines();
        lines.next().is_some_and(|line| line.contains("test"))
            && lines.next().is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    text.match_indices("\n#[cfg(").find(|(at, _)| is_module(*at)).map_or(text, |(at, _)| &text[..at])
}

#[test]
fn code_behind_the_name_of_a_test_file_counts() {
    for (text, expected) in [
        ("a\n#[cfg(test)]\nmod tests;\nb", "a\n#[cfg(test)]\nmod tests;\nb"),
        ("a\n#[cfg(unix)]\nmod b {\n}\n#[cfg(test)]\nmod tests {\nc", "a\n#[cfg(unix)]\nmod b {\n}"),
        ("a\n#[cfg(all(test, unix))]\nmod tests {\nc", "a"),
    ] {
        assert_eq!(before_tests(text), expected);
    }
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// Most functions fit on a screen; no function is longer than two.
#[test]
fn functions_are_short() {
    let files = source_files(&here("src")).into_iter().filter(|(path, _)| !is_test(path));
    let of = |(path, text): (String, String)| {
        functions::lengths(&text).into_iter().map(move |(name, length)| (length, format!("{path}: {name}")))
    };
    let mut all: Vec<(usize, String)> = files.flat_map(of).collect();
    all.sort();
    assert!(all.len() > 6000, "only {} functions were found", all.len());
    let (p95, _) = all[all.len() * 95 / 100];
    assert!(p95 < 50, "one in twenty functions has {p95} lines or more");
    let long: Vec<_> = all.iter().filter(|(length, _)| *length > 80).collect();
    assert!(long.is_empty(), "longer than 80 lines: {long:?}");
    let text = "fn a() {}\npub(super) async fn b(\n    c: u8,\n) {\n    // why\n\n    d();\n}\ntrait T {\n    fn e(\n    );\n}\n";
    assert_eq!(functions::lengths(text), [("a".into(), 1), ("b".into(), 5), ("e".into(), 2)]);
}

/// A folder's `lib.rs` or `mod.rs` is where a newcomer looks first.
#[test]
fn every_folder_states_what_it_does_not_depend_on() {
    let folders = source_files(&here("src"))
        .into_iter()
        .filter(|(path, _)| path.ends_with("/mod.rs") || path.ends_with("/lib.rs"));
    let silent = folders.filter(|(path, text)| {
        let intro: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let says = ["never", "Never", "no ", "none ", "nothing", "not told"].iter().any(|word| intro.contains(word));
        !says && !path.contains("/tests/")
    });
    let silent: Vec<_> = silent.map(|(path, _)| path).collect();
    assert!(silent.is_empty(), "say what these never know or do: {silent:?}");
}

#[test]
fn rows_and_exceptions_name_what_exists() {
    for path in rules::PARTS.iter().map(|part| part.path.replace("::", "/")) {
        assert!(here(&format!("src/{path}")).is_dir() || here(&format!("src/{path}.rs")).is_file(), "no src/{path}");
    }
    let files = rules::ONLY_IN.iter().flat_map(|rule| rule.files).chain(rules::LONG_FILES.iter().map(|(path, _)| path));
    for path in files {
        assert!(here(&format!("src/{path}")).is_file(), "no src/{path}");
    }
    let order: Vec<_> = rules::AREAS.iter().map(|(layer, _)| *layer).collect();
    assert!(order.is_sorted(), "areas from the bottom up");
}

/// What a row allows lies in a lower layer, so that no table can grow a way up.
#[test]
fn rows_only_point_down() {
    let layer = |path: &str| {
        let area = path.split("::").next().unwrap();
        rules::AREAS.iter().find(|(_, part)| part.path == area).unwrap_or_else(|| panic!("no area {area}")).0
    };
    for (own, part) in rules::AREAS {
        for target in part.may {
            assert!(layer(target) < *own, "{} may import {target}, which is not below it", part.path);
        }
    }
    for part in rules::PARTS {
        assert!(part.may.iter().all(|target| layer(target) <= layer(part.path)), "{} points up", part.path);
    }
}
