//! Random test files against a model of their rules: the order of runs, what is skipped, what is destroyed and what is left.
//!
//! Even seeds make files that Terraform 1.11 can run, odd ones use newer words. Provisioners write what is created and
//! destroyed, so that the order is seen from outside. The model is compared with the reference, too.
//!
//! Without more, a few seeds run. The variables of [`LongRun`] switch on long runs. A failing case is printed whole.

mod case;
mod compare;
mod generate;
mod model;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use case::{Case, LOG};
use compare::Answer;
use order::{Prediction, Status};

use crate::support::{Outcome, Project, program, reference};

/// The folder of states that are kept.
const KEPT: &str = "work/.terraform/test";

/// Seeds of cases that the program or the model was wrong about.
const PAST_FAILURES: [u64; 5] = [4723, 5013, 6239, 7809, 9273];

#[test]
fn random_test_files_follow_the_model() {
    let end = Instant::now() + Duration::from_secs(30);
    for seed in PAST_FAILURES.into_iter().chain(1..=60) {
        if Instant::now() > end {
            break;
        }
        if let Err(report) = check(seed, program()) {
            panic!("{report}");
        }
    }
}

/// `TERRANE_TEST_FILES_SEEDS=1..10001 cargo test --test tests many_random_test_files -- --ignored`
#[test]
#[ignore = "takes many minutes"]
fn many_random_test_files_follow_the_model() {
    let failures = LongRun::from_environment("1..10001").run(program(), |_| true);
    assert!(failures == 0, "{failures} cases are not as predicted");
}

/// `TERRANE_TEST_FILES_SEEDS=1..2001 cargo test --test tests reference_follows_the_model -- --ignored`: the even seeds of
/// the range, which are the same files.
#[test]
#[ignore = "takes many minutes"]
fn reference_follows_the_model() {
    let Some(reference) = reference() else { return };
    let failures = LongRun::from_environment("1..2001").run(&reference, |seed| seed.is_multiple_of(2));
    assert!(failures == 0, "{failures} cases are not as predicted");
}

/// Each kind of end is frequent enough to be tested.
#[test]
fn random_test_files_have_all_kinds_of_ends() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 1..=600 {
        let case = generate::case(seed);
        assert_eq!(case.display(), generate::case(seed).display(), "seed {seed} is not always the same case");
        let prediction = order::predict(&case);
        let mut seen: BTreeSet<&str> = prediction.statuses.iter().map(|status| status.word()).collect();
        let mut see = |word: &'static str, is_so: bool| seen.extend(Some(word).filter(|_| is_so));
        see("left after an error", prediction.kept.values().any(|kept| kept.reason == order::Reason::Error));
        see("kept", prediction.kept.values().any(|kept| kept.reason == order::Reason::Skip));
        see("several states", prediction.teardown.len() > 2);
        see("expected failure", has_expected_failure(&case, &prediction));
        see("executed after an error", is_executed_after_error(&prediction));
        see("cleanup", prediction.cleanup(&case).is_some_and(|lines| !lines.is_empty()));
        for word in seen {
            *counts.entry(word).or_default() += 1;
        }
    }
    let wanted = ["skip", "pass", "fail", "error", "left after an error", "kept", "several states"];
    let wanted = wanted.into_iter().chain(["expected failure", "executed after an error", "cleanup"]);
    let missing: Vec<&str> = wanted.filter(|word| counts.get(word).is_none_or(|count| *count < 3)).collect();
    assert!(missing.is_empty(), "too few cases of {missing:?}: {counts:?}");
}

fn has_expected_failure(case: &Case, prediction: &Prediction) -> bool {
    let runs = case.runs.iter().zip(&prediction.statuses);
    runs.into_iter().any(|(run, status)| !run.expects.is_empty() && *status == Status::Pass)
}

fn is_executed_after_error(prediction: &Prediction) -> bool {
    let error = prediction.statuses.iter().position(|status| *status == Status::Error);
    error.is_some_and(|error| prediction.statuses[error..].contains(&Status::Pass))
}

/// Runs the case of a seed with a program; the error is a report of all that is not as predicted.
fn check(seed: u64, program: &Path) -> Result<(), String> {
    let case = generate::case(seed);
    let prediction = order::predict(&case);
    let mut project = Project::new("");
    if case.is_newer {
        project.any_release();
    }
    for (path, text) in case.files() {
        project.write(&format!("work/{path}"), &text);
    }
    let run = |args: &[&str]| project.finish(project.command(program, args));
    let init = run(&["init"]);
    let outcome = run(&["test", "-json"]);
    let answer = answer(&project, &outcome);
    let mut complaints = compare::complaints(&case, &prediction, &answer);
    if complaints.is_empty() && case.is_newer && !prediction.kept.is_empty() {
        complaints = cleanup_complaints(&case, &prediction, &project, &answer.log);
    }
    if complaints.is_empty() {
        return Ok(());
    }
    let events: Vec<&str> = prediction.events.iter().map(|event| &*event.line).collect();
    Err(format!(
        "seed {seed}\n{}\n\n{}--- diagnostics\n{}\n--- predicted log, in one possible order\n{}\n--- log\n{}\n--- init and errors\n{}{}\n",
        complaints.join("\n"),
        case.display(),
        answer.diagnostics(),
        events.join("\n"),
        answer.log.join("\n"),
        if init.code == Some(0) { "" } else { &init.err },
        outcome.err
    ))
}

