//! Files with one error each: the diagnostics are the reference's, in text and place.
//!
//! `broken.jsonl` holds them; `broken.py` records it from the reference.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::support::{Project, program};

const RECORDED: &str = include_str!("broken.jsonl");

#[test]
fn errors_have_the_texts_of_the_reference() {
    let lines: Vec<Json> = RECORDED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let files: HashMap<&str, &str> =
        lines.iter().filter_map(|l| Some((l["file"].as_str()?, l["text"].as_str()?))).collect();
    let cases: Vec<&Json> = lines.iter().filter(|l| l["text"].is_null()).collect();
    assert!(cases.len() > 450);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let files = &files;
        let check = |cases| scope.spawn(move || differences(cases, files));
        let running: Vec<_> = cases.chunks(cases.len().div_ceil(4)).map(check).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn differences(cases: &[&Json], files: &HashMap<&str, &str>) -> Vec<String> {
    let project = Project::new("");
    let mut wrong = Vec::new();
    for case in cases {
        let (old, new) = (case["old"].as_str().unwrap(), case["new"].as_str().unwrap());
        project.write("work/main.tf", &files[case["file"].as_str().unwrap()].replacen(old, new, 1));
        let outcome = project.finish(project.command(program(), &["validate", "-json"]));
        let said: Json = serde_json::from_str(&outcome.out).unwrap_or_default();
        let mut said: Vec<Json> = said["diagnostics"].as_array().into_iter().flatten().map(brief).collect();
        let mut expected = case["diagnostics"].as_array().unwrap().clone();
        expected.iter_mut().for_each(rename);
        for list in [&mut said, &mut expected] {
            list.sort_by_key(Json::to_string);
        }
        if said != expected {
            wrong.push(format!("{old:?} -> {new:?}\n  expected {expected:?}\n  said     {said:?}"));
        }
    }
    wrong
}

/// Severity, summary, detail, and line, column and byte of start and end.
fn brief(diagnostic: &Json) -> Json {
    let range = diagnostic.get("range").map(|range| {
        let of = |end: &str| ["line", "column", "byte"].map(|unit| range[end][unit].clone());
        [of("start"), of("end")].concat()
    });
    json!([diagnostic["severity"], diagnostic["summary"], diagnostic["detail"], range])
}

/// The reference's texts with our name for the program.
fn rename(diagnostic: &mut Json) {
    for text in diagnostic.as_array_mut().unwrap().iter_mut().filter(|part| part.is_string()) {
        let renamed =
            text.as_str().unwrap().replace("Terraform", "Terrane").replace("\"terraform init\"", "\"terrane init\"");
        // The language's own past keeps its name.
        *text = renamed.replace("Terrane 0.11", "Terraform 0.11").into();
    }
}
