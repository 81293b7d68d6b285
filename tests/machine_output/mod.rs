//! Documents and streams for programs are as `docs/schemas` describes them: those of the recorded transcripts, of runs under all names,
//! and of the reference. The schemas are open: new members are valid. Here, each member must be in its schema, so that none is forgotten.

mod checker;
mod documents;
mod fresh_runs;
mod rare_messages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use checker::{Content, Schemas};
use documents::{documents, schema_of};
use fresh_runs::{Written, written_by, written_by_reference};
use regex_automata::meta::Regex;
use serde_json::{Value, json};

use crate::support::reference;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What is wrong with documents, and what in them no schema names.
fn complaints(schemas: &Schemas, all: &[Written]) -> Vec<String> {
    let of = |written: &Written| {
        let Written { command, schema, document } = written;
        let report = schemas.check(schema, document);
        let unnamed = report.unnamed(document).into_iter().map(|at| format!("{at} is not in the schema"));
        let found = report.errors.into_iter().chain(unnamed);
        found.map(|why| format!("{command}: {schema}: {why}")).collect::<Vec<String>>()
    };
    all.iter().flat_map(of).collect()
}

fn assert_valid(all: &[Written]) {
    let complaints = complaints(&Schemas::load(), all);
    assert!(
        complaints.is_empty(),
        "{} in all:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(40)].join("\n")
    );
}

fn count(all: &[Written], schema: &str) -> usize {
    all.iter().filter(|written| written.schema == schema).count()
}

/// The documents in the transcripts of `tests/commands`, and in the streams of recorded runs on HCP Terraform.
fn recorded() -> Vec<Written> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(here("tests/commands")).unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("expected.txt")) else { continue };
        let case = entry.file_name().to_string_lossy().into_owned();
        for step in format!("\n{text}").split("\n$ ").skip(1) {
            let (line, output) = step.split_once('\n').unwrap_or((step, ""));
            let output = output.split("--- error output").next().unwrap_or_default();
            let output = output.split("--- exit code").next().unwrap_or_default();
            add(&mut all, &format!("{case}: {line}"), line, output);
        }
    }
    for file in ["plan", "apply"] {
        let text = std::fs::read_to_string(here(&format!("tests/backends/runs/{file}.jsonl"))).unwrap();
        let stream: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
        add(&mut all, &format!("recorded {file}"), &format!("{file} -json"), &stream.join("\n"));
    }
    all
}

fn add(all: &mut Vec<Written>, command: &str, line: &str, output: &str) {
    let is_variable = |word: &&str| word.contains('=') && !word.starts_with('-');
    let words: Vec<&str> = line.split_whitespace().skip_while(is_variable).collect();
    for document in documents(output).unwrap_or_default() {
        if let Some(schema) = schema_of(&words, &document) {
            all.push(Written { command: command.to_owned(), schema, document });
        }
    }
}

fn rare() -> Vec<Written> {
    let written = |document| Written { command: "made up".to_owned(), schema: "stream", document };
    rare_messages::messages().into_iter().map(written).collect()
}

/// The types that the schema of streams lists.
fn listed_types(schemas: &Schemas) -> BTreeSet<String> {
    let examples = schemas.get("stream").pointer("/properties/type/examples").unwrap();
    examples.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap().to_owned()).collect()
}

#[test]
fn schemas_use_known_keywords_and_are_open() {
    let schemas = Schemas::load();
    schemas.check_keywords();
    let page = std::fs::read_to_string(here("docs/schemas/README.md")).unwrap();
    for name in schemas.names() {
        let schema = schemas.get(name);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}");
        assert!(page.contains(&format!("({name}.json)")), "docs/schemas/README.md does not name {name}.json");
    }
}

#[test]
fn recorded_documents_are_valid() {
    let all = recorded();
    assert_valid(&all);
    let counts = ["stream", "validate", "plan", "state"].map(|schema| count(&all, schema));
    assert!(counts[0] > 150 && counts[1] > 10 && counts[2] > 1 && counts[3] > 1, "{counts:?}");
}

/// Plans of 52 and 63 objects of the AWS provider, recorded from Terrane under the compatible version 1.11.4. For both, Terraform 1.11.4
/// wrote the same document, but for the time and the order of `relevant_attributes`, and other programs read both in the same way.
#[test]
fn recorded_plans_of_the_aws_provider_are_valid() {
    let read = |name: &str| {
        let text = std::fs::read_to_string(here(&format!("tests/machine_output/aws_plans/{name}.json"))).unwrap();
        Written { command: format!("recorded {name}"), schema: "plan", document: serde_json::from_str(&text).unwrap() }
    };
    let all = ["create", "change"].map(read);
    assert_valid(&all);
    let changes = all.iter().flat_map(|written| written.document["resource_changes"].as_array().unwrap());
    let actions: BTreeSet<String> = changes.map(|change| change["change"]["actions"].to_string()).collect();
    assert!(actions.len() > 6 && actions.contains("[\"forget\"]"), "{actions:?}");
}

/// Runs under a name of the program, compatible with a release; empty: the newest.
fn check_runs(name: &str, release: &str) {
    let all = written_by(name, release);
    assert_valid(&all);
    assert!(count(&all, "stream") > 200, "{name} {release}: {}", all.len());
}

