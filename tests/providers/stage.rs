//! A registry, a project that asks it, and the screens of the commands that were run, made the same from run to run.
//!
//! What is expected in `expected/GROUP.txt` was recorded from the reference: `tests/record.sh` does it again. Where we
//! differ on purpose, `expected/GROUP.ours.txt` has the case.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::commands::normal;
use crate::support::catalogue::Release;
use crate::support::registry::Registry;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;
use crate::support::{Outcome, Project, platform, program};

pub struct Stage {
    pub project: Project,
    pub registry: Registry,
    reference: bool,
    transcript: String,
    hidden: Vec<(String, String)>,
}

impl Stage {
    pub fn new(releases: impl IntoIterator<Item = Release>) -> Stage {
        Stage::played_by(false, releases)
    }

    fn played_by(reference: bool, releases: impl IntoIterator<Item = Release>) -> Stage {
        let mut project = Project::new("");
        // A short timeout for responses that never come.
        project.set("TF_REGISTRY_CLIENT_TIMEOUT", "2");
        let registry = Registry::start(&mut project, releases);
        let mut stage = Stage { project, registry, reference, transcript: String::new(), hidden: Vec::new() };
        stage.key_ids();
        stage
    }

    /// The identity of the keys on the shelf differs from run to run.
    pub fn key_ids(&mut self) {
        let mut ids = Vec::new();
        self.registry
            .change(|shelf| ids = shelf.shown_keys.iter().chain(&shelf.signer).map(|key| key.id.clone()).collect());
        ids.into_iter().for_each(|id| self.hide(id, "[key]"));
    }

    /// A text that differs from run to run, or machine to machine.
    pub fn hide(&mut self, text: impl Into<String>, name: &str) {
        self.hidden.push((text.into(), name.to_owned()));
    }

    pub fn publish(&self, releases: impl IntoIterator<Item = Release>) {
        self.registry.change(|shelf| shelf.releases.extend(releases));
    }

    /// Versions of `acme/thing`, of which one is required by a constraint.
    pub fn thing(&self, versions: &[&str], constraint: &str) {
        self.publish(versions.iter().map(|version| Release::new("acme/thing", version)));
        self.requires(&[("thing", "acme/thing", constraint)]);
    }

    pub fn trouble(&self, part: &str, trouble: Trouble) {
        self.registry.server.trouble(part, trouble);
    }

    /// The configuration: local name, `namespace/type`, constraint.
    pub fn requires(&self, providers: &[(&str, &str, &str)]) {
        self.project.write("work/main.tf", &self.registry.requires(providers));
    }

    /// Settings of the user. `HOST`, `PORT` and `PROJECT` are put in.
    pub fn settings(&mut self, text: &str) {
        let text = self.filled(text);
        let path = self.project.write("cli.tfrc", &text);
        self.project.set("TF_CLI_CONFIG_FILE", path);
    }

    pub fn filled(&self, text: &str) -> String {
        let folder = self.project.path("").display().to_string();
        let folder = folder.trim_end_matches('/');
        text.replace("HOST", &self.registry.host())
            .replace("PORT", &self.registry.server.port.to_string())
            .replace("PROJECT", folder)
    }

    pub fn is_reference(&self) -> bool {
        self.reference
    }

    /// A line for the transcript.
    pub fn note(&mut self, text: &str) {
        let text = self.shown(text);
        self.transcript += &format!("# {text}\n");
    }

    /// All files below a folder of the project.
    pub fn files(&self, below: &str) -> Vec<PathBuf> {
        self.entries(below).into_iter().filter(|path| !path.is_dir()).collect()
    }

    /// All files and folders below a folder of the project; links are followed.
    pub fn entries(&self, below: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.project.path(below)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found
    }

    /// The archive of `acme/thing` 1.0.0, as it is served.
    pub fn archive(&self) -> Reply {
        let file = Release::new("acme/thing", "1.0.0").file(&platform());
        self.registry.answer(&Registry::file("acme/thing", "1.0.0", &file))
    }

    fn program(&self) -> PathBuf {
        if self.reference { PathBuf::from("terraform") } else { program().to_path_buf() }
    }

    /// Runs a command; its screen goes to the transcript.
    pub fn run(&mut self, args: &[&str]) -> Outcome {
        let mut command = self.project.command(&self.program(), args);
        command.env("TF_CLI_ARGS", "-no-color");
        let outcome = self.project.finish(command);
        self.transcript += &format!("$ {}\n", self.shown(&args.join(" ")));
        self.transcript += &self.shown(&(screen(&outcome.out) + &screen(&outcome.err)));
        if outcome.code != Some(0) {
            self.transcript += &format!("--- exit code {}\n", outcome.code.unwrap_or_default());
        }
        outcome
    }

