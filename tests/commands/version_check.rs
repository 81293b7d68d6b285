//! `version -check`: a host on the loopback interface has the index of versions, signed by a key of the test.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::server::{Reply, Server};
use crate::support::signing::SigningKey;
use crate::support::{Outcome, Project};

const OWN: &str = env!("CARGO_PKG_VERSION");
const SERIALS: &str = "home/.local/share/terrane/index-serials.json";

struct Releases {
    project: Project,
    server: Server,
    key: SigningKey,
    /// The index and its signature, as they are served.
    files: Arc<Mutex<(Vec<u8>, Vec<u8>)>>,
}

/// An index with the version that runs and a later one.
fn sound() -> Value {
    json!({
        "format_version": "1.0",
        "generated": "2026-05-01T10:00:00Z",
        "expires": "2200-01-01T00:00:00Z",
        "serial": 7,
        "versions": [
            {"version": "99.1.0-rc1", "date": "2026-07-01", "prerelease": true, "files": []},
            {"version": "99.0.0", "date": "2026-06-01", "prerelease": false, "files": []},
            {"version": OWN, "date": "2026-05-01", "prerelease": false, "files": []},
        ],
    })
}

impl Releases {
    fn new() -> Releases {
        let mut project = Project::new("");
        let files: Arc<Mutex<(Vec<u8>, Vec<u8>)>> = Arc::default();
        let served = files.clone();
        let server = Server::start(&mut project, move |asked| {
            let (index, signature) = served.lock().unwrap().clone();
            Some(match asked.place() {
                "/releases/index.json" => Reply::status("200 OK").body(index),
                "/releases/index.json.sig" => Reply::status("200 OK").body(signature),
                "/latest/index.json" => Reply::status("302 Found").with("Location", "/releases/index.json"),
                "/latest/index.json.sig" => Reply::status("302 Found").with("Location", "/releases/index.json.sig"),
                "/insecure/index.json" => Reply::status("302 Found").with("Location", "http://127.0.0.1:1/index.json"),
                _ => Reply::status("404 Not Found"),
            })
        });
        let key = SigningKey::new("Releases <releases@example.com>");
        let path = project.write("key.asc", &key.armor);
        project.set("TERRANE_RELEASE_KEY", path);
        let releases = Releases { project, server, key, files };
        releases.publish(&sound());
        releases
    }

    fn publish(&self, index: &Value) {
        self.publish_bytes(index.to_string().as_bytes());
    }

    fn publish_bytes(&self, index: &[u8]) {
        *self.files.lock().unwrap() = (index.to_vec(), self.key.sign(index));
    }

    /// Publishes a sound index with a change.
    fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut index = sound();
        change(&mut index);
        self.publish(&index);
    }

    fn check(&self, flags: &[&str]) -> Outcome {
        self.check_at(&self.server.url("/releases"), flags)
    }

    fn check_at(&self, place: &str, flags: &[&str]) -> Outcome {
        let check = format!("-check={place}");
        self.project.run(&[&["version", check.as_str()][..], flags].concat())
    }
}

/// What follows the usual output of `version`.
fn report(outcome: &Outcome) -> &str {
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    let usual = format!("\nTerrane v{OWN}, compatible with Terraform 1.0 to 1.17.2\n\n");
    outcome.out.split_once(&usual).unwrap_or_else(|| panic!("{}", outcome.out)).1
}

#[test]
fn newest_version_is_shown() {
    let releases = Releases::new();
    let outdated = releases.check(&[]);
    let text = report(&outdated);
    assert!(text.starts_with("The newest version of Terrane is v99.0.0 (2026-06-01): https://"), "{text}");
    assert!(text.ends_with("/releases/tag/v99.0.0\n") && text.lines().count() == 1, "{text}");
    assert_eq!(releases.server.requests().len(), 2, "the index and its signature");
    let redirected = releases.check_at(&releases.server.url("/latest/index.json"), &[]);
    assert_eq!(report(&redirected), text);

    releases.change(|index| index["versions"][1]["withdrawn"] = "It loses states.".into());
    assert_eq!(report(&releases.check(&[])), "This is the newest version of Terrane (2026-05-01).\n");
    releases.change(|index| index["versions"][2]["withdrawn"] = "It loses states.".into());
    let withdrawn = releases.check(&[]);
    let expected =
        format!("Terrane v{OWN} was withdrawn: It loses states.\nThe newest version of Terrane is v99.0.0 (");
    assert!(report(&withdrawn).starts_with(&expected), "{}", withdrawn.out);
}

#[test]
fn json_has_the_newest_version() {
    let releases = Releases::new();
    let document = |outcome: Outcome| -> Value {
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
        serde_json::from_str(&outcome.out).unwrap()
    };
    let plain = document(releases.project.run(&["version", "-json"]));
    let mut expected = plain.clone();
    expected["terrane_latest"] = "99.0.0".into();
    expected["terrane_outdated"] = true.into();
    assert_eq!(document(releases.check(&["-json"])), expected);
    releases.change(|index| index["versions"][1]["withdrawn"] = "".into());
    expected["terrane_latest"] = OWN.into();
    expected["terrane_outdated"] = false.into();
    assert_eq!(document(releases.check(&["-json"])), expected);
    releases.change(|index| {
        index["versions"][1]["withdrawn"] = "".into();
        index["versions"][2]["withdrawn"] = "why".into();
    });
    expected["terrane_latest"] = Value::Null;
    expected["terrane_withdrawn"] = "why".into();
    assert_eq!(document(releases.check(&["-json"])), expected);
}

