//! Snapshots: values of runs that must be those of the last time, in a file beside each test file.
//!
//! The rules are insta's: what is missing is recorded, but never where the environment variable `CI` is set; what differs fails.
//! Only runs that pass record something. The file is written once the runs of the test file have ended.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::atomic;
use base::diag::{Diagnostic, Diagnostics, Kind, TestAssertion};
use base::name::COMMAND;
use model::config::test_file::{Snapshot, TestFile};
use serde_json::{Map, Value as Json, json};
use terrane_value::Value;

use super::context::{FileContext, SuiteContext};
use super::snapshot_value::{snapshot_json, sorted};
use crate::interface::testing::TestStatus;

/// The folder of snapshots in the folder of the test file.
const FOLDER: &str = "__snapshots__";
const ENDING: &str = ".snap.json";
const VERSION: u64 = 1;

/// By the names of run and snapshot.
type Values = BTreeMap<String, BTreeMap<String, Json>>;

/// What happens to values of passed runs that are not recorded, or differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// New ones are recorded.
    Record,
    /// All are recorded.
    Update,
    /// Nothing is written.
    Ci,
}

/// How a value compares with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Same,
    /// It is recorded if the run passes.
    Recorded,
    Missing,
    Different,
}

/// The snapshots of one test file.
pub struct Snapshots {
    path: PathBuf,
    mode: Mode,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// What the file has; none: it was not read yet.
    stored: Option<Values>,
    /// New values of runs that have not ended: they are recorded if their run passes.
    pending: Values,
    /// What is to be written at the end.
    recorded: Values,
}

