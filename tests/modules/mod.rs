//! Where modules come from: repositories, archives and registries, all on this machine, and what is left of them on disk.

mod archives;
mod buckets;
mod checksums;
mod containers;
mod folders;
mod many;
mod registry;
mod repositories;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;

/// A file of the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/modules").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A repository of git below the project's folder.
struct Repository {
    path: PathBuf,
}

impl Repository {
    fn new(project: &Project, name: &str) -> Repository {
        let path = project.path(name);
        std::fs::create_dir_all(&path).unwrap();
        let repository = Repository { path };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    fn url(&self) -> String {
        format!("git::file://{}", self.path.display())
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.path.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "change"]);
    }

    /// What it prints.
    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.path).env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (name, value) in [("NAME", "test"), ("EMAIL", "test@example.com")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// A configuration that calls the sources, by name.
fn calls(sources: &[(&str, &str)]) -> String {
    sources.iter().map(|(name, source)| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n")).collect()
}
