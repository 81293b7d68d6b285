//! How long an install takes, beside the time that its bytes need. With a release build of the program:
//! `TERRANE_TEST_PROGRAM=target/release/terrane cargo test --test tests providers::speed -- --ignored --nocapture`

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::stage::Stage;
use crate::support::catalogue::Release;
use crate::support::registry::Registry;
use crate::support::{platform, program, reference};

const KINDS: [&str; 4] = ["one", "two", "three", "four"];
const BYTES: usize = 50_000_000;
const ROUNDS: usize = 5;

/// What has to be done to the bytes: hash the archive, unpack it, hash what was unpacked; an archive per process, two at
/// a time. Python's library does all of it in C.
const FLOOR: &str = r#"
import base64, hashlib, os, shutil, sys, zipfile
from multiprocessing import Pool

def work(archive):
    with open(archive, "rb") as file:
        hashlib.file_digest(file, "sha256")
    target = archive + ".unpacked"
    with zipfile.ZipFile(archive) as z:
        for name in z.namelist():
            os.makedirs(target, exist_ok=True)
            with z.open(name) as f, open(os.path.join(target, name), "wb") as out:
                shutil.copyfileobj(f, out, 1 << 20)
            with open(os.path.join(target, name), "rb") as file:
                hashlib.file_digest(file, "sha256")
    shutil.rmtree(target)

if __name__ == "__main__":
    with Pool(int(sys.argv[1])) as pool:
        pool.map(work, sys.argv[2:])
"#;

#[test]
#[ignore = "a measurement"]
fn four_providers_of_fifty_megabytes() {
    let mut stage = Stage::new([]);
    stage.project.set("TF_REGISTRY_CLIENT_TIMEOUT", "60");
    let releases: Vec<Release> = std::thread::scope(|scope| {
        let made = KINDS.map(|kind| scope.spawn(move || Release::new(&format!("acme/{kind}"), "1.0.0").sized(BYTES)));
        made.map(|release| release.join().unwrap()).to_vec()
    });
    let mut archives = Vec::new();
    for release in &releases {
        let path = stage.project.path(&release.file(&platform()));
        std::fs::write(&path, &*release.archives[&platform()]).unwrap();
        archives.push(path);
    }
    stage.publish(releases);
    let names = KINDS.map(|kind| format!("acme/{kind}"));
    let required: Vec<_> = KINDS.iter().zip(&names).map(|(kind, name)| (*kind, name.as_str(), "")).collect();
    stage.requires(&required);

    let floor = |processes: &str| {
        let mut arguments = vec!["-c", FLOOR, processes];
        arguments.extend(archives.iter().map(|path| path.to_str().unwrap()));
        let start = Instant::now();
        let outcome = stage.project.finish(stage.project.command(Path::new("python3"), &arguments));
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        start.elapsed()
    };
    let mut rows: Vec<(&str, Vec<Duration>)> = vec![
        ("hash, unpack and hash, one at a time", (0..ROUNDS).map(|_| floor("1")).collect()),
        ("hash, unpack and hash, two at a time", (0..ROUNDS).map(|_| floor("2")).collect()),
        ("fetch alone, from the same registry", (0..ROUNDS).map(|_| fetched(&stage)).collect()),
        ("this program's init", (0..ROUNDS).map(|_| installed(&stage, program())).collect()),
    ];
    if let Some(terraform) = reference() {
        rows.push(("the reference's init", (0..ROUNDS).map(|_| installed(&stage, &terraform)).collect()));
    }
    for (name, mut times) in rows {
        times.sort();
        println!("{name:40} median {:>8.2?}   fastest {:>8.2?}", times[times.len() / 2], times[0]);
    }
}

/// One `init` in a folder as if it were new.
fn installed(stage: &Stage, program: &Path) -> Duration {
    let _ = std::fs::remove_dir_all(stage.project.path("work/.terraform"));
    let _ = std::fs::remove_file(stage.project.path("work/.terraform.lock.hcl"));
    let start = Instant::now();
    let outcome = stage.project.finish(stage.project.command(program, &["init"]));
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    start.elapsed()
}

/// All archives with curl, at once: what the registry of the tests itself costs.
fn fetched(stage: &Stage) -> Duration {
    let mut arguments: Vec<String> = ["-s", "-Z", "-k"].map(str::to_owned).to_vec();
    for kind in KINDS {
        let release = Release::new(&format!("acme/{kind}"), "1.0.0");
        let file: PathBuf = stage.project.path(&format!("{kind}.fetched"));
        let url =
            stage.registry.server.url(&Registry::file(&format!("acme/{kind}"), "1.0.0", &release.file(&platform())));
        arguments.extend(["-o".to_owned(), file.display().to_string(), url]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let start = Instant::now();
    let outcome = stage.project.finish(stage.project.command(Path::new("curl"), &arguments));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    start.elapsed()
}
