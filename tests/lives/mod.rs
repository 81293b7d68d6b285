//! Random lives beside the reference: sequences of configurations whose providers are configured from everything that can be
//! referred to, until the last object of a provider, the last module and the last block are gone.
//!
//! Both programs run the same provider, which records what it was configured with and what it was asked. Without more, a few
//! seeds run. The variables of [`LongRun`] switch on a long run. A failing life is made small and printed.

mod compare;
mod edit;
mod excuses;
mod generate;
mod life;
mod order;
mod provider;
mod recording;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use life::Lab;

use crate::model::program::Template;
use crate::model::session::{ACCEPTED, Finding};
use crate::model::step::Step;
use crate::model::{report, shrink};
use crate::support::{program as terrane, reference};

/// A few seeds; without the reference, only what holds for one program alone.
#[test]
fn random_lives_agree_with_the_reference() {
    let folder = tempfile::Builder::new().prefix("terrane-lives-").tempdir().unwrap();
    let lab = lab(folder.path(), reference(), None);
    let end = Instant::now() + Duration::from_secs(30);
    for seed in 1..=6 {
        if Instant::now() > end {
            break;
        }
        match lab.random(seed, 3, "life") {
            (history, Some(finding)) if finding.class != ACCEPTED => {
                panic!("seed {seed}\n{}", report(&history, &finding))
            }
            _ => {}
        }
    }
}

/// `TERRANE_LIVES_SEEDS=1..2001 cargo test --test tests many_random_lives -- --ignored`; [`LongRun`] has more variables.
#[test]
#[ignore = "takes hours"]
fn many_random_lives_agree_with_the_reference() {
    let classes = LongRun::from_environment().run();
    assert!(classes.is_empty(), "{classes:#?}");
}

fn lab(folder: &Path, reference: Option<PathBuf>, recordings: Option<PathBuf>) -> Lab {
    let overrides: String = provider::install(folder)
        .iter()
        .map(|(name, at)| format!("    \"example.com/lives/{name}\" = {at:?}\n"))
        .collect();
    let settings = folder.join("settings.tfrc");
    let text = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n");
    std::fs::write(&settings, text).unwrap();
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let template = Template { settings, folder: empty };
    // What is destroyed follows the program's name.
    let ours = folder.join("terraform");
    let _ = std::fs::remove_file(&ours);
    std::os::unix::fs::symlink(terrane(), &ours).unwrap();
    Lab { ours, reference, template, folder: folder.to_owned(), recordings }
}

struct LongRun {
    /// `TERRANE_LIVES_SEEDS`: `first..last`.
    seeds: std::ops::Range<u64>,
    /// `TERRANE_LIVES_STEPS`: steps of each life before its end begins.
    steps: usize,
    /// `TERRANE_LIVES_WORKERS`: lives at the same time.
    workers: usize,
    /// `TERRANE_LIVES_FOLDER`: for working directories and reports.
    folder: PathBuf,
    /// `TERRANE_LIVES_RECORDINGS`: a folder that keeps the answers of the reference for the next run of the same lives.
    recordings: Option<PathBuf>,
    /// `TERRANE_LIVES_SHRINK`: seconds to spend on the first finding of each class.
    shrink: u64,
    /// `TERRANE_LIVES_SECONDS`: when to stop.
    seconds: u64,
}

impl LongRun {
    fn from_environment() -> LongRun {
        let text = |name: &str| std::env::var(format!("TERRANE_LIVES_{name}")).ok();
        let number = |name: &str, default: u64| text(name).and_then(|t| t.parse().ok()).unwrap_or(default);
        let seeds = text("SEEDS").unwrap_or_else(|| "1..2001".to_owned());
        let (first, last) = seeds.split_once("..").unwrap_or((&seeds, ""));
        let first: u64 = first.parse().unwrap_or(1);
        LongRun {
            seeds: first..last.parse().unwrap_or(first + 1),
            steps: number("STEPS", 4) as usize,
            workers: number("WORKERS", 2) as usize,
            folder: text("FOLDER").map_or_else(|| std::env::temp_dir().join("terrane-lives"), PathBuf::from),
            recordings: text("RECORDINGS").map(PathBuf::from),
            shrink: number("SHRINK", 120),
            seconds: number("SECONDS", 1_000_000),
        }
    }

    /// Lives all seeds; returns the classes of what was found.
    fn run(&self) -> Vec<String> {
        std::fs::create_dir_all(&self.folder).unwrap();
        let reference = reference().expect("a long run needs terraform on the PATH");
        self.recordings.iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
        let lab = lab(&self.folder, Some(reference), self.recordings.clone());
        let (next, lived) = (AtomicU64::new(self.seeds.start), AtomicU64::new(0));
        let seen: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let end = Instant::now() + Duration::from_secs(self.seconds);
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let (lab, next, lived, seen) = (&lab, &next, &lived, &seen);
                scope.spawn(move || {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= self.seeds.end || Instant::now() > end {
                            return;
                        }
                        let (history, finding) = lab.random(seed, self.steps, &format!("worker-{worker}"));
                        let total = lived.fetch_add(1, Ordering::Relaxed) + 1;
                        if total.is_multiple_of(20) {
                            println!("{total} lives, seed {seed}");
                        }
                        match finding {
                            Some(finding) if finding.class == ACCEPTED => {
                                println!("seed {seed}, step {}, {ACCEPTED}: {}", history.len(), finding.report)
                            }
                            Some(finding) => self.found(lab, (seed, worker), history, finding, seen),
                            None => {}
                        }
                    }
                });
            }
        });
        println!("{} lives", lived.load(Ordering::Relaxed));
        seen.into_inner().unwrap()
    }

    fn found(
        &self,
        lab: &Lab,
        (seed, worker): (u64, usize),
        history: Vec<Step>,
        finding: Finding,
        seen: &Mutex<Vec<String>>,
    ) {
        println!("seed {seed}, step {}: {}", history.len(), finding.class);
        let is_new = {
            let mut seen = seen.lock().unwrap();
            let is_new = !seen.contains(&finding.class);
            seen.push(finding.class.clone());
            is_new
        };
        let name = format!("shrink-{worker}");
        let (history, finding) = match is_new {
            true => {
                shrink::shrink(&|steps| lab.replay(steps, &name), history, finding, Duration::from_secs(self.shrink))
            }
            false => (history, finding),
        };
        let text = format!("seed {seed}\n{}", report(&history, &finding));
        if is_new {
            println!("{text}");
        }
        let _ = std::fs::write(self.folder.join(format!("finding-{seed}.txt")), text);
    }
}
