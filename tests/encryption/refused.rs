//! States that no store takes, and states that cannot be encrypted.

use std::sync::{Arc, Mutex};

use super::{PASSPHRASE, configuration, finds, project};
use crate::support::Project;
use crate::support::server::{Asked, Reply, Server};

/// A state server that can refuse writes.
fn server(project: &mut crate::support::Project) -> (Server, Arc<Mutex<(Vec<u8>, bool)>>) {
    let kept = Arc::new(Mutex::new((Vec::new(), false)));
    let shared = kept.clone();
    let server = Server::start(project, move |asked: &Asked| {
        let mut kept = shared.lock().unwrap();
        match (asked.method.as_str(), kept.1) {
            ("GET", _) if kept.0.is_empty() => Some(Reply::status("404 Not Found")),
            ("GET", _) => Some(Reply::status("200 OK").body(kept.0.clone())),
            ("POST", true) => Some(Reply::status("403 Forbidden")),
            ("POST", false) => {
                kept.0 = asked.body.clone();
                Some(Reply::status("200 OK"))
            }
            _ => Some(Reply::status("200 OK")),
        }
    });
    (server, kept)
}

#[test]
fn an_encrypted_errored_state_can_be_pushed() {
    let mut project = project(&["new"], "terraform {\n backend \"http\" {}\n}\n");
    let (server, kept) = server(&mut project);
    project.set("TF_HTTP_ADDRESS", server.url("/state"));
    project.ok(&["init"]);
    kept.lock().unwrap().1 = true;
    let apply = project.run(&["apply", "-auto-approve", "-no-color"]);
    apply.expect(1, &["Failed to save state", "state push errored.tfstate"]);
    let errored = project.read("work/errored.tfstate");
    assert!(errored.starts_with("{\n  \"serial\": ") && errored.ends_with("\n}\n"), "{errored}");
    assert_eq!(finds(&project), Vec::<std::path::PathBuf>::new());
    kept.lock().unwrap().1 = false;
    project.ok(&["state", "push", "errored.tfstate"]);
    assert!(String::from_utf8_lossy(&kept.lock().unwrap().0).contains("\"encrypted_data\""));
    assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0));
}

/// A method that cannot encrypt: nothing is begun, and no empty file is left.
#[test]
fn a_method_that_fails_leaves_no_empty_files() {
    let project = project(&[], "");
    let method = "terraform {\n encryption {\n method \"external\" \"m\" {\n encrypt_command = [\"sh\", \"-c\", \"exit 4\"]\n decrypt_command \
                  = [\"sh\", \"-c\", \"exit 4\"]\n }\n state {\n method = method.external.m\n }\n }\n}\n";
    project.write("work/main.tf", &(method.to_owned() + &configuration(&[], "")));
    project.ok(&["init"]);
    let apply = project.run(&["apply", "-auto-approve", "-no-color"]);
    apply.expect(1, &["external encryption method exited with non-zero exit code (exit status 4)"]);
    for file in ["errored.tfstate", "terraform.tfstate", "terraform.tfstate.backup", ".terraform.tfstate.journal"] {
        assert!(!project.exists(&format!("work/{file}")), "{file}");
    }
    assert!(!apply.text().contains("terraform_data.a: Creation complete"), "{}", apply.text());
}

/// As OpenTofu 1.12.6: keys come before everything else.
#[test]
fn init_makes_the_keys_before_it_opens_the_backend() {
    let project = project(&[], "");
    let with = |passphrase: &str, rest: &str| {
        format!(
            "terraform {{\n encryption {{\n key_provider \"pbkdf2\" \"k\" {{\n passphrase = \"{passphrase}\"\n }}\n method \"aes_gcm\" \
             \"m\" {{\n keys = key_provider.pbkdf2.k\n }}\n state {{\n method = method.aes_gcm.m\n }}\n }}\n backend \"local\" {{\n path = \
             \"s.tfstate\"\n }}\n}}\n{rest}"
        )
    };
    project.write("work/main.tf", &with("short", ""));
    let init = project.run(&["init", "-no-color"]);
    init.expect(1, &["passphrase is too short"]);
    assert_eq!(init.out, "");
    project.write("work/main.tf", &with("long enough for a key", "bogus {}\n"));
    let init = project.run(&["init", "-no-color"]);
    init.expect(1, &["Unsupported block type"]);
    assert_eq!(init.out, "");
    assert!(!project.exists("work/.terraform"));
}

