//! States that no store takes, and states that cannot be encrypted.

use std::sync::{Arc, Mutex};

use super::{configuration, finds, project};
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
