//! Hosts that break: statuses, garbage, lies, loops. What is said is the reference's where it says something.

use super::authenticity::nothing_left;
use super::stage::{Play, Stage, check};
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

/// The parts of an install, by a part of their paths.
const DISCOVERY: &str = ".well-known";
const VERSIONS: &str = "/versions";
const DOWNLOAD: &str = "/download/";
const SUMS: &str = "_SHA256SUMS";
const ARCHIVE: &str = ".zip";

const STATUSES: [&str; 6] = [
    "401 Unauthorized",
    "403 Forbidden",
    "404 Not Found",
    "429 Too Many Requests",
    "500 Internal Server Error",
    "503 Service Unavailable",
];

/// Each status at one part; the project is made anew for each.
fn statuses(stage: &mut Stage, part: &str) {
    stage.thing(&["1.0.0"], "");
    for status in STATUSES {
        stage.registry.server.heal();
        stage.registry.server.forget();
        stage.trouble(part, Trouble::status(status));
        stage.note(status);
        stage.run(&["init"]);
        nothing_left(stage);
        if part == ARCHIVE {
            continue;
        }
        let asked = stage.registry.server.requests().iter().filter(|asked| asked.path.contains(part)).count();
        stage.note(&format!("asked {asked} times"));
    }
}

const CASES: &[(&str, Play)] = &[
    ("statuses of discovery", |stage| statuses(stage, DISCOVERY)),
    ("statuses of versions", |stage| statuses(stage, VERSIONS)),
    ("statuses of a download's description", |stage| statuses(stage, DOWNLOAD)),
    ("statuses of the checksums", |stage| statuses(stage, SUMS)),
    ("statuses of the archive", |stage| statuses(stage, ARCHIVE)),
    ("garbage instead of discovery", |stage| trouble(stage, DISCOVERY, Trouble::Instead(garbage()))),
    ("garbage instead of versions", |stage| trouble(stage, VERSIONS, Trouble::Instead(garbage()))),
    ("garbage instead of a description", |stage| trouble(stage, DOWNLOAD, Trouble::Instead(garbage()))),
    ("garbage instead of an archive", |stage| trouble(stage, ARCHIVE, Trouble::Instead(garbage()))),
    ("a loop at discovery", |stage| trouble(stage, DISCOVERY, Trouble::Loop)),
    ("a loop at versions", |stage| trouble(stage, VERSIONS, Trouble::Loop)),
    ("a loop at the archive", |stage| trouble(stage, ARCHIVE, Trouble::Loop)),
    ("empty versions", |stage| {
        trouble(stage, VERSIONS, Trouble::Instead(Reply::json("{\"versions\": []}")));
    }),
    ("an archive at no address", |stage| {
        trouble(stage, DOWNLOAD, Trouble::Instead(Reply::json("{\"download_url\": \"://\"}")));
    }),
    ("slowly, byte by byte", |stage| trouble(stage, "", Trouble::Drip)),
    ("once is not often: versions", |stage| {
        trouble(stage, VERSIONS, Trouble::status("503 Service Unavailable").first());
    }),
    ("once is not often: discovery", |stage| trouble(stage, DISCOVERY, Trouble::Leave.first())),
];

fn garbage() -> Reply {
    Reply::json("<html>Hello</html>")
}

fn trouble(stage: &mut Stage, part: &str, trouble: Trouble) {
    stage.thing(&["1.0.0"], "");
    stage.trouble(part, trouble);
    if stage.run(&["init"]).code != Some(0) {
        nothing_left(stage);
    }
}

#[test]
fn as_the_reference() {
    check("broken", CASES);
}