#[test]
fn documents_of_terrane_are_valid() {
    check_runs("terrane", "");
    check_runs("terrane", "1.11.4");
}

#[test]
fn documents_under_the_name_terraform_are_valid() {
    check_runs("terraform", "1.11.4");
    assert_valid(&NEWEST);
}

#[test]
fn documents_under_the_name_tofu_are_valid() {
    check_runs("tofu", "1.12.6");
    check_runs("tofu", "1.13.2");
}

/// What runs under the name `terraform` write, with all that its newest release has.
static NEWEST: LazyLock<Vec<Written>> = LazyLock::new(|| written_by("terraform", "1.17.2"));

#[test]
fn documents_of_the_reference_are_valid() {
    let Some(terraform) = reference() else { return };
    assert_valid(&written_by_reference(&terraform));
}

/// Each type that the schema lists is written, and each that is written is listed.
#[test]
fn schema_of_streams_lists_the_types_of_messages() {
    let schemas = Schemas::load();
    let rare = rare();
    assert_valid(&rare);
    let all = [recorded(), NEWEST.clone(), rare].concat();
    let types = all.iter().filter_map(|written| written.document.get("type")?.as_str()).map(str::to_owned);
    assert_eq!(types.collect::<BTreeSet<String>>(), listed_types(&schemas));
    // Types without members have no definition of their own.
    let is_defined = |kind: &String| schemas.get("stream").pointer(&format!("/$defs/message_{kind}")).is_some();
    let bare: Vec<String> = listed_types(&schemas).into_iter().filter(|kind| !is_defined(kind)).collect();
    let dispatched = schemas.get("stream")["allOf"].as_array().unwrap().len();
    assert_eq!(dispatched + bare.len(), listed_types(&schemas).len(), "{bare:?}");
}

/// A new type of message needs a place in the schema.
#[test]
fn types_in_the_source_are_in_the_schema() {
    let listed = listed_types(&Schemas::load());
    let new_message = Regex::new("Message::new\\(\\s*\"([a-z_]+)\"").unwrap();
    let mut types = BTreeSet::new();
    for entry in std::fs::read_dir(here("src/render/json")).unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        for captures in new_message.captures_iter(&text) {
            types.insert(text[captures.get_group(1).unwrap().range()].to_owned());
        }
    }
    assert!(types.len() > 15, "{types:?}");
    let unlisted: Vec<&String> = types.difference(&listed).collect();
    assert!(unlisted.is_empty(), "docs/schemas/stream.json does not list {unlisted:?}");
}

/// One valid document of each schema, and one message of each type.
fn samples() -> Vec<Written> {
    let mut of_kind: BTreeMap<String, Written> = BTreeMap::new();
    for written in NEWEST.iter().cloned().chain(rare()) {
        let kind = written.document.get("type").and_then(Value::as_str).filter(|_| written.schema == "stream");
        let kind = format!("{} {}", written.schema, kind.unwrap_or_default());
        let is_longer = |old: &Written| written.document.to_string().len() > old.document.to_string().len();
        // Long documents have more members.
        if of_kind.get(&kind).is_none_or(is_longer) {
            of_kind.insert(kind, written);
        }
    }
    of_kind.into_values().collect()
}

/// Places of a document to damage: at most this many, of all parts of it.
const MOST_PLACES: usize = 150;

#[test]
fn damaged_documents_are_refused() {
    let schemas = Schemas::load();
    let samples = samples();
    let documented: BTreeSet<&str> = samples.iter().map(|written| written.schema).collect();
    let parts = ["checks", "common", "diagnostic"];
    let expected: BTreeSet<&str> = schemas.names().filter(|name| !parts.contains(name)).collect();
    assert_eq!(documented, expected, "every schema has a document");
    for Written { command, schema, document } in &samples {
        let report = schemas.check(schema, document);
        assert!(report.errors.is_empty(), "{command}: {:?}", report.errors);
        let described = report.described.iter().filter(|(_, content)| **content != Content::Anything);
        let places: Vec<&String> = described.map(|(at, _)| at).collect();
        for at in places.iter().step_by(places.len() / MOST_PLACES + 1) {
            let is_refused = |damage: Value| {
                let mut damaged = document.clone();
                *damaged.pointer_mut(at).unwrap() = damage;
                !schemas.check(schema, &damaged).errors.is_empty()
            };
            assert!(is_refused(json!([[]])) || is_refused(json!(0.5)), "{command}: {schema}: {at} may be anything");
        }
        for name in required(&schemas, schema, document) {
            let mut damaged = document.clone();
            damaged.as_object_mut().unwrap().remove(&name);
            assert!(!schemas.check(schema, &damaged).errors.is_empty(), "{command}: {schema}: {name} is not needed");
        }
    }
}

/// The members that a document must have.
fn required(schemas: &Schemas, schema: &str, document: &Value) -> Vec<String> {
    let schema = schemas.get(schema);
    let kind = document.get("type").and_then(Value::as_str).unwrap_or_default();
    let of_message = schema.pointer(&format!("/$defs/message_{kind}/required"));
    let names = [schema.get("required"), of_message].into_iter().flatten().filter_map(Value::as_array).flatten();
    names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}
