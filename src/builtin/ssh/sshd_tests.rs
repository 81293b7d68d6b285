//! The communicator against a real `sshd`.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use super::scp::UploadSource;
use super::settings::Settings;
use super::sshd::{Sshd, user_name};
use super::{Communicator, SshError};

fn settings(sshd: &Sshd, more: &[(&str, String)], agent: Option<PathBuf>) -> Settings {
    let get = |name: &str| match more.iter().find(|(key, _)| *key == name) {
        Some((_, value)) => Some(value.clone()),
        None => match name {
            "host" => Some("127.0.0.1".into()),
            "port" => Some(sshd.port.to_string()),
            "user" => Some(user_name()),
            "timeout" => Some("4s".into()),
            _ => None,
        },
    };
    Settings::read(&get, agent).unwrap()
}

async fn connect(sshd: &Sshd, more: &[(&str, String)]) -> Result<Communicator, SshError> {
    Communicator::connect(settings(sshd, more, None), &|_| {}).await
}

async fn echo(communicator: &mut Communicator) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    communicator.run("echo one; echo two >&2", &|line| seen.lock().unwrap().push(line.to_owned())).await.unwrap();
    seen.into_inner().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_certificates_host_keys_and_bastion() {
    let Some(sshd) = Sshd::start() else { return };
    let key = ("private_key", sshd.read("user"));
    let cases: Vec<(&str, Vec<(&str, String)>)> = vec![
        ("key", vec![key.clone()]),
        ("rsa key", vec![("private_key", sshd.read("user_rsa"))]),
        ("certificate", vec![("private_key", sshd.read("signed")), ("certificate", sshd.read("signed-cert.pub"))]),
        ("host key", vec![key.clone(), ("host_key", sshd.read("host.pub"))]),
        ("second host key", vec![key.clone(), ("host_key", sshd.read("host_rsa.pub"))]),
        (
            "bastion",
            vec![key.clone(), ("bastion_host", "127.0.0.1".into()), ("bastion_host_key", sshd.read("host.pub"))],
        ),
    ];
    for (name, more) in cases {
        let mut communicator =
            connect(&sshd, &more).await.unwrap_or_else(|e| panic!("{name}: {e}\n{}", sshd.read("log")));
        assert_eq!(echo(&mut communicator).await, ["one", "two"], "{name}");
    }
    let soon = ("timeout", "1500ms".to_owned());
    let wrong =
        connect(&sshd, &[key, soon.clone(), ("host_key", sshd.read("user.pub"))]).await.err().unwrap().to_string();
    assert!(
        wrong.starts_with("timeout - last error: SSH authentication failed (") && wrong.ends_with("key mismatch"),
        "{wrong}"
    );
    let refused = connect(&sshd, &[soon, ("private_key", sshd.read("ca"))]).await.err().unwrap().to_string();
    assert!(refused.ends_with("attempted methods [none publickey], no supported methods remain"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_scripts_and_exit_codes() {
    let Some(sshd) = Sshd::start() else { return };
    let mut communicator = connect(&sshd, &[("private_key", sshd.read("user"))]).await.unwrap();
    let script = sshd.path("it's a script.sh");
    let script = script.to_str().unwrap();
    communicator.upload_script(&script.replace("it's a ", ""), b"echo ran; exit 3").await.unwrap();
    let path = script.replace("it's a ", "");
    let error = communicator.run(&path, &|_| {}).await.unwrap_err().to_string();
    assert_eq!(error, format!("error executing \"{path}\": Process exited with status 3"));

    communicator.upload(script, UploadSource::Bytes(vec![b'x'; 3_000_000])).await.unwrap();
    assert_eq!(std::fs::metadata(script).unwrap().len(), 3_000_000);
    let nowhere = sshd.path("no/such/file").display().to_string();
    let missing = communicator.upload(&nowhere, UploadSource::Bytes(vec![1])).await.unwrap_err().to_string();
    assert!(missing.contains("No such file or directory"), "{missing}");

    std::fs::create_dir_all(sshd.path("tree/sub")).unwrap();
    std::fs::write(sshd.path("tree/sub/f"), "deep").unwrap();
    std::fs::create_dir(sshd.path("into")).unwrap();
    let (tree, into) = (sshd.path("tree").display().to_string(), sshd.path("into").display().to_string());
    communicator.upload_folder(&into, &tree).await.unwrap();
    communicator.upload_folder(&into, &format!("{tree}/")).await.unwrap();
    assert_eq!(sshd.read("into/tree/sub/f"), "deep");
    assert_eq!(sshd.read("into/sub/f"), "deep");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agent_signs() {
    let Some(sshd) = Sshd::start() else { return };
    let socket = sshd.path("agent.sock");
    let Ok(mut agent) = Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).spawn() else {
        return;
    };
    for _ in 0..50 {
        if socket.exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for name in ["ca", "user"] {
        let added = Command::new("ssh-add").arg("-q").arg(sshd.path(name)).env("SSH_AUTH_SOCK", &socket).status();
        assert!(added.unwrap().success());
    }
    let identity = sshd.path("user").display().to_string();
    let settings = settings(&sshd, &[("agent_identity", identity)], Some(socket));
    let result = Communicator::connect(settings, &|_| {}).await;
    agent.kill().ok();
    agent.wait().ok();
    assert_eq!(echo(&mut result.unwrap()).await, ["one", "two"]);
}