impl Snapshots {
    pub fn of(suite: &SuiteContext, file: &TestFile) -> Snapshots {
        let mode = match suite.request.update_snapshots {
            true => Mode::Update,
            false if suite.setup.environment.is_ci() => Mode::Ci,
            false => Mode::Record,
        };
        Snapshots { path: path_of(&file.name), mode, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares a value with what is recorded of it. A new value waits for [`Snapshots::end_run`].
    pub fn judge(&self, run: &str, snapshot: &Snapshot, value: &Value) -> (TestStatus, Option<Diagnostic>) {
        let mut inner = self.inner();
        let Inner { stored, pending, .. } = &mut *inner;
        if stored.is_none() {
            match read(&self.path) {
                Ok(values) => *stored = Some(values),
                Err(error) => {
                    let detail = format!("{}: {error}.", self.path.display());
                    let problem = Diagnostic::error("Failed to read snapshots", detail).at(snapshot.range.clone());
                    return (TestStatus::Error, Some(problem));
                }
            }
        }
        let actual = snapshot_json(value);
        let known = stored.as_ref().and_then(|stored| stored.get(run)).and_then(|values| values.get(&*snapshot.name));
        match compare(known, &actual, self.mode) {
            Comparison::Same => (TestStatus::Pass, None),
            Comparison::Recorded => {
                pending.entry(run.to_owned()).or_default().insert(snapshot.name.to_string(), actual);
                (TestStatus::Pass, None)
            }
            Comparison::Missing => (TestStatus::Fail, Some(self.missing(run, snapshot))),
            Comparison::Different => {
                let expected = known.map(text).unwrap_or_default();
                (TestStatus::Fail, Some(self.different(run, snapshot, text(&actual), expected)))
            }
        }
    }

    /// Records the new values of a run that has ended, if it passed. Values of a run that is wrong elsewhere may be wrong too.
    pub fn end_run(&self, run: &str, status: TestStatus) {
        let mut inner = self.inner();
        if let Some(values) = inner.pending.remove(run).filter(|_| status == TestStatus::Pass) {
            inner.recorded.insert(run.to_owned(), values);
        }
    }

    fn missing(&self, run: &str, snapshot: &Snapshot) -> Diagnostic {
        let detail = format!(
            "The snapshot {:?} of run {run:?} is not in {}. Nothing is recorded where the environment variable CI is set: run \"{COMMAND} \
             test\" elsewhere, and add the file to the repository.",
            &*snapshot.name,
            self.path.display()
        );
        Diagnostic::error("Snapshot is missing", detail).of_kind(Kind::FailedAssertion).at(snapshot.range.clone())
    }

    fn different(&self, run: &str, snapshot: &Snapshot, actual: String, expected: String) -> Diagnostic {
        let detail = format!(
            "The value of snapshot {:?} of run {run:?} is not the one in {}. If it is right, record it: \"{COMMAND} test \
             -update-snapshots\".",
            &*snapshot.name,
            self.path.display()
        );
        let problem = Diagnostic::error("Snapshot differs", detail).of_kind(Kind::FailedAssertion);
        let operands = TestAssertion { lhs: actual, rhs: expected, warning: String::new(), show_verbose: false };
        problem.at(snapshot.range.clone()).with_test_assertion(operands)
    }

    /// Writes what was recorded, once all runs have ended. `is_whole`: all runs of the file were selected.
    pub fn finish(&self, file: &TestFile, is_whole: bool) -> Diagnostics {
        let mut inner = self.inner();
        let recorded = std::mem::take(&mut inner.recorded);
        let stored = match inner.stored.take() {
            Some(stored) => stored,
            // A file without snapshots may have had some.
            None if file.extensions => match read(&self.path) {
                Ok(stored) => stored,
                // A run that needs it has reported the error.
                Err(_) => return Diagnostics::new(),
            },
            None => return Diagnostics::new(),
        };
        let unused = if is_whole { unused(&stored, file) } else { Vec::new() };
        let removes = self.mode == Mode::Update && !unused.is_empty();
        let mut diagnostics = Diagnostics::new();
        if !unused.is_empty() && !removes {
            let list: String = unused.iter().map(|(run, name)| format!("\n  - {run}: {name}")).collect();
            let detail = format!(
                "No run of {} has these snapshots of {} any more. \"{COMMAND} test -update-snapshots\" removes them:\n{list}",
                file.name,
                self.path.display()
            );
            diagnostics.push(Diagnostic::warning("Unused snapshots", detail));
        }
        if recorded.is_empty() && !removes {
            return diagnostics;
        }
        let mut values = merged(stored, recorded);
        if removes {
            for (run, name) in &unused {
                if let Some(values) = values.get_mut(run) {
                    values.remove(name);
                }
            }
            values.retain(|_, values| !values.is_empty());
        }
        if let Err(error) = write(&self.path, &values) {
            let detail = format!("{}: {error}. The next tests do not know the values of these.", self.path.display());
            diagnostics.push(Diagnostic::error("Failed to write snapshots", detail));
        }
        diagnostics
    }
}

/// Writes the snapshots of a file whose runs have ended, unless the user interrupted them.
pub fn finish(context: &FileContext<'_>) -> Diagnostics {
    if context.suite.setup.stop.is_stopping() || context.suite.setup.stop.is_killed() {
        return Diagnostics::new();
    }
    context.snapshots.finish(context.file, context.selected.len() == context.file.runs.len())
}

fn compare(stored: Option<&Json>, actual: &Json, mode: Mode) -> Comparison {
    match stored {
        Some(stored) if stored == actual => Comparison::Same,
        _ if mode == Mode::Update => Comparison::Recorded,
        Some(_) => Comparison::Different,
        None if mode == Mode::Ci => Comparison::Missing,
        None => Comparison::Recorded,
    }
}

/// The recorded snapshots that no run has, as pairs of names.
fn unused(stored: &Values, file: &TestFile) -> Vec<(String, String)> {
    let is_used = |run: &str, name: &str| {
        let runs = file.runs.iter().filter(|known| *known.name == *run);
        runs.flat_map(|run| &run.snapshots).any(|snapshot| *snapshot.name == *name)
    };
    let all = stored.iter().flat_map(|(run, values)| values.keys().map(move |name| (run.clone(), name.clone())));
    all.filter(|(run, name)| !is_used(run, name)).collect()
}

fn merged(mut stored: Values, recorded: Values) -> Values {
    for (run, values) in recorded {
        stored.entry(run).or_default().extend(values);
    }
    stored
}

/// Where the snapshots of a test file are.
fn path_of(file: &str) -> PathBuf {
    let path = Path::new(file);
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(FOLDER).join(format!("{name}{ENDING}"))
}

fn read(path: &Path) -> io::Result<Values> {
    let content = match std::fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Values::new()),
        Err(error) => return Err(error),
    };
    parse(&content)
}

