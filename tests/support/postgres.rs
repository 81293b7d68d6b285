//! A PostgreSQL server of a test: on a free port of the loopback, in a temporary folder, ended with its last user.
//!
//! Stands alone: the library's own tests use this file too.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use super::needs::{self, Need};

pub struct Postgres {
    pub port: u16,
    programs: PathBuf,
    folder: tempfile::TempDir,
    /// Settings of the server besides those of all tests.
    settings: Vec<&'static str>,
    /// A shell that ends the server when its input ends, which it does with this process.
    running: Mutex<Option<Child>>,
}

/// Names of databases that tests take.
static DATABASES: AtomicU32 = AtomicU32::new(0);

impl Postgres {
    /// The server that the tests of this process share; None, and the test is skipped, if this machine has none.
    pub fn shared() -> Option<Arc<Postgres>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Postgres::start()?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// A separate server, for a test that stops it.
    pub fn start() -> Option<Postgres> {
        let server = Postgres::new(Vec::new())?;
        server.launch();
        Some(server)
    }

    /// A server of its own that also speaks TLS, with a certificate and its key in PEM.
    pub fn with_tls(certificate: &str, key: &str) -> Option<Postgres> {
        let server = Postgres::new(vec!["ssl=on"])?;
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = server.data().join(name);
            std::fs::write(&path, text).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::{PermissionsExt, chown};
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
                if let Some((user, group)) = other_user() {
                    chown(&path, Some(user), Some(group)).unwrap();
                }
            }
        }
        server.launch();
        Some(server)
    }

    /// A server that was not launched yet.
    fn new(settings: Vec<&'static str>) -> Option<Postgres> {
        let Some(programs) = programs() else {
            needs::skip(Need::Postgres, "there is no initdb, postgres and psql on the PATH or in /usr/lib/postgresql");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Postgres { port, programs, folder, settings, running: Mutex::default() };
        server.own();
        let mut initdb = server.command("initdb");
        initdb.args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C", "-D"]);
        let made = initdb.arg(server.data()).output().unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of the server's. It refuses to run as root.
    fn command(&self, name: &str) -> Command {
        self.as_owner(Command::new(self.programs.join(name)))
    }

    fn as_owner(&self, mut command: Command) -> Command {
        command.current_dir(self.folder.path());
        #[cfg(unix)]
        if let Some((user, group)) = other_user() {
            use std::os::unix::process::CommandExt;
            command.uid(user).gid(group);
        }
        command
    }

    /// Gives the folder to the user that the server runs as.
    fn own(&self) {
        #[cfg(unix)]
        if let Some((user, group)) = other_user() {
            std::os::unix::fs::chown(self.folder.path(), Some(user), Some(group)).unwrap();
        }
    }

    /// Starts the server, which was not started yet or ended, and waits until it answers.
    pub fn launch(&self) {
        let script = r#""$@" >>log 2>&1 & echo $!; cat >/dev/null; kill -QUIT $!; wait"#;
        let mut command = self.as_owner(Command::new("sh"));
        command.args(["-c", script, "sh"]).arg(self.programs.join("postgres")).arg("-D").arg(self.data());
        command.args(["-p", &self.port.to_string(), "-k"]).arg(self.folder.path());
        let common = ["listen_addresses=127.0.0.1", "fsync=off", "max_connections=200", "log_statement=all"];
        for setting in common.iter().chain(&self.settings) {
            command.args(["-c", setting]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        *self.running.lock().unwrap() = Some(child);
        let end = Instant::now() + Duration::from_secs(60);
        while !self.answers() {
            assert!(Instant::now() < end, "the server does not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn answers(&self) -> bool {
        let ready = self.command("pg_isready").args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).status();
        match ready {
            Ok(status) => status.success(),
            Err(_) => TcpStream::connect(("127.0.0.1", self.port)).is_ok(),
        }
    }

    /// Ends the server and all that it does, as a crash would.
    pub fn crash(&self) {
        if let Some(mut child) = self.running.lock().unwrap().take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Runs statements as the superuser, each by itself; gives the rows, columns separated by `|`.
    pub fn run(&self, database: &str, statements: &str) -> String {
        let mut psql = self.command("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres"]);
        let output = psql.args(["-p", &self.port.to_string(), "-d", database, "-c", statements]).output().unwrap();
        assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A new database of this test alone: locks are per database.
    pub fn database(&self) -> String {
        let name = format!("test{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The connection string of a database.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.crash();
    }
}

/// The folder with the server's programs: one of PATH, or the newest that the system's packages installed.
fn programs() -> Option<PathBuf> {
    let has_them = |folder: &Path| ["initdb", "postgres", "psql"].iter().all(|name| folder.join(name).is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&path).find(|folder| has_them(folder)) {
        return Some(folder);
    }
    let installed = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut folders: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).filter(|f| has_them(f)).collect();
    folders.sort();
    folders.pop()
}

/// The user that runs the server if this process is root: `postgres`, or `nobody`.
#[cfg(unix)]
fn other_user() -> Option<(u32, u32)> {
    // SAFETY: cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let entry = |name: &str| {
        let fields: Vec<&str> = users.lines().find(|line| line.starts_with(&format!("{name}:")))?.split(':').collect();
        Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
    };
    entry("postgres").or_else(|| entry("nobody"))
}