    /// A file as it now is goes to the transcript.
    pub fn show(&mut self, below: &str) {
        let text = self.project.read(below);
        let text = normal::named(&text, "terraform");
        self.transcript += &format!("$ cat {}\n{}", self.shown(below), self.shown(&text));
    }

    /// Without what differs from run to run.
    pub fn shown(&self, text: &str) -> String {
        let place = self.project.path("").canonicalize().unwrap();
        let mut text = text.replace(&place.display().to_string(), "[place]");
        for host in [self.registry.host(), self.registry.server.host()] {
            text = text.replace(&host, "[host]");
        }
        for (secret, name) in &self.hidden {
            text = text.replace(secret, name);
        }
        text.replace(&platform(), "[platform]").replace(&platform().replace('_', "/"), "[os]/[arch]")
    }
}

/// A stream with one line per paragraph and list item; with Terrane's name, and
/// without the words at the end of every success.
fn screen(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut ended = true;
    for line in text.lines().map(|line| line.trim_start_matches(['│', '╷', '╵']).trim()) {
        let starts = ["- ", "Error: ", "Warning: ", "Initializing ", "Partner and ", "Terraform has ", "Terrane has "];
        match lines.last_mut().filter(|_| !ended && !starts.iter().any(|start| line.starts_with(start))) {
            Some(last) if !line.is_empty() => *last += &format!(" {line}"),
            _ if !line.is_empty() => lines.push(line.to_owned()),
            _ => {}
        }
        ended = line.is_empty();
    }
    // Several providers are installed in parallel: only the messages of one provider have an order.
    let told = |line: &String| line.starts_with("- ");
    for run in lines.chunk_by_mut(|a, b| told(a) && told(b)) {
        run.sort_by_key(|line| line.split(' ').find(|word| word.contains('/')).unwrap_or_default().replace("...", ""));
    }
    let named = lines.into_iter().map(|line| normal::named(&line, "terraform"));
    named.filter(|line| !FAREWELL.iter().any(|start| line.starts_with(start))).map(|line| line + "\n").collect()
}

const FAREWELL: [&str; 3] =
    ["You may now begin working", "If you ever set or change modules", "Partner and community providers"];

/// What a case does on a stage whose registry is empty.
pub type Play = fn(&mut Stage);

/// Plays cases and compares all that they showed; or, if asked to record, lets the reference play them.
pub fn check(group: &str, cases: &[(&str, Play)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/expected").join(format!("{group}.txt"));
    let record = std::env::var("TERRANE_TEST_RECORD").ok();
    let reference = record.as_deref().is_some_and(|what| what != "ours");
    let only = std::env::var("TERRANE_TEST_CASE").ok();
    let chosen = cases.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| *name == only));
    let played: Vec<(&str, String)> = chosen
        .map(|(name, play)| {
            let mut stage = Stage::played_by(reference, []);
            let ended = catch_unwind(AssertUnwindSafe(|| play(&mut stage)));
            if let Err(panic) = ended {
                let text = panic.downcast_ref::<String>().map_or("panicked", String::as_str);
                stage.transcript += &format!("!!! {text}\n");
            }
            (*name, stage.transcript)
        })
        .collect();
    let written = |played: &mut dyn Iterator<Item = &(&str, String)>| -> String {
        played.map(|(name, text)| format!("{TITLE}{name}\n{text}\n")).collect()
    };
    if reference {
        std::fs::write(&path, written(&mut played.iter())).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let ours = path.with_extension("ours.txt");
    if record.is_some() {
        let recorded = sections(&recorded);
        let same = |name: &str, text: &str| recorded.get(name).is_some_and(|other| other.trim_end() == text.trim_end());
        let text = written(&mut played.iter().filter(|(name, text)| !same(name, text)));
        std::fs::write(&ours, text).unwrap();
        return;
    }
    let differs = std::fs::read_to_string(&ours).unwrap_or_default();
    let (recorded, differs) = (sections(&recorded), sections(&differs));
    let mut wrong = String::new();
    for (name, found) in &played {
        let expected = differs.get(name).or(recorded.get(name)).copied().unwrap_or_default();
        if differs.contains_key(name)
            && recorded.get(name).is_some_and(|recorded| recorded.trim_end() == found.trim_end())
        {
            wrong += &format!("{TITLE}{name}: no longer differs from the reference\n");
        }
        if expected.trim_end() != found.trim_end() {
            let changes = similar::TextDiff::from_lines(expected.trim_end(), found.trim_end());
            wrong += &format!("{TITLE}{name}\n{}\n", changes.unified_diff().context_radius(2));
        }
    }
    assert!(wrong.is_empty(), "{group}:\n{wrong}");
}

fn sections(text: &str) -> BTreeMap<&str, &str> {
    text.split(TITLE).filter_map(|section| section.split_once('\n')).collect()
}

const TITLE: &str = "=== case ";