fn parse(content: &[u8]) -> io::Result<Values> {
    let mut document: Json = serde_json::from_slice(content).map_err(io::Error::other)?;
    if document["version"].as_u64() != Some(VERSION) {
        return Err(io::Error::other(format!("the version of the file is not {VERSION}")));
    }
    serde_json::from_value(document["runs"].take()).map_err(io::Error::other)
}

/// Writes the file, or removes it if nothing is left in it.
fn write(path: &Path, values: &Values) -> io::Result<()> {
    if values.is_empty() {
        return match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    std::fs::create_dir_all(atomic::directory_of(path))?;
    atomic::write_content(path, rendered(values).as_bytes())
}

/// The text of the file: sorted keys, two blanks per level, a line break at the end.
fn rendered(values: &Values) -> String {
    let object = |values: &BTreeMap<String, Json>| {
        Json::Object(values.iter().map(|(name, value)| (name.clone(), sorted(value))).collect())
    };
    let runs: Map<String, Json> = values.iter().map(|(run, values)| (run.clone(), object(values))).collect();
    format!("{}\n", text(&json!({ "runs": runs, "version": VERSION })))
}

fn text(value: &Json) -> String {
    serde_json::to_string_pretty(&sorted(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_file;

    use super::*;

    fn values(list: &[(&str, &str, Json)]) -> Values {
        let mut all = Values::new();
        for (run, name, value) in list {
            all.entry((*run).to_owned()).or_default().insert((*name).to_owned(), value.clone());
        }
        all
    }

    #[test]
    fn missing_snapshots_are_recorded_outside_of_ci() {
        use Comparison::{Different, Missing, Recorded, Same};
        let (one, two) = (json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 }));
        let cases = [
            (Some(&one), &two, Mode::Ci, Same),
            (Some(&one), &two, Mode::Update, Same),
            (Some(&one), &Json::Null, Mode::Record, Different),
            (Some(&one), &Json::Null, Mode::Ci, Different),
            (Some(&one), &Json::Null, Mode::Update, Recorded),
            (None, &one, Mode::Record, Recorded),
            (None, &one, Mode::Update, Recorded),
            (None, &one, Mode::Ci, Missing),
        ];
        for (stored, actual, mode, expected) in cases {
            assert_eq!(compare(stored, actual, mode), expected, "{stored:?} {actual} {mode:?}");
        }
    }

    #[test]
    fn files_are_canonical() {
        let written = values(&[("b", "s", json!({ "y": [], "x": null })), ("a[\"k\"]", "s", json!("text"))]);
        let expected = "{\n  \"runs\": {\n    \"a[\\\"k\\\"]\": {\n      \"s\": \"text\"\n    },\n    \"b\": {\n      \"s\": {\n        \
                        \"x\": null,\n        \"y\": []\n      }\n    }\n  },\n  \"version\": 1\n}\n";
        assert_eq!(rendered(&written), expected);
        assert_eq!(parse(expected.as_bytes()).ok(), Some(written));
        assert!(parse(b"{\"version\": 2, \"runs\": {}}").is_err());
        assert!(parse(b"[]").is_err());
    }

    #[test]
    fn snapshots_without_a_run_are_unused() {
        let text = "test {\n extensions = [\"terrane\"]\n}\nrun \"a\" {\n snapshot \"s\" {\n value = 1\n }\n}\n";
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        let file = model::config::test_file::decode("a.tftest.hcl", &body, &mut Diagnostics::new());
        let stored = values(&[("a", "s", json!(1)), ("a", "t", json!(1)), ("b", "s", json!(1))]);
        let expected: Vec<(String, String)> = vec![("a".into(), "t".into()), ("b".into(), "s".into())];
        assert_eq!(unused(&stored, &file), expected);
    }

    #[test]
    fn files_are_beside_the_tests() {
        let cases = [
            ("main.tftest.hcl", "__snapshots__/main.tftest.hcl.snap.json"),
            ("tests/main.tftest.json", "tests/__snapshots__/main.tftest.json.snap.json"),
        ];
        for (file, expected) in cases {
            assert_eq!(path_of(file), Path::new(expected));
        }
    }
}
