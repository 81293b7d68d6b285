//! Model-based tests: random configurations and edits, planned, applied and planned again.
//!
//! Without more, fixed seeds run against the invariants alone. A long run against the reference is an
//! ignored test; the variables of [`LongRun`] are its settings. A failing history is made small and printed, with what both
//! programs answered.

mod edit;
mod excuses;
mod expression;
mod generate;
mod invariants;
pub mod newer;
pub mod normal;
pub mod program;
mod providers;
pub mod session;
pub mod shrink;
pub mod step;
pub mod tree;
mod world;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use newer::Newer;
use session::{ACCEPTED, Finding, Lab};
use step::Step;

use crate::support::{program as terrane, reference};

/// Histories that run however slow the machine is.
const LEAST_HISTORIES: u64 = 4;

/// Fixed seeds, bounded in time.
#[test]
fn random_histories_hold_their_invariants() {
    hold_invariants(Newer::Nothing, 20);
}

#[test]
fn random_histories_with_newer_language_hold_their_invariants() {
    hold_invariants(Newer::Everything, 20);
}

fn hold_invariants(newer: Newer, seconds: u64) {
    let folder = tempfile::Builder::new().prefix("terrane-model-").tempdir().unwrap();
    let templates = (newer != Newer::Nothing).then(|| providers::templates(folder.path(), &[terrane()], newer));
    let folder = folder.path().to_owned();
    let lab = Lab { ours: terrane().to_owned(), reference: None, templates, folder, newer };
    let end = Instant::now() + Duration::from_secs(seconds);
    for seed in 1..=12 {
        if seed > LEAST_HISTORIES && Instant::now() > end {
            break;
        }
        let (history, finding) = lab.random(seed, 5, "history");
        if let Some(finding) = finding {
            let (history, finding) = lab.shrunk(history, finding, Duration::from_secs(60));
            panic!("seed {seed}\n{}", report(&history, &finding));
        }
    }
}

/// `TERRANE_MODEL_SEEDS=1..500` names the seeds; more variables are in [`LongRun::from_environment`] and
/// [`providers::templates`].
#[test]
#[ignore = "takes minutes"]
fn random_histories_agree_with_the_reference() {
    let run = LongRun::from_environment();
    let peer = std::env::var_os("TERRANE_MODEL_PROGRAM").map(PathBuf::from);
    let alone = Newer::from_environment() == Newer::Everything;
    let peer = if alone { None } else { peer.or_else(reference) };
    if peer.is_none() && !alone {
        return;
    }
    let classes = run.run(peer.as_deref());
    assert!(classes.is_empty(), "{classes:#?}");
}

/// What is accepted because Terraform 1.11 has our answer.
const AS_THE_REFERENCE: &str = "answered as Terraform 1.11 does";

struct LongRun {
    /// `TERRANE_MODEL_SEEDS`: `first..last`; 1 to 20 without it.
    seeds: std::ops::Range<u64>,
    /// `TERRANE_MODEL_STEPS`: edits in each history.
    steps: usize,
    /// `TERRANE_MODEL_WORKERS`: histories at the same time.
    workers: usize,
    /// `TERRANE_MODEL_FOLDER`: for working directories and reports.
    folder: PathBuf,
    /// `TERRANE_MODEL_SHRINK`: seconds to spend on the first finding of each class.
    shrink: u64,
    /// `TERRANE_MODEL_SECONDS`: when to stop. `TERRANE_MODEL_PROGRAM` and [`Newer::from_environment`]: another program
    /// than Terraform 1.11, and what kind of program it is.
    seconds: u64,
}

impl LongRun {
    fn from_environment() -> LongRun {
        let text = |name: &str| std::env::var(format!("TERRANE_MODEL_{name}")).ok();
        let number = |name: &str, default: u64| text(name).and_then(|t| t.parse().ok()).unwrap_or(default);
        let seeds = text("SEEDS").unwrap_or_else(|| "1..21".to_owned());
        let (first, last) = seeds.split_once("..").unwrap_or((&seeds, ""));
        let first: u64 = first.parse().unwrap_or(1);
        LongRun {
            seeds: first..last.parse().unwrap_or(first + 1),
            steps: number("STEPS", 12) as usize,
            workers: number("WORKERS", 1) as usize,
            folder: text("FOLDER").map_or_else(|| std::env::temp_dir().join("terrane-model"), PathBuf::from),
            shrink: number("SHRINK", 120),
            seconds: number("SECONDS", 1_000_000),
        }
    }