#[test]
fn untrusted_and_outdated_indexes_are_refused() {
    let releases = Releases::new();
    let refused = |expected: &str| {
        let outcome = releases.check(&["-json"]);
        outcome.expect(1, &["Error: Failed to check for a newer version", expected]);
        assert_eq!(outcome.out, "", "{expected}");
    };
    releases.files.lock().unwrap().0.push(b' ');
    refused("error checking signature: openpgp: invalid signature");
    releases.files.lock().unwrap().1 =
        SigningKey::new("Others <others@example.com>").sign(sound().to_string().as_bytes());
    refused("authentication signature from unknown issuer");
    releases.files.lock().unwrap().1.clear();
    refused("authentication signature from unknown issuer");
    releases.change(|index| index["expires"] = "2020-01-01T00:00:00Z".into());
    refused("it is stale: it was valid until 2020-01-01T00:00:00Z");
    releases.change(|index| index["format_version"] = "2.0".into());
    refused("it has the format version \"2.0\", which this version of Terrane does not support");
    releases.change(|index| index["versions"] = json!([]));
    refused("it lists no versions");
    releases.publish_bytes(b"<html>Not found</html>");
    refused("it is not an index of versions: invalid character '<' looking for beginning of value");
    releases.publish_bytes(b"");
    refused("it is not an index of versions: unexpected end of JSON input");
    releases.publish_bytes(&vec![b' '; (1 << 20) + 1]);
    refused("the response is larger than 1 MiB");
    assert!(!releases.project.exists(SERIALS), "only a good index counts as seen");
}

#[test]
fn older_indexes_are_refused() {
    let releases = Releases::new();
    let serial = |serial: u64| releases.change(|index| index["serial"] = serial.into());
    report(&releases.check(&[]));
    let kept = || serde_json::from_str::<Value>(&releases.project.read(SERIALS)).unwrap();
    assert_eq!(kept(), json!({"version": 1, "serials": {(releases.key.id.as_str()): 7}}));
    serial(6);
    releases.check(&[]).expect(1, &["its serial is 6, but an index with the serial 7 was seen before"]);
    serial(7);
    report(&releases.check(&[]));
    serial(9);
    report(&releases.check(&[]));
    assert_eq!(kept()["serials"][&releases.key.id], 9);
    releases.project.write(SERIALS, "{");
    releases.check(&[]).expect(1, &["index-serials.json is damaged", "delete it to begin anew."]);
}

#[test]
fn copies_in_a_folder_need_no_network() {
    let releases = Releases::new();
    let (index, signature) = releases.files.lock().unwrap().clone();
    std::fs::create_dir(releases.project.path("work/copy")).unwrap();
    std::fs::write(releases.project.path("work/copy/index.json"), index).unwrap();
    releases.check_at("copy", &[]).expect(1, &["read copy/index.json.sig: no such file or directory."]);
    std::fs::write(releases.project.path("work/copy/index.json.sig"), signature).unwrap();
    for place in ["copy", "./copy/", "copy/index.json"] {
        let outcome = releases.check_at(place, &[]);
        assert!(report(&outcome).starts_with("The newest version of Terrane is v99.0.0"), "{place}: {}", outcome.out);
    }
    assert!(releases.server.requests().is_empty());
}

#[test]
fn requests_are_made_only_if_asked_and_only_over_https() {
    let mut releases = Releases::new();
    let unasked: [&[&str]; 4] = [&["version"], &["version", "-json"], &["-version"], &["version", "-check=false"]];
    for args in unasked {
        releases.project.ok(args);
    }
    for (place, expected) in [
        ("http://example.com/releases", "The address of the index of versions must begin with \"https:\"."),
        ("ftp://127.0.0.1/releases", "The address of the index of versions must begin with \"https:\"."),
        ("https://", "The address of the index of versions is invalid: empty host."),
    ] {
        releases.check_at(place, &[]).expect(1, &[expected]);
    }
    let address = releases.server.url("/releases");
    releases.project.run(&["version", "-check", &address]).expect(1, &["Give the address of the index as -check=URL."]);
    assert!(releases.server.requests().is_empty());

    let insecure = releases.check_at(&releases.server.url("/insecure"), &[]);
    insecure.expect(1, &["refused to follow the redirect to plain HTTP, http://127.0.0.1:1/index.json."]);
    let missing = releases.server.url("/missing");
    releases.check_at(&missing, &[]).expect(1, &[&format!("404 Not Found returned from {missing}/index.json.")]);
    releases.server.forget();

    releases.project.set("TERRANE_RELEASE_KEY", releases.project.path("gone.asc"));
    releases.check(&[]).expect(1, &["gone.asc: no such file or directory."]);
    releases.project.write("gone.asc", "no key");
    releases.project.set("TERRANE_RELEASE_KEY", Path::new(""));
    releases.check(&[]).expect(1, &["Error: No key for the index of versions", "TERRANE_RELEASE_KEY"]);
    assert!(releases.server.requests().is_empty());
    releases.project.set("TERRANE_RELEASE_KEY", releases.project.path("gone.asc"));
    let no_key = "The file that TERRANE_RELEASE_KEY names has no usable key";
    releases.check(&[]).expect(1, &[no_key, "Export the key with \"gpg --armor --export\"."]);
}