/// As OpenTofu 1.12.6: a block with errors is not counted.
#[test]
fn an_encryption_block_with_errors_is_no_duplicate() {
    let project = project(&[], "");
    project.write("work/main.tf", "terraform {\n encryption {\n bogus = 1\n }\n encryption {}\n}\n");
    let validate = project.run(&["validate", "-no-color"]);
    validate.expect(1, &["Unsupported argument"]);
    assert!(!validate.text().contains("Duplicate encryption configuration"), "{}", validate.text());
    project.write("work/main.tf", "terraform {\n encryption {}\n encryption {}\n}\n");
    project.run(&["validate", "-no-color"]).expect(1, &["Duplicate encryption configuration"]);
}

/// The warning comes before the plan, as that of OpenTofu 1.12.6.
#[test]
fn a_plan_begins_with_the_warning_about_unencrypted_states() {
    let project = project(&["plain"], "");
    project.ok(&["init"]);
    for command in [["plan", "-no-color"], ["refresh", "-no-color"]] {
        let out = project.ok(&command).out;
        assert!(out.starts_with("\nWarning: Unencrypted method configured\n"), "{out}");
        assert_eq!(out.matches("Unencrypted method configured").count(), 1, "{out}");
    }
}

/// What encrypts the state must not lie in clear in a plan, without a word.
#[test]
fn a_plan_in_clear_with_a_passphrase_is_warned_of() {
    let configuration = |attribute: &str, plan: &str| {
        format!(
            "variable \"passphrase\" {{\n  {attribute}\n}}\nvariable \"rounds\" {{\n  type    = number\n  default = 600000\n}}\nterraform {{\n  encryption {{\n    key_provider \"pbkdf2\" \"a\" {{\n      \
             passphrase = local.words\n      iterations = var.rounds\n    }}\n    method \"aes_gcm\" \"a\" {{\n      keys = key_provider.pbkdf2.a\n    }}\n    state {{\n      \
             method = method.aes_gcm.a\n    }}\n    {plan}\n  }}\n}}\nlocals {{\n  words = \"${{var.passphrase}} and more\"\n}}\n\
             resource \"terraform_data\" \"a\" {{}}\n"
        )
    };
    let unencrypted = "method \"unencrypted\" \"u\" {}\n    plan {\n      method = method.unencrypted.u\n    }";
    let in_plan = "plan {\n      method = method.aes_gcm.a\n    }";
    for (attribute, plan, name, is_warned) in [
        ("sensitive = true", "", "", true),
        ("sensitive = true", "", "tofu", false),
        ("sensitive = true", in_plan, "", false),
        ("sensitive = true", unencrypted, "", true),
        ("ephemeral = true", "", "", false),
    ] {
        let mut project = Project::new(&configuration(attribute, plan));
        project.set("TF_VAR_passphrase", PASSPHRASE);
        if !name.is_empty() {
            project.set("TERRANE_NAME", name);
        }
        project.ok(&["init"]);
        let shown = project.ok(&["plan", "-out=p", "-var=rounds=600001"]).out;
        let found = shown.contains("The plan file contains a passphrase");
        assert_eq!(
            (found, shown.contains("it contains the value of var.passphrase")),
            (is_warned, is_warned),
            "{attribute} {plan}: {shown}"
        );
        project.ok(&["apply", "p"]);
    }
}
