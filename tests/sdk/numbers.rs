//! What the library must not change in the program of an author: how `serde_json` reads numbers.

use std::path::Path;
use std::process::Command;

use super::{EXAMPLE, here, todo};
use crate::support::needs::{self, Need};

const MANIFEST: &str = r#"
[package]
name = "reads-numbers"
version = "0.1.0"
edition = "2024"

[workspace]

[dependencies]
serde = { version = "1", features = ["derive"] }
serde_json = "1"
terrane-sdk = { path = SDK }
"#;

/// With the feature `arbitrary_precision`, numbers are maps to serde, which neither enum takes for a number.
const PROGRAM: &str = r###"
#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
}

#[derive(Debug, PartialEq, serde::Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Share { value: f64 },
}

fn main() {
    let untagged: Vec<Untagged> = serde_json::from_str(r##"[1.5, "a"]"##).unwrap();
    assert_eq!(untagged, [Untagged::Number(1.5), Untagged::Text("a".to_owned())]);
    let tagged: Tagged = serde_json::from_str(r##"{"kind": "Share", "value": 0.25}"##).unwrap();
    assert_eq!(tagged, Tagged::Share { value: 0.25 });
    // The order of members is that of their names: `preserve_order` would keep the one in the text.
    let value: serde_json::Value = serde_json::from_str(r##"{"b": 1, "a": 2}"##).unwrap();
    assert_eq!(value.to_string(), r##"{"a":2,"b":1}"##);
    let serve = terrane_sdk::Serve::new("registry.terraform.io/acme/numbers");
    println!("{serve:?}");
}
"###;

#[test]
fn library_leaves_serde_json_as_it_is() {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(project.path().join(name), text).unwrap();
    write("Cargo.toml", &MANIFEST.replace("SDK", &format!("{:?}", here("src/sdk"))));
    // The crates that the example has are there.
    std::fs::copy(here(EXAMPLE).join("Cargo.lock"), project.path().join("Cargo.lock")).unwrap();
    std::fs::create_dir(project.path().join("src")).unwrap();
    write("src/main.rs", PROGRAM);
    let cargo = |args: &[&str]| {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(args).current_dir(project.path()).env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_BIN_EXE_terrane")).ancestors().nth(2).unwrap().join("sdk-example"),
        );
        command
    };
    if let Err(why) = todo::crates_of(cargo) {
        return needs::skip(Need::Cargo, &format!("cargo cannot build a program with the library: {why}"));
    }
    let ran = cargo(&["run", "--quiet", "--offline"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("acme/numbers"));
}
