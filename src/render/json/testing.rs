//! The messages of `test`: what is executed, how it comes out, and what it leaves.

use std::collections::BTreeMap;
use std::time::Duration;

use base::name::PROGRAM;
use serde_json::{Map, Value as Json, json};
use terrane_value::text::go_quoted;

use super::message::Message;
use super::shape::{put, set};

/// Where a file or a run is, and how it came out.
#[derive(Clone, Copy, Debug)]
pub struct TestStep<'a> {
    /// As people read it: `in progress`, `fail`.
    pub word: &'a str,
    pub progress: &'a str,
    pub status: Option<&'a str>,
    /// Since the run began, in messages before its end.
    pub elapsed: Option<Duration>,
}

/// How many runs came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    pub skipped: usize,
}

/// An object that exists: its address and its deposed key.
pub type TestObject = (String, Option<String>);

/// The files with their runs that are about to be executed.
pub fn overview(files: &[(&str, Vec<&str>)]) -> Message {
    let runs: usize = files.iter().map(|(_, runs)| runs.len()).sum();
    let noun = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let text = format!("Found {} and {}", noun(files.len(), "file"), noun(runs, "run block"));
    // As Go writes an empty list that was never made.
    let of_file = |runs: &Vec<&str>| if runs.is_empty() { Json::Null } else { json!(runs) };
    let members: Map<String, Json> = files.iter().map(|(name, runs)| ((*name).to_owned(), of_file(runs))).collect();
    Message::new("test_abstract", text, json!({ "test_abstract": members }))
}

pub fn file(name: &str, step: TestStep<'_>) -> Message {
    let mut members = Map::new();
    set(&mut members, "path", name);
    put(&mut members, "progress", step.progress);
    put(&mut members, "status", step.status.unwrap_or_default());
    let text = format!("{name}... {}", step.word);
    Message::new("test_file", text, json!({ "test_file": members })).of_test(Some(name), None)
}

