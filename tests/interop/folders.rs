//! State goes both ways: what one program applied, the other finds nothing to change in, and both keep the same state.

use std::path::Path;

use serde_json::Value as Json;

use crate::support::{Project, program, reference};

/// Folders under `tests/fixtures/interop`, with the arguments of a second apply where there is one. A failing step is
/// part of some: it leaves a tainted and a deposed object.
pub const FOLDERS: &[(&str, &[&str])] = &[
    ("aliases", &[]),
    ("conditions", &[]),
    ("count", &["-var=n=1"]),
    ("create_before_destroy", &["-var=generation=2"]),
    ("data", &[]),
    ("dependencies", &[]),
    ("deposed", &["-var=generation=2"]),
    ("for_each", &[]),
    ("modules", &[]),
    ("orphan", &["-var=keep=[\"a\"]"]),
    ("provisioners", &[]),
    ("replace_triggered", &["-var=generation=2"]),
    ("sensitive", &[]),
    ("tainted", &[]),
    ("values", &[]),
];

#[test]
fn states_work_in_both_directions() {
    let Some(terraform) = reference() else { return };
    for (folder, second) in FOLDERS {
        let (ours, theirs) = (applied(folder, second, program()), applied(folder, second, &terraform));
        for (project, own, other) in [(&ours, program(), &*terraform), (&theirs, &*terraform, program())] {
            let plan = |program: &Path| {
                let arguments = [&["plan", "-no-color", "-input=false", "-detailed-exitcode"], *second].concat();
                project.finish(project.command(program, &arguments))
            };
            project.finish(project.command(other, &["init", "-no-color", "-input=false"])).expect(0, &[]);
            let (mine, others) = (plan(own), plan(other));
            // Where an object is tainted or deposed both have something left to do, and the same.
            assert_eq!(mine.code, others.code, "{folder}\n{}{}", others.out, others.err);
            assert_ne!(mine.code, Some(1), "{folder}\n{}{}", mine.out, mine.err);
        }
        assert_eq!(state(&ours), state(&theirs), "{folder}");
    }
}

/// A copy of the folder in which the program has applied.
pub fn applied(folder: &str, second: &[&str], program: &Path) -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/interop").join(folder);
    let project = Project::new("");
    copy(&root, &root, &project);
    let run = |args: &[&str]| project.finish(project.command(program, args));
    run(&["init", "-no-color", "-input=false"]).expect(0, &[]);
    run(&["apply", "-auto-approve", "-no-color", "-input=false"]);
    if !second.is_empty() {
        run(&[&["apply", "-auto-approve", "-no-color", "-input=false"], second].concat());
    }
    project
}

fn copy(root: &Path, dir: &Path, project: &Project) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            copy(root, &path, project);
            continue;
        }
        let below = path.strip_prefix(root).unwrap().display().to_string();
        project.write(&format!("work/{below}"), &std::fs::read_to_string(&path).unwrap());
    }
}

/// The state without what differs from run to run: ids by order of appearance, deposed keys, serial, lineage, and the
/// order of lists that the reference writes in any order.
fn state(project: &Project) -> String {
    let mut state: Json = serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap();
    let top = state.as_object_mut().unwrap();
    top.remove("serial");
    top.remove("lineage");
    if let Some(checks) = top.get_mut("check_results").and_then(Json::as_array_mut) {
        checks.sort_by_key(|check| check["config_addr"].to_string());
    }
    for resource in top["resources"].as_array_mut().unwrap() {
        for instance in resource["instances"].as_array_mut().unwrap() {
            if let Some(key) = instance.get_mut("deposed") {
                *key = "KEY".into();
            }
            if let Some(paths) = instance.get_mut("sensitive_attributes").and_then(Json::as_array_mut) {
                paths.sort_by_key(Json::to_string);
            }
        }
    }
    without_ids(&serde_json::to_string_pretty(&state).unwrap())
}

/// Each UUID replaced by the number of its first appearance.
fn without_ids(text: &str) -> String {
    let mut known: Vec<&str> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = (0..rest.len()).find(|i| is_uuid(rest.get(*i..*i + 36))) {
        let id = &rest[at..at + 36];
        let number = known.iter().position(|k| *k == id).unwrap_or_else(|| {
            known.push(id);
            known.len() - 1
        });
        out.push_str(&rest[..at]);
        out.push_str(&format!("ID{number}"));
        rest = &rest[at + 36..];
    }
    out + rest
}

fn is_uuid(text: Option<&str>) -> bool {
    text.is_some_and(|text| {
        text.bytes()
            .enumerate()
            .all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() })
    })
}
