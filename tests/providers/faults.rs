//! Connections and disks that fail in the middle: an error that says what happened, nothing half installed, and the next
//! install succeeds. What is said of connections is ours.

use std::path::Path;

use super::authenticity::nothing_left;
use super::stage::Stage;
use crate::support::trouble::Trouble;
use crate::support::{self, Outcome, Project, program};

const PARTS: [&str; 5] = [".well-known", "/versions", "/download/", "_SHA256SUMS", ".zip"];

/// What happens to the connection, and what is said of it, whichever part it was.
const CONNECTIONS: &[(&str, fn() -> Trouble)] = &[
    ("closed without a word", || Trouble::Leave),
    ("cut at once", || Trouble::Cut(0)),
    ("cut in the middle", || Trouble::Cut(20)),
    ("silent", || Trouble::Hang),
    ("silent in the middle", || Trouble::Stall(20)),
    ("less than announced", || Trouble::Length(1_000_000)),
    ("more than announced", || Trouble::Length(20)),
];

#[test]
fn connections() {
    std::thread::scope(|scope| {
        for part in PARTS {
            scope.spawn(move || CONNECTIONS.iter().for_each(|(what, trouble)| connection(part, what, trouble())));
        }
    });
}

fn connection(part: &str, what: &str, trouble: Trouble) {
    let mut stage = Stage::new([]);
    stage.project.set("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    stage.thing(&["1.0.0"], "");
    stage.trouble(part, trouble);
    let outcome = stage.project.run(&["init"]);
    assert_eq!(outcome.code, Some(1), "{part} {what}: {}{}", outcome.out, outcome.err);
    assert_eq!(outcome.text().matches("Error: ").count(), 1, "{part} {what}: {}", outcome.err);
    assert!(outcome.text().contains("acme/thing"), "{part} {what}: {}", outcome.err);
    nothing_left(&stage);
    assert!(!stage.project.exists("work/.terraform.lock.hcl"), "{part} {what}");
    stage.registry.server.heal();
    stage.project.ok(&["init"]);
}

/// One failed attempt is retried.
#[test]
fn once_is_not_often() {
    std::thread::scope(|scope| {
        for part in PARTS {
            scope.spawn(move || {
                let breaking = CONNECTIONS.iter().filter(|(what, _)| !what.contains("announced"));
                breaking.for_each(|(what, trouble)| once(part, what, trouble()));
            });
        }
    });
}

fn once(part: &str, what: &str, trouble: Trouble) {
    let mut stage = Stage::new([]);
    stage.project.set("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    stage.thing(&["1.0.0"], "");
    stage.trouble(part, trouble.first());
    let outcome = stage.project.run(&["init"]);
    assert_eq!(outcome.code, Some(0), "{part} {what}: {}", outcome.err);
}

/// A command in a separate mount namespace, with a small disk at a folder of the project. None if namespaces are not available.
fn on_small_disk(project: &Project, folder: &str, size: &str) -> Option<Outcome> {
    let mount = |place: &str| format!("mount -t tmpfs -o size={size} none {place}");
    if !support::can_mount(project) {
        return None;
    }
    let place = project.path(folder);
    std::fs::create_dir_all(&place).unwrap();
    let script = format!("{} && exec {:?} init", mount(&place.display().to_string()), program().display().to_string());
    Some(project.finish(project.command(Path::new("unshare"), &["-rm", "sh", "-c", &script])))
}

#[test]
fn full_disks() {
    for folder in ["work/.terraform", "cache", "tmp"] {
        let mut stage = Stage::new([]);
        stage.publish([crate::support::catalogue::Release::new("acme/thing", "1.0.0").sized(400_000)]);
        stage.requires(&[("thing", "acme/thing", "")]);
        if folder == "cache" {
            std::fs::create_dir(stage.project.path("cache")).unwrap();
            stage.project.set("TF_PLUGIN_CACHE_DIR", stage.project.path("cache"));
        }
        for size in ["64k", "300k"] {
            let Some(outcome) = on_small_disk(&stage.project, folder, size) else { return };
            // Whether anything is put there is the program's business.
            if folder == "tmp" && outcome.code == Some(0) {
                break;
            }
            outcome.expect(1, &["Error: Failed to install provider", "no space left on device"]);
            assert!(!stage.project.exists("work/.terraform.lock.hcl"));
        }
        stage.project.ok(&["init"]);
    }
}

/// Folders that may not be written.
#[test]
fn folders_that_are_files() {
    for file in ["work/.terraform/providers", "cache"] {
        let mut stage = Stage::new([]);
        stage.thing(&["1.0.0"], "");
        stage.project.write(file, "");
        stage.project.set("TF_PLUGIN_CACHE_DIR", stage.project.path("cache"));
        if file != "cache" {
            std::fs::create_dir(stage.project.path("cache")).unwrap();
        }
        let outcome = stage.project.run(&["init"]);
        assert_eq!(outcome.code, Some(1), "{file}: {}{}", outcome.out, outcome.err);
        std::fs::remove_file(stage.project.path(file)).unwrap();
        std::fs::create_dir_all(stage.project.path("cache")).unwrap();
        stage.project.ok(&["init"]);
    }
}
