//! Earlier states that the store itself keeps: another machine lists and restores them.

use serde_json::Value;

use super::clouds::s3;
use super::counted::other_directory;
use crate::support::Project;
use crate::support::hcp::HcpStub;

fn body(name: &str) -> String {
    format!("resource \"terraform_data\" \"{name}\" {{\n  input = \"{name}\"\n}}\n")
}

/// Two states are written from one directory; another, which has never seen the first, brings it back.
fn another_directory_restores(project: &Project, also: impl Fn(&mut Project), is_encrypted: bool) {
    project.write("work/main.tf", &body("one"));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &body("two"));
    project.ok(&["apply", "-auto-approve"]);

    let mut other = other_directory(project, &["backend.tf", "main.tf"]);
    also(&mut other);
    other.ok(&["init"]);
    let document: Value = serde_json::from_str(&other.ok(&["state", "history", "-json"]).out).unwrap();
    let snapshots = document["snapshots"].as_array().unwrap();
    let current = snapshots.iter().position(|one| one["current"] == true).unwrap();
    assert_eq!(current, 0, "{document}");
    for one in snapshots {
        assert_eq!(one["operation"], "(kept by the store)");
        assert_eq!(one["encrypted"], is_encrypted);
        assert!(one["version"].is_string());
    }
    let first = snapshots.iter().map(|one| one["serial"].as_u64().unwrap()).min().unwrap().to_string();
    other
        .ok(&["state", "restore", "-auto-approve", &first])
        .expect(0, &["+ terraform_data.one", "- terraform_data.two"]);
    assert_eq!(other.ok(&["state", "list"]).out, "terraform_data.one\n");
    other.run(&["state", "restore", "-auto-approve", "999"]).expect(1, &["kept on this machine or by the store"]);

    // What is in both places is listed once.
    let document: Value = serde_json::from_str(&project.ok(&["state", "history", "-json"]).out).unwrap();
    let mut serials: Vec<u64> =
        document["snapshots"].as_array().unwrap().iter().map(|one| one["serial"].as_u64().unwrap()).collect();
    let all = serials.len();
    serials.dedup();
    assert_eq!(serials.len(), all, "{document}");
}

fn in_s3(also: impl Fn(&mut Project), is_encrypted: bool) {
    let Some(store) = s3::with_file() else { return };
    store.server.keep_versions("states");
    let mut project = Project::new("");
    project.write("work/backend.tf", &format!("terraform {{\n  {}\n}}\n", (store.block)(store.way.port, "v")));
    also(&mut project);
    another_directory_restores(&project, also, is_encrypted);
}

#[test]
fn in_a_bucket_with_versions() {
    in_s3(|_| {}, false);
}

/// The value of `TF_ENCRYPTION` with this in its block `state`.
fn encryption(state: &str) -> String {
    format!(
        r#"key_provider "pbkdf2" "k" {{
  passphrase = "a long passphrase for the test"
  iterations = 200000
}}
method "aes_gcm" "m" {{
  keys = key_provider.pbkdf2.k
}}
method "unencrypted" "u" {{}}
state {{
  method = method.aes_gcm.m
  {state}
}}"#
    )
}

#[test]
fn encrypted_in_a_bucket_with_versions() {
    in_s3(|project| project.set("TF_ENCRYPTION", encryption("enforced = true")), true);
}

/// Versions from before states were encrypted.
#[test]
fn versions_that_cannot_be_read_are_reported() {
    let Some(store) = s3::with_file() else { return };
    store.server.keep_versions("states");
    let mut project = Project::new("");
    project.write("work/backend.tf", &format!("terraform {{\n  {}\n}}\n", (store.block)(store.way.port, "v")));
    project.write("work/main.tf", &body("one"));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.set("TF_ENCRYPTION", encryption("fallback {\n    method = method.unencrypted.u\n  }"));
    project.write("work/main.tf", &body("two"));
    project.ok(&["apply", "-auto-approve"]);

    let mut other = other_directory(&project, &["backend.tf", "main.tf"]);
    other.set("TF_ENCRYPTION", encryption("enforced = true"));
    other.ok(&["init"]);
    let warning =
        ["Warning: Versions of the state could not be read", "of the versions that the store keeps could not be read"];
    other.ok(&["state", "history"]).expect(0, &warning);
    let listed: Value = serde_json::from_str(&other.ok(&["state", "history", "-json"]).out).unwrap();
    assert_eq!(listed["diagnostics"][0]["severity"], "warning");
    assert!(listed["snapshots"].as_array().unwrap().iter().all(|one| one["encrypted"] == true), "{listed}");
    other.run(&["state", "restore", "-auto-approve", "1"]).expect(1, &["No such snapshot", "could not be read"]);
}

#[test]
fn in_a_workspace_of_hcp_terraform() {
    let stub = HcpStub::start();
    let also = |project: &mut Project| {
        let file = project.write("home/settings.tfrc", &stub.settings("tfe.example.com"));
        project.set("TF_CLI_CONFIG_FILE", file);
    };
    let mut project = Project::new("");
    project.write(
        "work/backend.tf",
        "terraform {\n  cloud {\n    hostname = \"tfe.example.com\"\n    organization = \"acme\"\n    workspaces {\n      name = \"prod\"\n    }\n  }\n}\n",
    );
    also(&mut project);
    another_directory_restores(&project, also, false);
}
