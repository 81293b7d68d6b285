//! Earlier snapshots of the state: kept, listed and restored.

use crate::support::{Outcome, Project};

fn project() -> Project {
    let project = Project::new("");
    change(&project, "one");
    change(&project, "two");
    project
}

fn change(project: &Project, value: &str) {
    project.write("work/main.tf", &format!("resource \"terraform_data\" \"{value}\" {{\n  input = \"{value}\"\n}}\n"));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
}

fn history(project: &Project) -> serde_json::Value {
    serde_json::from_str(&project.ok(&["state", "history", "-json"]).out).unwrap()
}

/// Serials and what wrote them.
fn listed(project: &Project) -> Vec<(u64, String)> {
    let document = history(project);
    let snapshots = document["snapshots"].as_array().unwrap().iter();
    snapshots.map(|s| (s["serial"].as_u64().unwrap(), s["operation"].as_str().unwrap().to_owned())).collect()
}

fn state(project: &Project) -> serde_json::Value {
    serde_json::from_str(&project.read("work/terraform.tfstate")).unwrap()
}

#[test]
fn an_earlier_snapshot_comes_back_as_the_next_one() {
    let project = project();
    let before = state(&project);
    let serials = listed(&project);
    assert_eq!(serials[0].1, "apply");
    let (newest, oldest) = (serials[0].0, serials.last().unwrap().0);
    assert!(oldest < newest);
    let text = project.ok(&["state", "history"]).out;
    assert!(text.starts_with("  SERIAL") && text.contains(&format!("* {newest} ")), "{text}");

    let wanted = oldest.to_string();
    let shown = project.ok(&["state", "restore", "-dry-run", "-no-color", &wanted]).out;
    assert!(shown.contains("  + terraform_data.one\n  - terraform_data.two\n"), "{shown}");
    assert_eq!(state(&project), before);
    project.run(&["state", "restore", &wanted]).expect(1, &["Error asking for approval: EOF"]);
    assert_eq!(state(&project), before);

    let done: Outcome = project.ok(&["state", "restore", "-auto-approve", &wanted]);
    assert!(done.out.contains(&format!("Restored serial {oldest} as serial {}.", newest + 1)), "{}", done.out);
    let after = state(&project);
    assert_eq!((&after["lineage"], after["serial"].as_u64().unwrap()), (&before["lineage"], newest + 1));
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.one\n");
    let names: Vec<String> = std::fs::read_dir(project.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("terraform.tfstate.") && name.ends_with(".backup")), "{names:?}");
    assert_eq!(listed(&project)[0], (newest + 1, "state restore".into()));
    let again = project.ok(&["state", "restore", "-auto-approve", &wanted]).out;
    assert!(again.contains("Nothing was changed."), "{again}");
}

#[test]
fn what_cannot_be_restored_is_refused() {
    let project = project();
    let serial = listed(&project)[1].0.to_string();
    project.run(&["state", "restore", "-auto-approve", "999"]).expect(1, &["Error: No such snapshot"]);
    project.run(&["state", "restore", "x"]).expect(1, &["The serial must be a whole number"]);
    let mut other = state(&project);
    other["lineage"] = "another".into();
    project.write("work/terraform.tfstate", &other.to_string());
    let restore = |more: &[&str]| project.run(&[&["state", "restore", "-auto-approve"], more].concat());
    restore(&[&serial]).expect(1, &["Error: Snapshot of another state", "use -force"]);
    restore(&["-force", &serial]).expect(0, &["Restored serial"]);
    assert_eq!(state(&project)["lineage"], "another");
}

#[test]
fn a_lost_state_comes_back() {
    let project = project();
    let lineage = state(&project)["lineage"].clone();
    let serial = listed(&project)[0].0;
    std::fs::remove_file(project.path("work/terraform.tfstate")).unwrap();
    assert!(history(&project)["current"].is_null());
    project.ok(&["state", "restore", "-auto-approve", &serial.to_string()]);
    assert_eq!((state(&project)["lineage"].clone(), state(&project)["serial"].as_u64()), (lineage, Some(serial + 1)));
    assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.two\n");
}

#[test]
fn workspaces_have_their_own_and_the_number_is_limited() {
    let mut project = project();
    project.ok(&["workspace", "new", "w"]);
    assert!(listed(&project).is_empty());
    let text = project.ok(&["state", "history"]).out;
    assert_eq!(text, "No snapshots of the workspace \"w\" are kept on this machine.\n");
    project.ok(&["apply", "-auto-approve"]);
    assert_eq!(listed(&project).len(), 1);
    project.set("TERRANE_STATE_HISTORY", "2");
    for mark in ["taint", "untaint", "taint"] {
        project.ok(&[mark, "terraform_data.two"]);
    }
    let kept = listed(&project);
    assert_eq!(kept.len(), 2);
    assert_eq!((kept[0].1.as_str(), kept[1].1.as_str()), ("taint", "untaint"));
    project.set("TERRANE_STATE_HISTORY", "0");
    project.run(&["state", "history"]).expect(1, &["Error: No history is kept"]);
    project.ok(&["untaint", "terraform_data.two"]);
    project.set("TERRANE_STATE_HISTORY", "2");
    assert_eq!(listed(&project), kept);
}

/// What is kept is as secret as the state, also what was kept before states were encrypted.
#[test]
fn snapshots_are_encrypted_where_states_are() {
    let project = Project::new("");
    let resource = "resource \"terraform_data\" \"a\" {\n  input = \"hunter2-hunter2\"\n}\n";
    let encryption = r#"
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct horse battery staple"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    method "unencrypted" "u" {}
    state {
      method = method.aes_gcm.m
      fallback {
        method = method.unencrypted.u
      }
    }
  }
}
"#;
    project.write("work/main.tf", resource);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &format!("{resource}{encryption}"));
    project.ok(&["taint", "terraform_data.a"]);
    let document = history(&project);
    let snapshots = document["snapshots"].as_array().unwrap();
    assert_eq!(snapshots.len(), 2);
    assert!(snapshots.iter().all(|snapshot| snapshot["encrypted"] == true), "{document}");
    for entry in std::fs::read_dir(project.path("work/.terraform/history/default")).unwrap() {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        let body = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        assert!(content[body..].starts_with(b"{"), "no compressed text");
    }
    let oldest = snapshots[1]["serial"].to_string();
    project.ok(&["state", "restore", "-auto-approve", &oldest]);
    let pulled: serde_json::Value = serde_json::from_str(&project.ok(&["state", "pull"]).out).unwrap();
    assert!(pulled["resources"][0]["instances"][0]["status"].is_null());
}