pub fn run(file: &str, name: &str, step: TestStep<'_>) -> Message {
    let mut members = Map::new();
    set(&mut members, "path", file);
    set(&mut members, "run", name);
    put(&mut members, "progress", step.progress);
    if let Some(elapsed) = step.elapsed {
        set(&mut members, "elapsed", u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
    }
    put(&mut members, "status", step.status.unwrap_or_default());
    let text = format!("  {}... {}", go_quoted(name), step.word);
    Message::new("test_run", text, json!({ "test_run": members })).of_test(Some(file), Some(name))
}

/// The end of all files; `text` is the line that people read.
pub fn summary(text: &str, status: &str, counts: TestCounts) -> Message {
    let TestCounts { passed, failed, errored, skipped } = counts;
    let members = json!({
        "status": status, "passed": passed, "failed": failed, "errored": errored, "skipped": skipped,
    });
    Message::new("test_summary", text, json!({ "test_summary": members }))
}

/// What the runs evaluated of the configuration; `text` is the line that people read.
pub fn coverage(text: &str, report: Json) -> Message {
    Message::new("test_coverage", text, json!({ "test_coverage": report }))
}

/// What destroying a state left. `is_wanted`: the run asks for it.
pub fn left_over(file: &str, run: Option<&str>, is_wanted: bool, left: &[TestObject], kept: Option<String>) -> Message {
    let place = run.map_or_else(|| file.to_owned(), |run| format!("{file}/{run}"));
    let left = Json::Array(left.iter().map(object_json).collect());
    let mut members = Map::new();
    set(&mut members, if is_wanted { "skipped_resources" } else { "failed_resources" }, left);
    put(&mut members, "state_file", kept.unwrap_or_default());
    let why = match is_wanted {
        true => " because the skip_cleanup attribute was set.",
        false => ", they need to be cleaned up manually.",
    };
    let text = format!("{PROGRAM} left some resources in state after executing {place}{why}");
    let message = Message::new("test_cleanup", text, json!({ "test_cleanup": members })).of_test(Some(file), run);
    if is_wanted { message } else { message.at_level("error") }
}

/// What exists when a suite is abandoned: objects by state key, of which that of the root module is empty, and addresses of what was
/// being created. None if nothing does.
pub fn abandoned(
    file: &str,
    run: Option<&str>,
    states: &BTreeMap<String, Vec<TestObject>>,
    creating: &[String],
    kept: Vec<String>,
) -> Option<Message> {
    let mut members = Map::new();
    let objects = |objects: &Vec<TestObject>| Json::Array(objects.iter().map(object_json).collect());
    put(&mut members, "state", states.get("").map(objects).unwrap_or_default());
    let others = states.iter().filter(|(key, objects)| !key.is_empty() && !objects.is_empty());
    let others: Map<String, Json> = others.map(|(key, left)| (key.clone(), objects(left))).collect();
    put(&mut members, "states", others);
    put(&mut members, "planned", creating.to_vec());
    if members.is_empty() {
        return None;
    }
    put(&mut members, "state_files", kept);
    let text = format!(
        "{PROGRAM} was interrupted during test execution, and may not have performed the expected cleanup operations."
    );
    let message = Message::new("test_interrupt", text, json!({ "test_interrupt": members }));
    Some(message.at_level("error").of_test(Some(file), run))
}

fn object_json((address, deposed): &TestObject) -> Json {
    let mut out = Map::new();
    set(&mut out, "instance", address.as_str());
    put(&mut out, "deposed_key", deposed.clone().unwrap_or_default());
    Json::Object(out)
}

/// What a run planned: the text that [`super::test_documents::plan`] gives.
pub fn plan(file: &str, run: &str, document: String) -> Message {
    verbose("test_plan", "plan", document).of_test(Some(file), Some(run))
}

/// The state that a run left: the text that [`super::test_documents::state`] gives.
pub fn state(file: &str, run: &str, document: String) -> Message {
    verbose("test_state", "state", document).of_test(Some(file), Some(run))
}

fn verbose(kind: &'static str, what: &str, document: String) -> Message {
    Message::new(kind, format!("-verbose flag enabled, printing {what}"), Json::Null).with_raw(kind, document)
}

#[cfg(test)]
mod tests {
    use base::dialect::Dialect;

    use super::*;

    fn check(message: &Message, expected: &str) {
        assert_eq!(message.line(Dialect::Terraform, "T").trim_end(), expected);
    }

    /// Observed, 1.11.4 and 1.16.
    #[test]
    fn messages_have_the_members_of_the_reference() {
        check(
            &overview(&[("a.tftest.hcl", vec!["one"]), ("b.tftest.hcl", vec![])]),
            r#"{"@level":"info","@message":"Found 2 files and 1 run block","@module":"terraform.ui","@timestamp":"T","test_abstract":{"a.tftest.hcl":["one"],"b.tftest.hcl":null},"type":"test_abstract"}"#,
        );
        let step = TestStep { word: "in progress", progress: "starting", status: None, elapsed: None };
        check(
            &file("a.tftest.hcl", step),
            r#"{"@level":"info","@message":"a.tftest.hcl... in progress","@module":"terraform.ui","@testfile":"a.tftest.hcl","@timestamp":"T","test_file":{"path":"a.tftest.hcl","progress":"starting"},"type":"test_file"}"#,
        );
        check(
            &run("a.tftest.hcl", "one", TestStep { elapsed: Some(Duration::from_millis(2001)), ..step }),
            r#"{"@level":"info","@message":"  \"one\"... in progress","@module":"terraform.ui","@testfile":"a.tftest.hcl","@testrun":"one","@timestamp":"T","test_run":{"path":"a.tftest.hcl","run":"one","progress":"starting","elapsed":2001},"type":"test_run"}"#,
        );
        let complete = TestStep { word: "fail", progress: "complete", status: Some("error"), elapsed: None };
        check(
            &run("a.tftest.hcl", "one", complete),
            r#"{"@level":"info","@message":"  \"one\"... fail","@module":"terraform.ui","@testfile":"a.tftest.hcl","@testrun":"one","@timestamp":"T","test_run":{"path":"a.tftest.hcl","run":"one","progress":"complete","status":"error"},"type":"test_run"}"#,
        );
        check(
            &summary("Success! 1 passed, 0 failed.", "pass", TestCounts { passed: 1, ..TestCounts::default() }),
            r#"{"@level":"info","@message":"Success! 1 passed, 0 failed.","@module":"terraform.ui","@timestamp":"T","test_summary":{"status":"pass","passed":1,"failed":0,"errored":0,"skipped":0},"type":"test_summary"}"#,
        );
    }

    #[test]
    fn left_objects_are_named() {
        let left = [("a.b".to_owned(), None), ("a.c".to_owned(), Some("0011".to_owned()))];
        check(
            &left_over("f", Some("r"), false, &left, None),
            &format!(
                r#"{{"@level":"error","@message":"{PROGRAM} left some resources in state after executing f/r, they need to be cleaned up manually.","@module":"terraform.ui","@testfile":"f","@testrun":"r","@timestamp":"T","test_cleanup":{{"failed_resources":[{{"instance":"a.b"}},{{"instance":"a.c","deposed_key":"0011"}}]}},"type":"test_cleanup"}}"#
            ),
        );
        check(
            &left_over("f", None, true, &left[..1], Some("s".into())),
            &format!(
                r#"{{"@level":"info","@message":"{PROGRAM} left some resources in state after executing f because the skip_cleanup attribute was set.","@module":"terraform.ui","@testfile":"f","@timestamp":"T","test_cleanup":{{"skipped_resources":[{{"instance":"a.b"}}],"state_file":"s"}},"type":"test_cleanup"}}"#
            ),
        );
        let states = BTreeMap::from([(String::new(), left[..1].to_vec()), ("k".to_owned(), vec![])]);
        let message = abandoned("f", Some("r"), &states, &["x.y".to_owned()], Vec::new()).unwrap();
        check(
            &message,
            &format!(
                r#"{{"@level":"error","@message":"{PROGRAM} was interrupted during test execution, and may not have performed the expected cleanup operations.","@module":"terraform.ui","@testfile":"f","@testrun":"r","@timestamp":"T","test_interrupt":{{"state":[{{"instance":"a.b"}}],"planned":["x.y"]}},"type":"test_interrupt"}}"#
            ),
        );
        assert!(abandoned("f", None, &BTreeMap::new(), &[], vec!["s".into()]).is_none());
    }
}
