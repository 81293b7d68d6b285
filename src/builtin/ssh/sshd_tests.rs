//! The communicator against a real `sshd` on loopback; skipped, with a message, where there is none.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use super::Communicator;
use super::scp::Source;
use super::settings::Settings;

struct Sshd {
    process: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn keygen(arguments: &[&str]) {
    let status = Command::new("ssh-keygen").args(arguments).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}

fn new_key(path: &Path, kind: &str) {
    keygen(&["-q", "-t", kind, "-N", "", "-m", "PEM", "-f", path.to_str().unwrap()]);
}

impl Sshd {
    fn start() -> Option<Sshd> {
        let program =
            ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"].iter().find(|p| Path::new(p).exists());
        let Some(program) = program else {
            std::io::stderr().write_all(b"skipped: no sshd on this machine\n").ok();
            return None;
        };
        // Without it sshd refuses to start as root; as another user it is not needed.
        std::fs::create_dir_all("/run/sshd").ok();
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, kind) in [
            ("host", "ed25519"),
            ("host_rsa", "rsa"),
            ("user", "ed25519"),
            ("user_rsa", "rsa"),
            ("ca", "ed25519"),
            ("signed", "ed25519"),
        ] {
            new_key(&at(name), kind);
        }
        let user = user_name();
        keygen(&["-q", "-s", at("ca").to_str().unwrap(), "-I", "id", "-n", &user, at("signed.pub").to_str().unwrap()]);
        let keys = ["user.pub", "user_rsa.pub"].map(|name| std::fs::read_to_string(at(name)).unwrap()).concat();
        std::fs::write(at("authorized"), keys).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let show = |name: &str| at(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nHostKey {}\nAuthorizedKeysFile {}\nTrustedUserCAKeys {}\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nAllowTcpForwarding yes\n",
            show("host"),
            show("host_rsa"),
            show("authorized"),
            show("ca.pub"),
        );
        std::fs::write(at("config"), config).unwrap();
        let process = Command::new(program)
            .args(["-D", "-e", "-f", &show("config")])
            .stderr(std::fs::File::create(at("log")).unwrap())
            .spawn()
            .unwrap();
        Some(Sshd { process, folder, port })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn settings(&self, more: &[(&str, String)], agent: Option<PathBuf>) -> Settings {
        let get = |name: &str| match more.iter().find(|(key, _)| *key == name) {
            Some((_, value)) => Some(value.clone()),
            None => match name {
                "host" => Some("127.0.0.1".into()),
                "port" => Some(self.port.to_string()),
                "user" => Some(user_name()),
                "timeout" => Some("4s".into()),
                _ => None,
            },
        };
        Settings::read(&get, agent).unwrap()
    }

    async fn connect(&self, more: &[(&str, String)]) -> Result<Communicator, String> {
        Communicator::connect(self.settings(more, None), &|_| {}).await
    }
}

fn user_name() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
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
            sshd.connect(&more).await.unwrap_or_else(|e| panic!("{name}: {e}\n{}", sshd.read("log")));
        assert_eq!(echo(&mut communicator).await, ["one", "two"], "{name}");
    }
    let soon = ("timeout", "1500ms".to_owned());
    let wrong = sshd.connect(&[key, soon.clone(), ("host_key", sshd.read("user.pub"))]).await.err().unwrap();
    assert!(
        wrong.starts_with("timeout - last error: SSH authentication failed (") && wrong.ends_with("key mismatch"),
        "{wrong}"
    );
    let refused = sshd.connect(&[soon, ("private_key", sshd.read("ca"))]).await.err().unwrap();
    assert!(refused.ends_with("attempted methods [none publickey], no supported methods remain"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_scripts_and_exit_codes() {
    let Some(sshd) = Sshd::start() else { return };
    let mut communicator = sshd.connect(&[("private_key", sshd.read("user"))]).await.unwrap();
    let script = sshd.path("it's a script.sh");
    let script = script.to_str().unwrap();
    communicator.upload_script(&script.replace("it's a ", ""), b"echo ran; exit 3").await.unwrap();
    let path = script.replace("it's a ", "");
    let error = communicator.run(&path, &|_| {}).await.unwrap_err().to_string();
    assert_eq!(error, format!("error executing \"{path}\": Process exited with status 3"));

    communicator.upload(script, Source::Bytes(vec![b'x'; 3_000_000])).await.unwrap();
    assert_eq!(std::fs::metadata(script).unwrap().len(), 3_000_000);
    let nowhere = sshd.path("no/such/file").display().to_string();
    let missing = communicator.upload(&nowhere, Source::Bytes(vec![1])).await.unwrap_err();
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
    let settings = sshd.settings(&[("agent_identity", identity)], Some(socket));
    let result = Communicator::connect(settings, &|_| {}).await;
    agent.kill().ok();
    agent.wait().ok();
    assert_eq!(echo(&mut result.unwrap()).await, ["one", "two"]);
}