    /// Runs all seeds; returns the classes of findings with the number of each.
    fn run(&self, reference: Option<&Path>) -> Vec<String> {
        std::fs::create_dir_all(&self.folder).unwrap();
        let newer = Newer::from_environment();
        let programs: Vec<&Path> = std::iter::once(terrane()).chain(reference).collect();
        let templates = Some(providers::templates(&self.folder, &programs, newer));
        let lab = Lab {
            ours: terrane().to_owned(),
            reference: reference.map(Path::to_owned),
            templates,
            folder: self.folder.clone(),
            newer,
        };
        let judge = self.judge(newer);
        let (next, steps) = (AtomicU64::new(self.seeds.start), AtomicUsize::new(0));
        let seen: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let end = Instant::now() + Duration::from_secs(self.seconds);
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let (lab, judge, next, steps, seen) = (&lab, judge.as_ref(), &next, &steps, &seen);
                scope.spawn(move || {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= self.seeds.end || Instant::now() > end {
                            return;
                        }
                        let (history, finding) = lab.random(seed, self.steps, &format!("worker-{worker}"));
                        let total = steps.fetch_add(history.len(), Ordering::Relaxed) + history.len();
                        if seed.is_multiple_of(20) {
                            println!("seed {seed}, {total} steps");
                        }
                        match finding {
                            Some(finding) if finding.class == ACCEPTED => {
                                println!("seed {seed}, {} steps, {ACCEPTED}: {}", history.len(), finding.report)
                            }
                            Some(_) if judge.is_some_and(|judge| judge.agrees(&history)) => {
                                println!("seed {seed}, {} steps, {ACCEPTED}: {AS_THE_REFERENCE}", history.len())
                            }
                            Some(finding) => self.found((lab, judge), seed, history, finding, seen),
                            None => {}
                        }
                    }
                });
            }
        });
        println!("{} steps", steps.load(Ordering::Relaxed));
        seen.into_inner().unwrap()
    }

    /// Terraform 1.11: where the second program is another one, its answers hold.
    fn judge(&self, newer: Newer) -> Option<Lab> {
        if !matches!(newer, Newer::Terraform | Newer::OpenTofu) {
            return None;
        }
        let reference = reference()?;
        let folder = self.folder.join("judge");
        std::fs::create_dir_all(&folder).unwrap();
        let newer = Newer::Judge;
        let templates = Some(providers::templates(&folder, &[terrane(), &reference], newer));
        Some(Lab { ours: terrane().to_owned(), reference: Some(reference), templates, folder, newer })
    }

    fn found(
        &self,
        (lab, judge): (&Lab, Option<&Lab>),
        seed: u64,
        history: Vec<Step>,
        finding: Finding,
        seen: &Mutex<Vec<String>>,
    ) {
        let new = {
            let mut seen = seen.lock().unwrap();
            let known: HashSet<&String> = seen.iter().collect();
            let new = !known.contains(&finding.class);
            seen.push(finding.class.clone());
            new
        };
        println!("seed {seed}, step {}: {}", history.len(), finding.class);
        if new {
            let budget = Duration::from_secs(self.shrink);
            let (history, finding) = lab.shrunk(history, finding, budget);
            if judge.is_some_and(|judge| judge.agrees(&history)) {
                println!("seed {seed}: {AS_THE_REFERENCE}");
                seen.lock().unwrap().retain(|class| *class != finding.class);
                return;
            }
            let text = report(&history, &finding);
            println!("{text}");
            let _ = std::fs::write(self.folder.join(format!("finding-{seed}.txt")), format!("seed {seed}\n{text}"));
        }
    }
}

/// Returns a history and what went wrong at its end, as people read it.
pub fn report(history: &[Step], finding: &Finding) -> String {
    let mut text = String::new();
    for (number, step) in history.iter().enumerate() {
        let _ = writeln!(text, "=== step {} ({}) {:?} {:?}", number + 1, step.note, step.options, step.tamper);
        text.push_str(&step.configuration.display());
    }
    let _ = writeln!(text, "=== {}\n{}", finding.class, finding.report);
    text
}
