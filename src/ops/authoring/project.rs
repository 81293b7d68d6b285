//! The cargo project in the working directory: which provider it is, and its build.

use std::path::{Path, PathBuf};

use base::diag::Diagnostics;
use base::process::{self, Outcome};
use base::program;
use base::stop::Stop;
use serde_json::Value as Json;
use tokio::process::Command;

use super::{BuildEvent, PROGRAM_PREFIX, TellBuild, failure, interrupted};

const NO_PROJECT: &str = "No provider project";
const NO_BUILD: &str = "Failed to build the provider";

/// A package with a provider as its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CargoProject {
    package: String,
    pub version: String,
    /// The file name of the program without `.exe`: `terraform-provider-todo`.
    pub program: String,
}

impl CargoProject {
    /// Reads the project of the working directory.
    pub async fn open(stop: &Stop) -> Result<CargoProject, Diagnostics> {
        if !Path::new("Cargo.toml").is_file() {
            let detail = "The working directory has no Cargo.toml. Run the command in the folder of the provider, or give it the \
                          program with -binary.";
            return Err(failure(NO_PROJECT, detail));
        }
        let mut command = Command::new("cargo");
        command.args(["metadata", "--no-deps", "--format-version=1"]);
        let ran = program::run(command, false, stop).await.map_err(|e| no_cargo(&e))?.ok_or_else(interrupted)?;
        if !ran.status.success() {
            return Err(failure(NO_PROJECT, format!("cargo cannot read Cargo.toml:\n\n{}", ran.errors.trim())));
        }
        let metadata = serde_json::from_str(&ran.output)
            .map_err(|e| failure(NO_PROJECT, format!("The output of \"cargo metadata\" is not valid JSON: {e}.")))?;
        let here = std::path::absolute("Cargo.toml").unwrap_or_default();
        find(&metadata, &here).map_err(|detail| failure(NO_PROJECT, detail))
    }

    /// Builds the program and returns its path.
    pub async fn build(&self, release: bool, stop: &Stop, tell: TellBuild<'_>) -> Result<PathBuf, Diagnostics> {
        tell(BuildEvent::Started(&self.package));
        let mut command = Command::new("cargo");
        command.args(["build", "--message-format=json-render-diagnostics"]);
        command.args(["--package", &self.package, "--bin", &self.program]);
        if release {
            command.arg("--release");
        }
        let mut lines = Lines::default();
        let mut built = None;
        let outcome = process::run(command, stop, |piece| {
            lines.add(piece, |line| match executable(line, &self.program) {
                Message::Program(path) => built = Some(path),
                Message::Other => {}
                Message::Text => tell(BuildEvent::Line(line)),
            });
        });
        match outcome.await.map_err(|e| no_cargo(&e))? {
            Outcome::Stopped(_) => Err(interrupted()),
            Outcome::Exited(status) if !status.success() && stop.is_stopping() => Err(interrupted()),
            Outcome::Exited(status) if status.success() => {
                let none = || failure(NO_BUILD, format!("cargo reported no program named {}.", self.program));
                built.ok_or_else(none)
            }
            Outcome::Exited(status) => Err(failure(NO_BUILD, format!("\"cargo build\" ended with {status}."))),
        }
    }
}

fn no_cargo(error: &std::io::Error) -> Diagnostics {
    let detail = format!("cargo cannot be started: {error}. Install Rust, or give the command a program with -binary.");
    failure(NO_PROJECT, detail)
}

/// The package whose program is a provider; the one whose manifest is `here` if there are several.
fn find(metadata: &Json, here: &Path) -> Result<CargoProject, String> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let is_program = target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"));
            let name = target["name"].as_str().unwrap_or_default();
            if is_program && name.starts_with(PROGRAM_PREFIX) {
                let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
                let project =
                    CargoProject { package: text("name"), version: text("version"), program: name.to_owned() };
                found.push((Path::new(&text("manifest_path")) == here, project));
            }
        }
    }
    if found.iter().any(|(is_here, _)| *is_here) {
        found.retain(|(is_here, _)| *is_here);
    }
    match &found[..] {
        [(_, project)] => Ok(project.clone()),
        [] => Err(format!(
            "The project in Cargo.toml has no program whose name begins with {PROGRAM_PREFIX:?}. Registries and hosts know \
             providers by this name: rename the package, or add a [[bin]] section with such a name."
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|(_, project)| &*project.program).collect();
            Err(format!("The workspace has several providers: {}. Run the command in one's folder.", names.join(", ")))
        }
    }
}

/// A line of `cargo build`.
#[derive(Debug, PartialEq, Eq)]
enum Message {
    /// The path of the program that was built.
    Program(PathBuf),
    /// A message for programs.
    Other,
    /// A line for people.
    Text,
}

fn executable(line: &str, program: &str) -> Message {
    let Some(message) = line.starts_with('{').then(|| serde_json::from_str::<Json>(line).ok()).flatten() else {
        return Message::Text;
    };
    match (message["target"]["name"].as_str(), message["executable"].as_str()) {
        (Some(name), Some(path)) if name == program => Message::Program(path.into()),
        _ => Message::Other,
    }
}

/// Puts lines together from pieces of a stream.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    fn add(&mut self, piece: &[u8], mut take: impl FnMut(&str)) {
        self.rest.extend_from_slice(piece);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            take(String::from_utf8_lossy(&line).trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, folder: &str, programs: &[&str]) -> Json {
        let targets: Vec<Json> = programs.iter().map(|name| json!({"kind": ["bin"], "name": name})).collect();
        json!({"name": name, "version": "0.1.0", "manifest_path": format!("{folder}/Cargo.toml"), "targets": targets})
    }

    #[test]
    fn finds_the_provider_of_a_workspace() {
        let find = |packages: Vec<Json>| {
            super::find(&json!({"packages": packages}), Path::new("/a/Cargo.toml")).map(|project| project.program)
        };
        let (todo, other) = ("terraform-provider-todo", "terraform-provider-other");
        assert_eq!(find(vec![package("x", "/b", &["tool", todo])]).as_deref(), Ok(todo));
        assert_eq!(find(vec![package("x", "/b", &[other]), package("y", "/a", &[todo])]).as_deref(), Ok(todo));
        let several = find(vec![package("x", "/b", &[other]), package("y", "/c", &[todo])]).unwrap_err();
        assert!(several.contains("terraform-provider-other, terraform-provider-todo"), "{several}");
        assert!(find(vec![package("x", "/a", &["tool"])]).unwrap_err().contains("rename the package"));
    }

    #[test]
    fn lines_of_cargo_are_for_people_or_name_the_program() {
        let artifact =
            json!({"reason": "compiler-artifact", "target": {"name": "p"}, "executable": "/t/p"}).to_string();
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in ["   Comp", "iling p\n{\"reason\":", "\"x\"}\n", &artifact, "\nrest"] {
            lines.add(piece.as_bytes(), |line| seen.push(executable(line, "p")));
        }
        assert_eq!(seen, [Message::Text, Message::Other, Message::Program("/t/p".into())]);
    }
}