fn answer(project: &Project, outcome: &Outcome) -> Answer {
    let events = outcome.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let read = |path: &str| project.exists(path).then(|| project.read(path));
    let log = lines(read(&format!("work/{LOG}")));
    let document = |path: &str| read(path).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let manifest = document(&format!("{KEPT}/manifest.json"));
    let states = manifest.iter().flat_map(|manifest| manifest["files"][case::TEST_FILE]["states"].as_object());
    let kept_state = |(key, state): (&String, &Value)| {
        let id = state["id"].as_str().unwrap_or_default();
        let state = document(&format!("{KEPT}/{id}.tfstate")).unwrap_or_default();
        (key.clone(), addresses(&state))
    };
    let kept = states.flatten().map(kept_state).collect();
    Answer { code: outcome.code, events, log, manifest, kept }
}

fn lines(text: Option<String>) -> Vec<String> {
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The addresses of a state file. The resources of the cases have one instance each.
fn addresses(state: &Value) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let address = |resource: &Value| {
        let name = format!("{}.{}", text(&resource["type"]), text(&resource["name"]));
        if resource["module"].is_string() { format!("{}.{name}", text(&resource["module"])) } else { name }
    };
    state["resources"].as_array().into_iter().flatten().map(address).collect()
}

/// Destroys what is kept, if the model knows how; what is not as predicted then.
fn cleanup_complaints(case: &Case, prediction: &Prediction, project: &Project, log: &[String]) -> Vec<String> {
    let Some(mut predicted) = prediction.cleanup(case) else { return Vec::new() };
    let outcome = project.run(&["test", "cleanup", "-json"]);
    let answer = answer(project, &outcome);
    let mut seen = answer.log.get(log.len()..).unwrap_or_default().to_vec();
    predicted.sort();
    seen.sort();
    let mut complaints = Vec::new();
    if outcome.code != Some(0) {
        complaints.push(format!("cleanup: exit code {:?}\n{}{}", outcome.code, answer.diagnostics(), outcome.err));
    }
    if seen != predicted {
        complaints.push(format!("cleanup: predicted {predicted:?}, but the log has {seen:?}"));
    }
    if answer.kept.values().any(|addresses| !addresses.is_empty()) {
        complaints.push(format!("cleanup: left {:?}", answer.kept));
    }
    complaints
}

struct LongRun {
    /// `TERRANE_TEST_FILES_SEEDS`: `first..last`.
    seeds: std::ops::Range<u64>,
    /// `TERRANE_TEST_FILES_WORKERS`: cases at the same time.
    workers: usize,
    /// `TERRANE_TEST_FILES_FOLDER`: for reports of cases that are not as predicted.
    folder: PathBuf,
    /// `TERRANE_TEST_FILES_SECONDS`: when to stop.
    seconds: u64,
}

impl LongRun {
    fn from_environment(seeds: &str) -> LongRun {
        let text = |name: &str| std::env::var(format!("TERRANE_TEST_FILES_{name}")).ok();
        let number = |name: &str, default: u64| text(name).and_then(|t| t.parse().ok()).unwrap_or(default);
        let seeds = text("SEEDS").unwrap_or_else(|| seeds.to_owned());
        let (first, last) = seeds.split_once("..").unwrap_or((&seeds, ""));
        let first: u64 = first.parse().unwrap_or(1);
        LongRun {
            seeds: first..last.parse().unwrap_or(first + 1),
            workers: number("WORKERS", 2) as usize,
            folder: text("FOLDER").map_or_else(|| std::env::temp_dir().join("terrane-test-files"), PathBuf::from),
            seconds: number("SECONDS", 1_000_000),
        }
    }

    /// Runs the cases of all seeds that are wanted; returns how many are not as predicted.
    fn run(&self, program: &Path, is_wanted: impl Fn(u64) -> bool + Sync) -> usize {
        std::fs::create_dir_all(&self.folder).unwrap();
        let (next, count) = (AtomicU64::new(self.seeds.start), AtomicU64::new(0));
        let failures: Mutex<usize> = Mutex::new(0);
        let end = Instant::now() + Duration::from_secs(self.seconds);
        std::thread::scope(|scope| {
            for _ in 0..self.workers {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= self.seeds.end || Instant::now() > end {
                            return;
                        }
                        if !is_wanted(seed) {
                            continue;
                        }
                        let result = check(seed, program);
                        let count = count.fetch_add(1, Ordering::Relaxed) + 1;
                        if count.is_multiple_of(500) {
                            println!("{count} cases, seed {seed}");
                        }
                        if let Err(report) = result {
                            self.report(seed, &report, &failures);
                        }
                    }
                });
            }
        });
        println!("{} cases", count.load(Ordering::Relaxed));
        failures.into_inner().unwrap()
    }

    /// Prints the first reports, and writes all of them.
    fn report(&self, seed: u64, report: &str, failures: &Mutex<usize>) {
        let mut failures = failures.lock().unwrap();
        *failures += 1;
        if *failures <= 5 {
            println!("{report}");
        } else {
            println!("seed {seed} is not as predicted");
        }
        let _ = std::fs::write(self.folder.join(format!("case-{seed}.txt")), report);
    }
}
