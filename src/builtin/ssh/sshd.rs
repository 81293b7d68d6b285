//! A real `sshd` on the loopback interface for tests, with generated keys; absent if it is not installed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::needs::{self, Need};

pub struct Sshd {
    process: Child,
    folder: tempfile::TempDir,
    pub port: u16,
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
    /// None, and the test is skipped, if there is no sshd on this machine.
    pub fn start() -> Option<Sshd> {
        let program =
            ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"].iter().find(|p| Path::new(p).exists());
        let Some(program) = program else {
            needs::skip(Need::Sshd, "there is no sshd on this machine");
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
            ("host_ca", "ed25519"),
            ("signed", "ed25519"),
        ] {
            new_key(&at(name), kind);
        }
        let user = user_name();
        keygen(&["-q", "-s", at("ca").to_str().unwrap(), "-I", "id", "-n", &user, at("signed.pub").to_str().unwrap()]);
        let host = at("host.pub");
        keygen(&[
            "-q",
            "-s",
            at("host_ca").to_str().unwrap(),
            "-I",
            "h",
            "-h",
            "-n",
            "localhost",
            host.to_str().unwrap(),
        ]);
        let keys = ["user.pub", "user_rsa.pub"].map(|name| std::fs::read_to_string(at(name)).unwrap()).concat();
        std::fs::write(at("authorized"), keys).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let show = |name: &str| at(name).display().to_string();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nHostCertificate {}\nHostKey {}\nAuthorizedKeysFile {}\n\
             TrustedUserCAKeys {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             PermitRootLogin yes\nAllowTcpForwarding yes\n",
            show("host"),
            show("host-cert.pub"),
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

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

pub fn user_name() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
