//! The language reference: its page of functions is made from the table and `docs/functions_examples.txt`, and all its examples hold.
//! `TERRANE_TEST_RECORD=1` writes the page again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Stdio;

use lang::functions::{Builtin, Function, Param, all};
use serde_json::Value as Json;

use super::here;
use super::pages::{all_pages, blocks};
use crate::support::{Outcome, Project};

const EXAMPLES: &str = include_str!("../../docs/functions_examples.txt");
const PAGE: &str = "docs/language/functions.md";

/// A paragraph of the examples: a function.
struct Entry<'t> {
    /// The name of a function of the table, or the signature of another one.
    head: &'t str,
    purpose: &'t str,
    examples: Vec<&'t str>,
    notes: Vec<&'t str>,
}

/// The topics in order, each with its functions. What is before the first topic is about the file itself.
fn topics(text: &str) -> Vec<(&str, Vec<Entry<'_>>)> {
    let mut topics: Vec<(&str, Vec<Entry>)> = Vec::new();
    for paragraph in text.trim().split("\n\n") {
        if let Some(title) = paragraph.strip_prefix("# ") {
            topics.push((title, Vec::new()));
        } else if let Some((_, entries)) = topics.last_mut() {
            let mut lines = paragraph.lines();
            let (head, purpose) = (lines.next().unwrap(), lines.next().unwrap_or_else(|| panic!("{paragraph}")));
            let (notes, examples) = lines.partition(|line| line.starts_with("- "));
            entries.push(Entry { head, purpose, examples, notes });
        }
    }
    topics
}

fn type_text(ty: &Json) -> String {
    match ty {
        Json::String(name) if name == "dynamic" => "any".into(),
        Json::String(name) => name.clone(),
        Json::Array(parts) => format!("{}({})", parts[0].as_str().unwrap(), type_text(&parts[1])),
        other => panic!("{other}"),
    }
}

fn signature(function: &Builtin) -> String {
    let signature = function.signature();
    let shown = |p: &Param, dots: &str| {
        format!("{}{dots}: {}{}", p.name, type_text(&p.ty.to_json()), if p.allow_null { "?" } else { "" })
    };
    let plain = signature.params.iter().map(|p| shown(p, ""));
    let variadic = signature.variadic.iter().map(|p| shown(p, "..."));
    let all: Vec<String> = plain.chain(variadic).collect();
    format!("{}({}) -> {}", signature.name, all.join(", "), type_text(&function.documented_type().to_json()))
}

fn anchor(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || "_-".contains(*c)).collect()
}

/// The page: `intro` (all before `## By topic`, which is written by hand), the topics, the functions.
fn page(intro: &str) -> String {
    let table: BTreeMap<String, String> = all().map(|f| (f.signature().name.to_string(), signature(f))).collect();
    let topics = topics(EXAMPLES);
    let name = |entry: &Entry| entry.head.split('(').next().unwrap().to_owned();
    let mut out = format!("{intro}## By topic\n\n");
    for (title, entries) in &topics {
        let link = |entry: &Entry| {
            let name = name(entry);
            format!("[`{}`](#{})", name.rsplit("::").next().unwrap(), anchor(&name))
        };
        let _ = writeln!(out, "- **{title}**: {}", entries.iter().map(link).collect::<Vec<_>>().join(", "));
    }
    for (title, entries) in &topics {
        let _ = write!(out, "\n## {title}\n");
        for entry in entries {
            let signature = table.get(entry.head).map_or(entry.head, String::as_str);
            let _ = write!(out, "\n### {}\n\n`{signature}`\n\n{}\n", name(entry), entry.purpose);
            if !entry.examples.is_empty() {
                let _ = write!(out, "\n```eval\n{}\n```\n", entry.examples.join("\n"));
            }
            if !entry.notes.is_empty() {
                let _ = write!(out, "\n{}\n", entry.notes.join("\n"));
            }
        }
    }
    out
}

#[test]
fn the_reference_of_functions_is_current() {
    let path = here(PAGE);
    let found = std::fs::read_to_string(&path).unwrap();
    let (intro, _) = found.split_once("## By topic\n").expect("the page has its heading");
    let expected = page(intro);
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(
            found == expected,
            "{PAGE} is not current: TERRANE_TEST_RECORD=1 cargo test --test tests functions_is_current"
        );
    }
}

#[test]
fn every_function_has_a_purpose_and_an_example() {
    let mut table: Vec<String> = all().map(|f| f.signature().name.to_string()).collect();
    let entries = topics(EXAMPLES).into_iter().flat_map(|(_, entries)| entries).collect::<Vec<_>>();
    let mut written: Vec<String> =
        entries.iter().map(|e| e.head.to_owned()).filter(|head| !head.contains('(')).collect();
    table.sort();
    written.sort();
    assert_eq!(table, written);
    let poor = entries
        .iter()
        .filter(|e| e.examples.is_empty() || !e.purpose.ends_with('.'))
        .map(|e| e.head)
        .collect::<Vec<_>>();
    assert!(poor.is_empty(), "{poor:?}");
}

