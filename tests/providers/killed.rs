//! An install that is killed or interrupted, in each of its phases: the next one succeeds, and nothing is half there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::stage::Stage;
use crate::support::catalogue::Release;
use crate::support::trouble::{Gate, Trouble};
use crate::support::{PATIENCE, Running, processes, program};

/// Two providers, one of them with 300 KB that shrink to a tenth; with a shared cache if asked for.
fn stage(cache: bool) -> Stage {
    let mut stage = Stage::new([]);
    let large = Release::new("acme/large", "1.0.0");
    let content = [b"#!/bin/sh\n".to_vec(), vec![b'\n'; 300_000]].concat();
    let archive = crate::support::catalogue::zip(&[(&large.program(), 0o755, &content)]);
    stage.publish([large.archive(&crate::support::platform(), archive), Release::new("acme/small", "1.0.0")]);
    stage.requires(&[("large", "acme/large", ""), ("small", "acme/small", "")]);
    if cache {
        let folder = stage.project.path("cache");
        std::fs::create_dir(&folder).unwrap();
        stage.project.set("TF_PLUGIN_CACHE_DIR", folder);
    }
    stage
}

/// Everything that an install leaves in a project, by name.
fn files(stage: &Stage) -> BTreeSet<PathBuf> {
    let host = stage.registry.host();
    let folders = ["work", "cache", "tmp"].into_iter().flat_map(|below| stage.files(below));
    // The program's own notes on what it has hashed come and go.
    let folders = folders.filter(|path| !path.ends_with("package-hashes.json"));
    // An incomplete record: some bytes under a hidden name, which is never read.
    let folders = folders.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with(".terrane-"));
    let root = stage.project.path("");
    folders
        .map(|path| PathBuf::from(path.strip_prefix(&root).unwrap().display().to_string().replace(&host, "host")))
        .collect()
}

/// The files of a project after an undisturbed installation.
fn undisturbed(cache: bool) -> BTreeSet<PathBuf> {
    let stage = stage(cache);
    stage.project.ok(&["init"]);
    files(&stage)
}

/// The next install succeeds and leaves what any install leaves.
fn recovers(stage: &Stage, expected: &BTreeSet<PathBuf>, phase: &str) {
    stage.registry.server.heal();
    processes::all_gone(stage.project.mark());
    let outcome = stage.project.run(&["init"]);
    assert_eq!(outcome.code, Some(0), "{phase}: {}{}", outcome.out, outcome.err);
    assert_eq!(files(stage), *expected, "{phase}");
    stage.project.ok(&["init", "-lockfile=readonly"]);
}

/// Where the host holds the install.
const PHASES: &[(&str, &str, fn(Gate) -> Trouble)] = &[
    ("discovering", ".well-known", Trouble::Wait),
    ("querying", "/versions", Trouble::Wait),
    ("choosing a package", "/download/", Trouble::Wait),
    ("before verifying", "_SHA256SUMS.sig", Trouble::Wait),
    ("before downloading", "large_1.0.0", Trouble::Wait),
    ("downloading", "large_1.0.0", |gate| Trouble::WaitWithin(200, gate)),
    (ONE_INSTALLED, "large_1.0.0", Trouble::Wait),
];

const ONE_INSTALLED: &str = "before writing the lock, one installed";

/// Waits until the install is in a phase.
fn arrived(stage: &Stage, phase: &str, gate: &Gate) {
    gate.reached(1);
    let end = Instant::now() + PATIENCE;
    // In its place: no longer below the hidden folder where it is unpacked.
    let small = |path: &PathBuf| {
        let placed = !path.iter().any(|part| part.to_string_lossy().starts_with(".unpacking-"));
        placed && path.ends_with("terraform-provider-small_v1.0.0")
    };
    while phase == ONE_INSTALLED && !stage.files("work/.terraform").iter().any(small) {
        assert!(Instant::now() < end, "{phase}");
    }
}

#[test]
fn killed_during_requests() {
    for cache in [false, true] {
        let expected = undisturbed(cache);
        for (phase, part, trouble) in PHASES {
            let stage = stage(cache);
            let gate = Gate::default();
            stage.trouble(part, trouble(gate.clone()));
            let mut running = Running::start(stage.project.command(program(), &["init"]));
            arrived(&stage, phase, &gate);
            processes::kill(running.child.id() as i32);
            running.child.wait().unwrap();
            assert!(!stage.project.exists("work/.terraform.lock.hcl"), "{phase}");
            gate.open();
            recovers(&stage, &expected, phase);
        }
    }
}

/// No file may grow beyond so many blocks of 512 bytes: the write fails in the middle of an archive, and in the middle of
/// what is unpacked.
#[test]
fn a_write_fails() {
    for cache in [false, true] {
        let expected = undisturbed(cache);
        for blocks in [0, 1, 2, 64, 400] {
            let stage = stage(cache);
            let script = format!("ulimit -c 0; ulimit -f {blocks}; exec {:?} init", program().display().to_string());
            let outcome = stage.project.finish(stage.project.command(Path::new("sh"), &["-c", &script]));
            // What the program says goes to files too.
            outcome.expect(1, if blocks < 64 { &[] } else { &["file too large"] });
            recovers(&stage, &expected, &format!("{blocks} blocks"));
        }
    }
}

/// Killed when the first, second, third ... change on disk is seen, until it gets to its end.
#[test]
fn killed_at_any_change() {
    let expected = undisturbed(true);
    for changes in 1.. {
        let stage = stage(true);
        let before = seen(&stage).len();
        let mut running = Running::start(stage.project.command(program(), &["init"]));
        let end = Instant::now() + PATIENCE;
        let mut ended = false;
        while !ended && seen(&stage).len() < before + changes {
            ended = running.child.try_wait().unwrap().is_some();
            assert!(Instant::now() < end);
        }
        if ended {
            assert!(changes > 3, "it should have changed more than {changes} things");
            break;
        }
        let _ = running.child.kill();
        running.child.wait().unwrap();
        recovers(&stage, &expected, &format!("{changes} changes"));
    }
}

/// Names, sizes: a change is seen wherever the install works.
fn seen(stage: &Stage) -> BTreeSet<PathBuf> {
    ["work", "cache", "tmp"].into_iter().flat_map(|below| stage.entries(below)).collect()
}

/// One "canceled" for any number of waiting tasks; complete packages are kept.
#[test]
fn interrupted() {
    let expected = undisturbed(false);
    for (phase, part, trouble) in PHASES {
        let mut stage = stage(false);
        stage.project.set("TF_REGISTRY_CLIENT_TIMEOUT", "600");
        let gate = Gate::default();
        stage.trouble(part, trouble(gate.clone()));
        let running = Running::start(stage.project.command(program(), &["init", "-no-color"]));
        arrived(&stage, phase, &gate);
        // SAFETY: the call touches no memory.
        unsafe { libc::kill(running.child.id() as i32, libc::SIGINT) };
        let outcome = running.finish();
        gate.open();
        outcome.expect(1, &["Interrupt received.", "Provider installation was canceled by an interrupt signal."]);
        assert_eq!(outcome.text().matches("anceled").count(), 1, "{phase}: {}{}", outcome.out, outcome.err);
        let strays = stage.files("tmp");
        assert!(strays.is_empty(), "{phase}: {strays:?}");
        stage.registry.server.forget();
        recovers(&stage, &expected, phase);
        let again = stage.registry.server.requests().into_iter().filter(|asked| asked.path.contains("small_1.0.0"));
        assert!(*phase != ONE_INSTALLED || again.count() == 0, "what was complete is downloaded again");
    }
}
