//! A folder of packages that several working directories share, also at the same time.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::stage::{Play, Stage, check};
use crate::support::catalogue::Release;
use crate::support::{Running, platform, program};

const KINDS: [&str; 4] = ["one", "two", "three", "four"];

/// A registry with four providers of so many bytes, and as many working directories as wanted, one cache for all.
fn shared(bytes: usize, many: usize) -> (Stage, Vec<PathBuf>) {
    let mut stage = Stage::new([]);
    let releases: Vec<Release> = std::thread::scope(|scope| {
        let made = KINDS.map(|kind| scope.spawn(move || Release::new(&format!("acme/{kind}"), "1.0.0").sized(bytes)));
        made.map(|release| release.join().unwrap()).to_vec()
    });
    stage.publish(releases);
    stage.project.set("TF_PLUGIN_CACHE_DIR", stage.project.path("cache"));
    let names = KINDS.map(|kind| format!("acme/{kind}"));
    let required: Vec<_> = KINDS.iter().zip(&names).map(|(kind, name)| (*kind, name.as_str(), "")).collect();
    let text = stage.registry.requires(&required);
    let works = (0..many).map(|i| {
        stage.project.write(&format!("work{i}/main.tf"), &text);
        stage.project.path(&format!("work{i}"))
    });
    let works = works.collect();
    (stage, works)
}

/// An empty cache, and working directories as if they were new.
fn renew(stage: &Stage, works: &[PathBuf]) {
    let cache = stage.project.path("cache");
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::create_dir(&cache).unwrap();
    for work in works {
        let _ = std::fs::remove_dir_all(work.join(".terraform"));
        let _ = std::fs::remove_file(work.join(".terraform.lock.hcl"));
    }
    stage.registry.server.forget();
}

fn init(stage: &Stage, work: &PathBuf) -> Command {
    let mut command = stage.project.command(program(), &["init", "-no-color"]);
    command.current_dir(work);
    command
}

/// All at once; the time that it took.
fn at_once(stage: &Stage, works: &[PathBuf]) -> Duration {
    let start = Instant::now();
    let running: Vec<Running> = works.iter().map(|work| Running::start(init(stage, work))).collect();
    for running in running {
        let outcome = running.finish();
        assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    }
    start.elapsed()
}

fn one_download_each(stage: &Stage, works: &[PathBuf]) {
    assert_eq!(stage.registry.downloads(), KINDS.len(), "downloads");
    let locks: Vec<String> =
        works.iter().map(|work| std::fs::read_to_string(work.join(".terraform.lock.hcl")).unwrap()).collect();
    assert!(locks.iter().all(|lock| *lock == locks[0] && lock.contains("h1:") && lock.contains("zh:")), "{locks:#?}");
    for (work, kind) in works.iter().flat_map(|work| KINDS.iter().map(move |kind| (work, kind))) {
        let place = format!(".terraform/providers/{}/acme/{kind}/1.0.0/{}", stage.registry.host(), platform());
        assert!(work.join(place).join(format!("terraform-provider-{kind}_v1.0.0")).is_file());
    }
    let strays = stage.files("cache").into_iter().filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        !name.starts_with("terraform-provider-") && !name.ends_with(".lock") && !name.ends_with(".stamp.json")
    });
    assert_eq!(strays.collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

#[test]
fn eight_at_once_download_once() {
    let (stage, works) = shared(200_000, 8);
    for _ in 0..2 {
        renew(&stage, &works);
        at_once(&stage, &works);
        one_download_each(&stage, &works);
    }
}

/// The same with 50 MB each, twenty times over. With a release build of the program:
/// `TERRANE_TEST_PROGRAM=target/release/terrane cargo test --test tests providers::cache -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes"]
fn eight_at_once_download_fifty_megabytes_once() {
    let (stage, works) = shared(50_000_000, 8);
    for round in 1..=20 {
        renew(&stage, &works);
        let took = at_once(&stage, &works);
        println!("round {round}: {took:.2?}, {} downloads", stage.registry.downloads());
        one_download_each(&stage, &works);
    }
}

const LOCK: &str = "work/.terraform.lock.hcl";

fn cached(stage: &mut Stage) {
    let cache = stage.project.path("cache");
    std::fs::create_dir(&cache).unwrap();
    stage.project.set("TF_PLUGIN_CACHE_DIR", cache);
    stage.thing(&["1.0.0"], "");
}

fn forget(stage: &Stage, lock: bool) {
    std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
    if lock {
        std::fs::remove_file(stage.project.path(LOCK)).unwrap();
    }
    stage.registry.server.forget();
}

fn downloads(stage: &mut Stage) {
    let count = stage.registry.downloads();
    stage.note(&format!("{count} downloads"));
}

const CASES: &[(&str, Play)] = &[
    ("from the cache, as the lock file knows it", |stage| {
        cached(stage);
        stage.run(&["init"]);
        forget(stage, false);
        stage.run(&["init"]);
        downloads(stage);
    }),
    ("the lock file does not know it", |stage| {
        cached(stage);
        stage.run(&["init"]);
        forget(stage, true);
        stage.run(&["init"]);
        stage.show(LOCK);
    }),
    ("the lock file may be broken", |stage| {
        cached(stage);
        stage.run(&["init"]);
        forget(stage, true);
        stage.project.set("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1");
        stage.run(&["init"]);
        downloads(stage);
        stage.show(LOCK);
    }),
    ("what the cache has was changed", |stage| {
        cached(stage);
        stage.run(&["init"]);
        forget(stage, false);
        let programs = stage.files("cache").into_iter().filter(|path| path.to_string_lossy().ends_with("_v1.0.0"));
        programs.for_each(|path| std::fs::write(path, "#!/bin/sh\necho changed\n").unwrap());
        stage.run(&["init"]);
        downloads(stage);
    }),
    ("a cache that is not there", |stage| {
        cached(stage);
        std::fs::remove_dir(stage.project.path("cache")).unwrap();
        stage.run(&["init"]);
    }),
    ("a cache in the settings", |stage| {
        stage.thing(&["1.0.0"], "");
        std::fs::create_dir(stage.project.path("cache")).unwrap();
        stage.settings("plugin_cache_dir = \"PROJECT/cache\"\n");
        stage.run(&["init"]);
        downloads(stage);
        assert!(!stage.files("cache").is_empty());
    }),
];

#[test]
fn as_the_reference() {
    check("cache", CASES);
}
