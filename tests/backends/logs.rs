//! The log at trace level while states are on servers: it has lines of libraries, and no secret.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::places::{self, Place};
use crate::support::Project;
use crate::support::clouds::AZURE_KEY;
use crate::support::hcp::{HcpStub, TOKEN};
use crate::support::{cos, oss};

/// Where a test has its own secret.
const SECRET: &str = "hunter2-of-the-backend";
const VALUE: &str = "value-of-the-variable";
/// Schemes and headers that come with secrets, in lower case.
const MARKS: &[&str] = &[
    "authorization:",
    "authorization\"",
    "bearer ",
    "basic ",
    "sharedkey ",
    "aws4-hmac-sha256",
    "x-amz-security-token",
    "x-amz-signature",
    "x-consul-token",
    "keyid=",
    "set-cookie",
];
const BODY: &str = "variable \"v\" {\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\n";

/// Runs commands that read, lock, write and list states, with a log at trace level.
fn check(project: &mut Project, libraries: &[&str], secrets: &[&str]) {
    project.set("TF_VAR_v", VALUE);
    project.set("TF_LOG", "trace");
    let path = project.path("trace.log");
    project.set("TF_LOG_PATH", path);
    let commands: [&[&str]; 4] = [&["init"], &["apply", "-auto-approve"], &["plan"], &["state", "pull"]];
    for args in commands {
        project.ok(args);
    }
    let log = project.read("trace.log");
    for library in libraries {
        assert!(log.contains(&format!("[TRACE] {library}::")), "no line of {library} in\n{log}");
    }
    for secret in secrets.iter().chain(&[VALUE]) {
        assert!(!log.contains(secret), "{secret} in\n{log}");
    }
    let lower = log.to_lowercase();
    for mark in MARKS {
        assert!(!lower.contains(mark), "{mark} in\n{log}");
    }
}

/// A project in a place, with another text in its block.
fn project(place: &Place, from: &str, to: &str) -> Project {
    let project = place.project("logged", BODY);
    let block = project.read("work/backend.tf");
    assert!(block.contains(from), "{block}");
    project.write("work/backend.tf", &block.replace(from, to));
    project
}

/// Those that a request over HTTP is logged by; the plugin with the resource speaks HTTP/2.
const HTTP: &[&str] = &["h2", "hyper_util"];

#[test]
fn http() {
    let place = places::http();
    let login = format!("backend \"http\" {{\n    username = \"me\"\n    password = \"{SECRET}\"\n");
    let mut project = project(&place, "backend \"http\" {\n", &login);
    check(&mut project, HTTP, &[SECRET, &STANDARD.encode(format!("me:{SECRET}"))]);
}

#[test]
fn s3() {
    let Some(place) = places::s3() else { return };
    let mut project = project(
        &place,
        "secret_key     = \"s\"",
        &format!("secret_key = \"{SECRET}\"\n    token = \"{SECRET}-token\""),
    );
    check(&mut project, HTTP, &[SECRET]);
}

#[test]
fn s3_with_a_table() {
    let Some(place) = places::s3_with_a_table() else { return };
    let mut project = project(&place, "secret_key     = \"s\"", &format!("secret_key = \"{SECRET}\""));
    check(&mut project, HTTP, &[SECRET]);
}

#[test]
fn gcs() {
    let Some(place) = places::gcs() else { return };
    let mut project = project(&place, "= \"t\"", &format!("= \"{SECRET}\""));
    check(&mut project, HTTP, &[SECRET]);
}

#[test]
fn azurerm() {
    let Some(place) = places::azurerm() else { return };
    check(&mut place.project("logged", BODY), HTTP, &[AZURE_KEY]);
}

#[test]
fn consul() {
    let place = places::consul();
    let login =
        format!("path    = \"states/logged\"\n    access_token = \"{SECRET}\"\n    http_auth = \"me:{SECRET}-too\"");
    let mut project = project(&place, "path    = \"states/logged\"", &login);
    check(&mut project, HTTP, &[SECRET, &STANDARD.encode(format!("me:{SECRET}-too"))]);
}

#[test]
fn kubernetes() {
    let place = places::kubernetes();
    let mut project = place.project("logged", BODY);
    let settings = project.read("work/kubeconfig");
    project.write("work/kubeconfig", &settings.replace("{token: t}", &format!("{{token: {SECRET}}}")));
    check(&mut project, HTTP, &[SECRET]);
}

#[test]
fn pg() {
    let Some(place) = places::pg() else { return };
    let mut project = project(&place, "postgres://postgres@", &format!("postgres://postgres:{SECRET}@"));
    check(&mut project, &["h2"], &[SECRET]);
}

#[test]
fn oci() {
    let place = places::oci();
    let mut project = place.project("logged", BODY);
    check(&mut project, HTTP, &["PRIVATE KEY", "Signature "]);
}

#[test]
fn oss() {
    let place = places::oss();
    check(&mut place.project("logged", BODY), HTTP, &[oss::SECRET_KEY, &format!("OSS {}:", oss::ACCESS_KEY)]);
}

#[test]
fn cos() {
    let place = places::cos();
    check(&mut place.project("logged", BODY), HTTP, &[cos::SECRET_KEY, "q-signature="]);
}

#[test]
fn remote_and_cloud() {
    const HOST: &str = "tfe.example.com";
    let stub = HcpStub::start();
    for (block, workspaces) in [("cloud", "name = \"prod\""), ("backend \"remote\"", "name = \"other\"")] {
        let text = format!(
            "terraform {{\n  {block} {{\n    hostname     = \"{HOST}\"\n    organization = \"acme\"\n    workspaces {{\n      {workspaces}\n    }}\n  }}\n}}\n{BODY}"
        );
        let mut project = Project::new(&text);
        let file = project.write("home/settings.tfrc", &stub.settings(HOST));
        project.set("TF_CLI_CONFIG_FILE", file);
        check(&mut project, HTTP, &[TOKEN]);
    }
}