/// What examples are evaluated in; the header of `docs/functions_examples.txt` describes it.
fn place() -> Project {
    let required = ["local", "terraform", "time"]
        .map(|n| format!("    {n} = {{ source = \"terraform.io/builtin/{n}\" }}\n"))
        .concat();
    let place = Project::new(&format!(
        "terraform {{\n  required_providers {{\n{required}  }}\n}}\nlocals {{\n  greeting = \"Hello, $${{name}}!\"\n}}\n\
         variable \"token\" {{\n  type      = string\n  default   = \"secret\"\n  ephemeral = true\n}}\n"
    ));
    let files = [
        ("notes.txt", "first line\nsecond line\n"),
        ("hello.tftpl", "Hello, ${name}!\n"),
        ("hosts.tftpl", "%{ for ip in ips ~}\nserver ${ip}\n%{ endfor ~}\n"),
        ("conf/a.json", "{\"size\": 3}\n"),
        ("conf/b.json", "{}\n"),
        ("conf/sub/c.json", "{}\n"),
    ];
    files.iter().for_each(|(name, text)| drop(place.write(&format!("work/{name}"), text)));
    place
}

/// What the console prints. `-lock=false`: no file beside the others, which `fileset` would find.
fn console(place: &Project, expression: &str) -> Outcome {
    let mut command = place.command(crate::support::program(), &["console", "-lock=false"]);
    let input = place.write("input", &format!("{expression}\n"));
    command.stdin(Stdio::from(std::fs::File::open(input).unwrap()));
    place.finish(command)
}

fn words(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Digits and letters are not compared.
fn shape(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "./".contains(c) { 'x' } else { c }).collect()
}

/// Checks `EXPRESSION => RESULT`. Those whose result is an expression are evaluated in one go: two processes for two hundred.
fn check(place: &Project, examples: &[&str]) {
    let (mut together, mut wrong) = ((Vec::new(), Vec::new()), Vec::new());
    for example in examples {
        let (expression, result) = example.rsplit_once(" => ").unwrap_or_else(|| panic!("{example}"));
        if let Some(result) = result.strip_suffix(" # varies") {
            // The console does not have `plantimestamp`.
            let found = console(place, expression);
            if !expression.contains("plantimestamp") && shape(found.out.trim()) != shape(result) {
                wrong.push(format!("{example}: {}{}", found.out, found.err));
            }
        } else if let Some(error) = result.strip_prefix("error: ") {
            let found = console(place, expression);
            if found.code == Some(0) || !words(&format!("Error: {}", found.err)).contains(error) {
                // Summary and detail are separated by the location: compare them separately.
                let all = words(&found.err);
                if !error.splitn(2, ": ").all(|part| all.contains(part)) {
                    wrong.push(format!("{example}: {all}"));
                }
            }
        } else if result.contains(" value)") || expression.starts_with("type(") {
            let printed = words(&console(place, expression).out);
            if printed.replace([',', ' '], "") != result.replace([',', ' '], "") {
                wrong.push(format!("{example}: {printed}"));
            }
        } else {
            together.0.push(expression);
            together.1.push(result);
        }
    }
    let tuple = |parts: &[&str]| console(place, &format!("[{}]", parts.join(", ")));
    if tuple(&together.0).out != tuple(&together.1).out {
        for (expression, result) in together.0.iter().zip(&together.1) {
            let (found, expected) = (console(place, expression), console(place, result));
            if found.out != expected.out {
                wrong.push(format!("{expression} => {}{}", found.out, found.err));
            }
        }
        assert!(!wrong.is_empty(), "an expression has no value");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_of_functions_hold() {
    let topics = topics(EXAMPLES);
    check(
        &place(),
        &topics.iter().flat_map(|(_, entries)| entries).flat_map(|e| e.examples.clone()).collect::<Vec<_>>(),
    );
}

/// `eval` blocks of other pages have no configuration.
#[test]
fn examples_of_expressions_hold() {
    for page in all_pages().into_iter().filter(|page| !page.ends_with("language/functions.md")) {
        let text = std::fs::read_to_string(here(page.to_str().unwrap())).unwrap();
        let blocks = blocks(&text);
        let examples: Vec<&str> =
            blocks.iter().filter(|b| b.is("eval")).flat_map(|b| b.lines.iter().map(String::as_str)).collect();
        let place = Project::new("");
        std::fs::remove_file(place.path("work/main.tf")).unwrap();
        if !examples.is_empty() {
            check(&place, &examples);
        }
    }
}

/// `hcl` blocks of the reference are whole configurations, unless the line above calls them an excerpt. Those with a file name belong to
/// the commands of the page.
#[test]
fn examples_of_the_language_are_valid() {
    let mut wrong = Vec::new();
    for page in all_pages().into_iter().filter(|page| page.starts_with("docs/language")) {
        let text = std::fs::read_to_string(here(page.to_str().unwrap())).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for block in blocks(&text).into_iter().filter(|block| block.is("hcl") && block.info.len() == 1) {
            let above = lines[..block.line - 1].iter().rev().find(|line| !line.is_empty()).unwrap();
            if above.to_lowercase().contains("excerpt") {
                continue;
            }
            let mut place = Project::new(&(block.lines.join("\n") + "\n"));
            place.any_release();
            for arguments in [&["init", "-backend=false"][..], &["validate"]] {
                let outcome = place.run(arguments);
                if outcome.code != Some(0) || outcome.out.contains("Warning") {
                    wrong.push(format!("{}:{}: {}{}", page.display(), block.line, outcome.out, outcome.err));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
