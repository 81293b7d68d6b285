//! One program and its working directory: runs commands, reads their answers and the state file.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::newer::Newer;
use super::normal::Identifiers;
use crate::support::recorded_release;

/// Commands of these small configurations that run longer hang.
const LIMIT: Duration = Duration::from_secs(180);

/// Where packages come from in histories that use providers outside the binary.
#[derive(Clone)]
pub struct Template {
    /// CLI configuration file.
    pub settings: PathBuf,
    /// An initialised working directory: `.terraform` and the lock file.
    pub folder: PathBuf,
}

pub struct Workspace {
    pub program: PathBuf,
    pub folder: PathBuf,
    pub ids: Identifiers,
    /// What our program is to call itself.
    name: Option<&'static str>,
    settings: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    pub severity: String,
    pub summary: String,
    pub detail: String,
    pub address: String,
}

/// What a command with `-json` answered.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub code: Option<i32>,
    pub diagnostics: Vec<Diagnostic>,
    pub out: String,
    pub err: String,
}

impl Workspace {
    /// Makes an empty working directory.
    pub fn new(
        program: &Path,
        newer: Newer,
        folder: PathBuf,
        template: Option<&Template>,
    ) -> std::io::Result<Workspace> {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join(".terraform"))?;
        if let Some(template) = template {
            let copy = Command::new("cp").arg("-a").arg(template.folder.join(".")).arg(&folder).status()?;
            assert!(copy.success(), "cannot copy {:?}", template.folder);
        }
        let settings = template.map(|t| t.settings.clone());
        let ids = Identifiers::new(newer);
        Ok(Workspace { program: program.to_owned(), folder, ids, name: newer.name(), settings })
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Answer {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.folder).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.join("..")).env("CHECKPOINT_DISABLE", "1").env("NO_COLOR", "1");
        if let Some(settings) = &self.settings {
            command.env("TF_CLI_CONFIG_FILE", settings);
        }
        if let Some(name) = self.name {
            command.env("TERRANE_NAME", name);
        }
        command.env("TERRANE_COMPATIBLE_VERSION", recorded_release(self.name.unwrap_or_default()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{}: {e}", self.program.display()));
        let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (out, err, code) = std::thread::scope(|scope| {
            let out = scope.spawn(move || read_all(&mut stdout));
            let err = scope.spawn(move || read_all(&mut stderr));
            let code = wait(&mut child);
            (out.join().unwrap_or_default(), err.join().unwrap_or_default(), code)
        });
        Answer::read(code, out, err)
    }

    /// Runs a command that prints one JSON document.
    pub fn document(&self, args: &[&str]) -> Value {
        let answer = self.run(args);
        serde_json::from_str(&answer.out)
            .unwrap_or_else(|_| Value::String(format!("no document: {:?} {}{}", answer.code, answer.out, answer.err)))
    }

    /// Returns the lines of the service of `depot`, in their order.
    pub fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("service/log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn state_path(&self) -> PathBuf {
        self.folder.join("terraform.tfstate")
    }

    /// Returns the state file, or null where there is none.
    pub fn state(&self) -> Value {
        let Ok(text) = std::fs::read_to_string(self.state_path()) else { return Value::Null };
        serde_json::from_str(&text).unwrap_or_else(|e| Value::String(format!("invalid state file: {e}\n{text}")))
    }
}

fn read_all(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the exit code; nothing for a process that was killed, by its signal or for taking too long.
fn wait(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Ok(Some(status)) = child.try_wait() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Reads the diagnostics among the lines of a command with `-json`.
fn diagnostics(out: &str) -> Vec<Diagnostic> {
    let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found: Vec<Diagnostic> = lines
        .filter(|line| line["type"] == "diagnostic")
        .map(|line| {
            // Both programs name themselves.
            let name = |text: &str| {
                let text = text.replace("Terrane", "Terraform").replace("terrane", "terraform");
                text.replace("OpenTofu", "Terraform")
            };
            let text = |member: &str| name(line["diagnostic"][member].as_str().unwrap_or_default());
            Diagnostic {
                severity: text("severity"),
                summary: text("summary"),
                detail: text("detail"),
                address: text("address"),
            }
        })
        .collect();
    found.sort();
    found
}

impl Answer {
    /// Of a command's exit code and its two streams.
    pub fn read(code: Option<i32>, out: String, err: String) -> Answer {
        Answer { code, diagnostics: diagnostics(&out), out, err }
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.severity == "error")
    }

    /// Returns the diagnostics for people who read a report.
    pub fn display(&self) -> String {
        let mut text = format!("exit code {:?}\n", self.code);
        for d in &self.diagnostics {
            text.push_str(&format!("{}: {}: {} ({})\n", d.severity, d.summary, d.detail, d.address));
        }
        text + &self.err
    }
}
