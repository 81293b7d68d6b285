//! The YAML of the pages: it decodes, its jobs refer to jobs and outputs that exist, and its commands and flags are those of the program.
//! `tests/commands/guides.rs` runs the steps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;

use super::pages::{all_pages, blocks, read, unknown_parts};
use crate::support::Project;

/// Keys whose values are commands.
const COMMANDS: [&str; 5] = ["run", "script", "before_script", "after_script", "entry"];

/// What the language's own function makes of YAML.
pub fn decoded(yaml: &str) -> Result<Json, String> {
    let place = Project::new("");
    place.write("work/block.yml", yaml);
    let expression = place.write("expression", "base64encode(jsonencode(yamldecode(file(\"block.yml\"))))\n");
    let mut command = place.command(crate::support::program(), &["console"]);
    command.stdin(std::fs::File::open(expression).unwrap());
    let outcome = place.finish(command);
    let text = STANDARD.decode(outcome.out.trim().trim_matches('"')).map_err(|_| outcome.err)?;
    serde_json::from_slice(&text).map_err(|e| e.to_string())
}

/// The lines of all commands in a document.
fn commands(document: &Json) -> Vec<String> {
    let lines = |text: &Json| text.as_str().into_iter().flat_map(str::lines).map(str::to_owned).collect::<Vec<_>>();
    match document {
        Json::Object(members) => {
            let of = |(key, value): (&String, &Json)| match value {
                Json::String(_) if COMMANDS.contains(&&**key) => lines(value),
                Json::Array(values) if COMMANDS.contains(&&**key) => values.iter().flat_map(lines).collect(),
                other => commands(other),
            };
            members.iter().flat_map(of).collect()
        }
        Json::Array(elements) => elements.iter().flat_map(commands).collect(),
        _ => Vec::new(),
    }
}

/// The command lines of the program in a line of a shell: `terrane init` and `terrane validate` in `sh -c 'terrane init && terrane validate'`.
fn of_the_program(line: &str) -> Vec<&str> {
    let is_start = |at: usize| line[..at].ends_with([' ', '\'', '"']) || at == 0;
    let starts = line.match_indices("terrane ").map(|(at, _)| at).filter(|at| is_start(*at));
    starts.map(|at| line[at..].split(['\'', '"']).next().unwrap_or_default()).collect()
}

/// Jobs and outputs that a workflow refers to and does not have.
fn dangling(document: &Json) -> Vec<String> {
    let Some(jobs) = document["jobs"].as_object() else { return Vec::new() };
    let mut wrong = Vec::new();
    for (name, job) in jobs {
        let needs = job["needs"].as_str();
        wrong.extend(needs.filter(|needed| !jobs.contains_key(*needed)).map(|needed| format!("{name} needs {needed}")));
        for reference in job["if"].as_str().unwrap_or_default().split_whitespace().filter(|w| w.starts_with("needs.")) {
            let parts: Vec<&str> = reference.split('.').collect();
            let [_, other, "outputs", output] = parts[..] else { panic!("{reference}") };
            if Some(other) != needs || jobs[other]["outputs"][output].is_null() {
                wrong.push(format!("{name}: {reference}"));
            }
        }
    }
    wrong
}

#[test]
fn yaml_of_the_pages_is_right() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in all_pages() {
        for block in blocks(&read(&page)).into_iter().filter(|block| block.is("yaml")) {
            let place = format!("{}:{}", page.display(), block.line);
            let document = match decoded(&(block.lines.join("\n") + "\n")) {
                Ok(document) => document,
                Err(why) => {
                    wrong.push(format!("{place}: {why}"));
                    continue;
                }
            };
            wrong.extend(dangling(&document).into_iter().map(|what| format!("{place}: {what}")));
            let lines = commands(&document);
            let of_the_program: Vec<&str> = lines.iter().flat_map(|line| of_the_program(line)).collect();
            seen += of_the_program.len();
            wrong.extend(unknown_parts(&of_the_program).into_iter().map(|what| format!("{place}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 20, "only {seen} commands");
}

#[test]
fn wrong_workflows_are_found() {
    let document = serde_json::json!({ "jobs": {
        "a": { "steps": [{ "run": "x=1\nterrane plans" }, { "run": "exec terrane apply p" }] },
        "b": { "needs": "c", "if": "x && needs.a.outputs.code == '2'", "script": ["sh -c 'terrane init > y && terrane validate'"] },
    } });
    assert_eq!(dangling(&document), ["b needs c", "b: needs.a.outputs.code"]);
    let lines = commands(&document);
    let found: Vec<&str> = lines.iter().flat_map(|line| of_the_program(line)).collect();
    assert_eq!(found, ["terrane plans", "terrane apply p", "terrane init > y && terrane validate", "terrane validate"]);
    assert_eq!(unknown_parts(&found), ["plans: terrane plans"]);
    assert!(decoded("a: [").is_err());
}
