//! Encrypted states and plans: a whole life without anything in clear on disk, migration, faults.

mod errors;
mod lives;
mod migration;
mod moved;
mod nothing_in_clear;
mod refused;
mod remote_states;

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::Project;

const SECRET: &str = "Zq7-secret<&>-wX9";
const PASSPHRASE: &str = "Kp4 pass phrase of the test";

/// The inside of an `encryption` block: `chain` are the methods of the state, of which there are `new`, `old` and `plain`.
fn block(chain: &[&str]) -> String {
    let provider = |name: &str| {
        format!(
            "key_provider \"pbkdf2\" \"{name}\" {{\n passphrase = \"${{var.passphrase}} {name}\"\n iterations = 200000\n hash_function = \
             \"sha256\"\n}}\nmethod \"aes_gcm\" \"{name}\" {{\n keys = key_provider.pbkdf2.{name}\n}}\n"
        )
    };
    let methods: Vec<String> = chain
        .iter()
        .map(|name| if *name == "plain" { "method.unencrypted.plain".into() } else { format!("method.aes_gcm.{name}") })
        .collect();
    let target = methods.join("\n fallback {\n method = ") + &"\n}".repeat(methods.len() - 1);
    let plain = if chain.contains(&"plain") { "method \"unencrypted\" \"plain\" {}\n" } else { "" };
    format!(
        "{}{}{plain}state {{\n method = {target}\n}}\nplan {{\n method = {target}\n}}\n",
        provider("new"),
        provider("old")
    )
}

/// A project whose values are given by the environment.
fn project(chain: &[&str], rest: &str) -> Project {
    let mut project = Project::new(&configuration(chain, rest));
    project.set("TF_VAR_secret", SECRET);
    project.set("TF_VAR_passphrase", PASSPHRASE);
    project
}

fn configuration(chain: &[&str], rest: &str) -> String {
    let encryption = match chain {
        [] => String::new(),
        chain => format!("terraform {{\n encryption {{\n{}}}\n}}\n", block(chain)),
    };
    format!(
        "{encryption}variable \"secret\" {{\n sensitive = true\n}}\nvariable \"passphrase\" {{\n sensitive = true\n}}\nvariable \"step\" \
         {{\n default = 1\n}}\nresource \"terraform_data\" \"a\" {{\n input = [var.secret, var.step]\n}}\noutput \"o\" {{\n value = \
         var.secret\n sensitive = true\n}}\n{rest}"
    )
}

/// How a text may hide: as it is, in JSON, in base64 at each offset.
fn disguises(text: &str) -> Vec<Vec<u8>> {
    let go = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let mut found = Vec::new();
    for plain in [text.to_owned(), go] {
        for shift in 0..3 {
            let coded = STANDARD.encode([&vec![0; shift][..], plain.as_bytes()].concat());
            let coded = coded.trim_end_matches('=');
            found.push(coded.as_bytes()[[0, 2, 3][shift]..coded.len() - 2].to_vec());
        }
        found.push(plain.into_bytes());
    }
    found
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => files(&path, found),
            Ok(metadata) if metadata.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// The files of a project in which a secret stands.
fn finds(project: &Project) -> Vec<PathBuf> {
    let mut all = Vec::new();
    files(&project.path(""), &mut all);
    let looks: Vec<Vec<u8>> = [SECRET, PASSPHRASE].iter().flat_map(|text| disguises(text)).collect();
    let has = |path: &PathBuf| {
        let content = std::fs::read(path).unwrap_or_default();
        looks.iter().any(|look| content.windows(look.len()).any(|part| part == look))
    };
    all.into_iter().filter(has).collect()
}
