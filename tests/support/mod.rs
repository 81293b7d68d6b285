//! Shared parts of the integration tests: projects in temporary folders, commands run in them, and remaining processes.
//!
//! Knows the program only from outside: arguments in, screens and files out.

pub mod catalogue;
// The library's own tests use more of it.
#[allow(dead_code)]
pub mod clouds;
#[allow(dead_code)]
pub mod consul;
#[allow(dead_code)]
pub mod cos;
pub mod depot;
pub mod faulty;
#[allow(dead_code)]
pub mod hcp;
#[allow(dead_code)]
pub mod hcp_runs;
#[allow(dead_code)]
pub mod kubernetes;
pub mod mirror;
#[allow(dead_code)]
pub mod needs;
#[allow(dead_code)]
pub mod oci;
#[allow(dead_code)]
pub mod oss;
pub mod postgres;
pub mod processes;
pub mod proxy;
pub mod registry;
pub mod relay;
pub mod served;
pub mod server;
pub mod signing;
#[allow(dead_code)]
pub mod stub;
#[allow(dead_code)]
pub mod terminal;
pub mod trouble;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use needs::Need;
pub use needs::reference;

/// Timeout for all commands, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The program under test; measurements name another build of it.
pub fn program() -> &'static Path {
    static PROGRAM: std::sync::LazyLock<PathBuf> = std::sync::LazyLock::new(|| {
        let named = std::env::var_os("TERRANE_TEST_PROGRAM").map(|path| std::path::absolute(path).unwrap());
        named.unwrap_or_else(|| env!("CARGO_BIN_EXE_terrane").into())
    });
    &PROGRAM
}

/// The release whose answers tests expect of the program by this name, unless they say otherwise.
pub fn recorded_release(name: &str) -> &'static str {
    if name == "tofu" { "1.12.6" } else { needs::REFERENCE }
}

/// How packages of providers name this machine.
pub fn platform() -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}_{arch}", std::env::consts::OS)
}

/// Waits until a condition is met; panics if time is up before.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A configuration in a temporary folder, which is removed at the end.
pub struct Project {
    folder: tempfile::TempDir,
    /// In the environment of every process that is started in it.
    mark: String,
    variables: Vec<(String, String)>,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Where a shell started the tests in the background or `nohup` did, they ignore these signals, and so would the programs that they start.
fn heed_interrupts() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the calls touch no memory.
    ONCE.call_once(|| unsafe {
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::signal(libc::SIGQUIT, libc::SIG_DFL);
        libc::signal(libc::SIGHUP, libc::SIG_DFL);
    });
}

impl Project {
    pub fn new(main: &str) -> Project {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        heed_interrupts();
        let folder = tempfile::Builder::new().prefix("terrane-test-").tempdir().unwrap();
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let project = Project { folder, mark, variables: Vec::new() };
        std::fs::create_dir_all(project.path("home")).unwrap();
        std::fs::create_dir_all(project.path("tmp")).unwrap();
        project.write("work/main.tf", main);
        project
    }

    /// The folder of the configuration.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// A path in the project; the configuration is in `work`, the user's home in `home`.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Writes a file, making its folders.
    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a program.
    pub fn script(&self, below: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(below, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap_or_else(|e| panic!("{below}: {e}"))
    }

    pub fn exists(&self, below: &str) -> bool {
        self.path(below).exists()
    }

    /// Sets a variable for all commands that follow.
    pub fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        self.variables.push((name.to_owned(), value.as_ref().display().to_string()));
    }

    /// Leaves a variable out for all commands that follow.
    #[allow(dead_code)]
    pub fn forget(&mut self, name: &str) {
        self.variables.retain(|(set, _)| set != name);
    }

    /// What all processes of this project have in their environment.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// A command in the folder of the configuration, with an environment that only the test decides.
    pub fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("CHECKPOINT_DISABLE", "1").env("NO_COLOR", "1");
        command.env(processes::MARK, &self.mark);
        let name = self.variables.iter().rev().find(|(name, _)| name == "TERRANE_NAME");
        command.env("TERRANE_COMPATIBLE_VERSION", recorded_release(name.map_or("", |(_, name)| name)));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// From now on the configuration says which release the runs are compatible with.
    pub fn any_release(&mut self) {
        self.set("TERRANE_COMPATIBLE_VERSION", "");
    }

