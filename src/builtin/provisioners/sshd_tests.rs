//! The provisioners that connect, against a real `sshd`; skipped where there is none.

use std::sync::{Arc, Mutex};

use terrane_protocol::provider::{ProvisionRequest, Provisioner};
use terrane_value::{Type, Value};

use super::file::File;
use super::remote_exec::RemoteExec;
use crate::ssh::sshd::{Sshd, user_name};

async fn provision(sshd: &Sshd, provisioner: &dyn Provisioner, config: Value) -> (String, Vec<String>) {
    let lines = Arc::new(Mutex::new(String::new()));
    let sink = lines.clone();
    let connection = Value::object([
        ("host", Value::string("127.0.0.1")),
        ("port", Value::int(sshd.port.into())),
        ("user", Value::string(user_name())),
        ("agent", Value::bool(false)),
        ("private_key", Value::string(sshd.read("user"))),
        ("host_key", Value::string(sshd.read("host.pub"))),
        ("script_path", Value::string(format!("{}/script_%RAND%", sshd.path("").display()))),
        ("timeout", Value::string("5s")),
        ("password", Value::null(Type::String)),
    ]);
    let output = Arc::new(move |line: &str| *sink.lock().unwrap() += &format!("{line}\n"));
    let found = provisioner.provision(ProvisionRequest { config, connection, output }).await;
    let lines = lines.lock().unwrap().clone();
    (lines, found.into_iter().map(|diagnostic| diagnostic.detail).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_and_files() {
    let Some(sshd) = Sshd::start() else { return };
    let inline = |lines: &[&str]| {
        Value::object([
            ("inline", Value::strings(lines)),
            ("script", Value::null(Type::String)),
            ("scripts", Value::null(Type::list(Type::String))),
        ])
    };
    let (output, errors) = provision(&sshd, &RemoteExec::default(), inline(&["echo hello", "echo done"])).await;
    assert_eq!(errors, [""; 0]);
    assert!(output.starts_with("Connecting to remote host via SSH...\n  Host: 127.0.0.1\n"), "{output}");
    assert!(output.ends_with("  Target Platform: unix\nConnected!\nhello\ndone\n"), "{output}");
    let (_, errors) = provision(&sshd, &RemoteExec::default(), inline(&["exit 4"])).await;
    assert!(errors[0].starts_with("error executing \"") && errors[0].ends_with("exited with status 4"), "{errors:?}");

    let file = |name: &str, value: &str| {
        let mut all = vec![("source", Value::null(Type::String)), ("content", Value::null(Type::String))];
        all.retain(|(other, _)| *other != name);
        all.push(("destination", Value::string(sshd.path("copied").display().to_string())));
        Value::object(
            all.into_iter().chain([(if name == "source" { "source" } else { "content" }, Value::string(value))]),
        )
    };
    let (_, errors) = provision(&sshd, &File::default(), file("content", "text")).await;
    assert_eq!((errors.len(), sshd.read("copied").as_str()), (0, "text"));
    let source = sshd.path("host.pub").display().to_string();
    let (_, errors) = provision(&sshd, &File::default(), file("source", &source)).await;
    assert_eq!((errors.len(), sshd.read("copied")), (0, sshd.read("host.pub")));
}
