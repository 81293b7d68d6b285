//! The workflow and the pipeline of `docs/testing.md` test the module of the page: every step is run by the shell, in order, as on a service.
//! The commands of the page itself are run by `tests/architecture/pages.rs`.

use std::path::{Path, PathBuf};

use regex_automata::meta::Regex;
use serde_json::Value as Json;

use crate::architecture::pages::{blocks, read};
use crate::architecture::workflows::decoded;
use crate::support::{Project, program};

const PAGE: &str = "docs/testing.md";

/// The page removes this file: it keeps its objects.
const REMOVED: &str = "tests/keep.tftest.hcl";

/// The module with its tests and snapshots, as a repository has them.
fn checked_out() -> Project {
    let mut project = Project::new("");
    project.any_release();
    for block in blocks(&read(Path::new(PAGE))) {
        if let Some(file) = block.file().filter(|file| *file != REMOVED) {
            project.write(&format!("work/{file}"), &(block.lines.join("\n") + "\n"));
        }
    }
    project.ok(&["init"]);
    project.ok(&["test", "-update-snapshots"]);
    std::fs::create_dir_all(project.path("bin")).unwrap();
    std::os::unix::fs::symlink(program(), project.path("bin/terrane")).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([project.path("bin")].into_iter().chain(std::env::split_paths(&path))).unwrap();
    project.set("PATH", PathBuf::from(path));
    project.set("CI", "true");
    project
}

/// Runs commands and insists that they end well. Returns their output.
fn run(project: &Project, commands: &str) -> String {
    let script = project.write("script", commands);
    let outcome = project.finish(project.command(Path::new("bash"), &["-e", script.to_str().unwrap()]));
    assert_eq!(outcome.code, Some(0), "{commands}\n{}{}", outcome.out, outcome.err);
    outcome.out
}

fn texts(list: &Json) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn workflow_of_the_page_about_tests_runs() {
    let mut project = checked_out();
    project.set("GITHUB_STEP_SUMMARY", project.path("summary.md"));
    let workflow = decoded(&project.read("work/.github/workflows/test.yml")).unwrap();
    let steps = workflow["jobs"]["test"]["steps"].as_array().unwrap();
    let commands: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    commands.iter().for_each(|command| drop(run(&project, command)));
    assert!(project.read("summary.md").starts_with("### Success! "), "{}", project.read("summary.md"));
    let uploaded = steps.iter().find_map(|step| step["with"]["path"].as_str()).unwrap();
    let reports: Vec<String> = uploaded.lines().map(|file| project.read(&format!("work/{file}"))).collect();
    assert!(reports[0].contains("<testcase name=\"plans_ports\""), "{}", reports[0]);
    assert!(reports[1].contains("SF:main.tf\n"), "{}", reports[1]);
}

#[test]
fn pipeline_of_the_page_about_tests_runs() {
    let project = checked_out();
    let pipeline = decoded(&project.read("work/.gitlab-ci.yml")).unwrap();
    let job = &pipeline["test"];
    let out = run(&project, &texts(&job["script"]).join("\n"));
    run(&project, &texts(&job["after_script"]).join("\n"));
    let pattern = job["coverage"].as_str().unwrap().trim_matches('/');
    let pattern = Regex::new(&format!("(?m){pattern}")).unwrap();
    let mut found = pattern.create_captures();
    pattern.captures(&out, &mut found);
    assert_eq!(found.get_group(1).map(|group| &out[group.range()]), Some("100.0"), "{out}");
    let reports = &job["artifacts"]["reports"];
    let file = |name: &Json| project.read(&format!("work/{}", name.as_str().unwrap()));
    assert!(file(&reports["junit"]).contains("<testcase name=\"plans_ports\""));
    assert!(file(&reports["coverage_report"]["path"]).contains("filename=\"main.tf\""));
}