    /// Runs the program under test to its end.
    pub fn run(&self, args: &[&str]) -> Outcome {
        self.finish(self.command(program(), args))
    }

    /// Runs it and insists that all went well.
    pub fn ok(&self, args: &[&str]) -> Outcome {
        let outcome = self.run(args);
        assert_eq!(outcome.code, Some(0), "{args:?}\n{}{}", outcome.out, outcome.err);
        outcome
    }

    /// Runs a command to its end; it is killed when it takes too long.
    pub fn finish(&self, command: Command) -> Outcome {
        Running::start(command).finish()
    }
}

/// A test that fails leaves nothing behind either.
impl Drop for Project {
    fn drop(&mut self) {
        for seen in processes::of(&self.mark) {
            // SAFETY: the call touches no memory.
            unsafe { libc::kill(seen.pid, libc::SIGKILL) };
        }
    }
}

/// A running command with its output in files, so that no pipe has to be read.
pub struct Running {
    pub child: Child,
    out: File,
    err: File,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        // Reading and writing have one position each only if the files are opened twice.
        let (for_out, for_err) = (reopened(&out), reopened(&err));
        let child = command.stdout(for_out).stderr(for_err).spawn();
        let child = child.unwrap_or_else(|e| panic!("{:?}: {e}", command.get_program()));
        Running { child, out, err }
    }

    /// What is on the screen by now, as [`Self::finish`] splits it.
    pub fn screen(&self) -> (String, String) {
        (content(&self.out), content(&self.err))
    }

    /// Waits until the screen has it; panics if it ends or time is up without.
    pub fn until(&mut self, what: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let ended = self.child.try_wait().unwrap();
            let (out, err) = self.screen();
            if what(&out) {
                return;
            }
            assert!(ended.is_none() && Instant::now() < end, "never seen (ended: {ended:?})\n{out}{err}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn finish(mut self) -> Outcome {
        let status = wait(&mut self.child);
        let (out, err) = self.screen();
        let status = status.unwrap_or_else(|| panic!("it did not end\n{out}{err}"));
        Outcome { code: status.code(), out, err }
    }
}

fn reopened(file: &File) -> File {
    use std::os::fd::AsRawFd;
    File::options().append(true).open(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap()
}

fn content(file: &File) -> String {
    use std::os::fd::AsRawFd;
    let mut bytes = Vec::new();
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap().read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn wait(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

impl Outcome {
    /// The process was ended by a signal: a kill came before its own end.
    pub fn is_killed(&self) -> bool {
        self.code.is_none()
    }

    /// Both halves of the screen, without the frames of the diagnostics and with every run of blanks as one, so that
    /// a text can be looked for wherever its lines were broken.
    pub fn text(&self) -> String {
        let both = format!("{}\n{}", self.out, self.err);
        both.split(|c: char| c.is_whitespace() || "│╷╵".contains(c))
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Insists on an exit code and on texts, each as [`Self::text`] has it.
    pub fn expect(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        let text = self.text();
        for wanted in texts {
            assert!(text.contains(wanted), "no {wanted:?} in:\n{}{}", self.out, self.err);
        }
    }
}

/// Whether commands can have mounts of their own, by `unshare -rm`. If not, the test is skipped.
pub fn can_mount(project: &Project) -> bool {
    let probe = project.command(Path::new("unshare"), &["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let why = match probe {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("unshare: {error}"),
    };
    needs::skip(Need::Mounts, &format!("commands cannot have mounts of their own: {why}"));
    false
}

/// Whether `strace` can trace a program, and let its calls of the system fail. If not, the test is skipped.
pub fn can_trace() -> bool {
    let probe = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let traces = probe.is_ok_and(|probe| probe.status.success());
    if !traces {
        needs::skip(Need::Strace, "strace cannot trace a program here");
    }
    traces
}
