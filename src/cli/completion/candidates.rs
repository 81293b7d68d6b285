//! The candidates for the word that is being typed.

use clap::{Arg, Command};
use ops::link;

use super::line::Line;
use super::sources::Sources;
use crate::args::completion::SHELLS;
use crate::args::flags::{is_switch, takes_text};
use crate::table::{self, COMMANDS, Entry, Run};

/// A word that may stand in a place, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub word: String,
    pub about: String,
}

impl Candidate {
    fn new(word: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate { word: word.into(), about: about.into() }
    }
}

/// What a word means, as far as there are candidates for it.
enum Kind {
    Path,
    Address,
    Workspace,
    /// A root output that the state holds.
    Output,
    /// The serial of a snapshot in the state's history.
    Serial,
    OneOf(&'static [&'static str]),
    Shell,
    Switch,
    Other,
}

/// The actions that `-only` takes.
const ACTIONS: &[&str] = &["create", "delete", "forget", "import", "invoke", "move", "read", "replace", "update"];

/// The values of flags that accept only these: command, flag, values.
const CHOICES: [(&str, &str, &[&str]); 11] = [
    ("apply", "only", ACTIONS),
    ("destroy", "only", ACTIONS),
    ("graph", "format", &["dot", "mermaid", "svg"]),
    ("graph", "type", &["plan", "plan-refresh-only", "plan-destroy", "apply"]),
    ("init", "lockfile", &["readonly"]),
    ("plan", "only", ACTIONS),
    ("plan", "summary", &["json"]),
    ("show", "only", ACTIONS),
    ("show", "summary", &["json"]),
    ("test", "report", &["github"]),
    ("test", "watch", &["all"]),
];

/// Everything that may stand where the word of the line is, in the order in which to show it.
pub fn candidates(line: &Line, sources: &dyn Sources) -> Vec<Candidate> {
    let global = line.before.iter().take_while(|word| word.starts_with('-')).count();
    let words = &line.before[global..];
    let word = line.word.as_str();
    let found = match table::find(words) {
        None if words.is_empty() && word.starts_with(CHDIR) => folders(&word[CHDIR.len()..], sources),
        None if words.is_empty() && word.starts_with('-') => globals(),
        None if words.is_empty() => commands(""),
        None => Vec::new(),
        Some((entry, taken)) => match &entry.run {
            Run::Group if words.len() == taken => commands(&format!("{} ", entry.name)),
            // A command that is a heading too: its name is finished, one of its group may follow.
            Run::Command { arguments, .. } => {
                let mut found = of_command(entry, &arguments(), &words[taken..], line, sources);
                if words.len() == taken && !word.starts_with('-') {
                    found.extend(commands(&format!("{} ", entry.name)));
                }
                found
            }
            Run::Group => Vec::new(),
        },
    };
    found.into_iter().filter(|candidate| candidate.word.starts_with(word)).collect()
}

const CHDIR: &str = "-chdir=";

/// The values of `-chdir`.
fn folders(typed: &str, sources: &dyn Sources) -> Vec<Candidate> {
    let paths = sources.paths(typed).into_iter().filter(|path| path.ends_with('/'));
    paths.map(|path| Candidate::new(format!("{CHDIR}{path}"), "")).collect()
}

fn globals() -> Vec<Candidate> {
    [
        (CHDIR, "Switch to a different working directory first"),
        ("-help", "Show help"),
        ("-install-autocomplete", "Set up completion in the shells of this user"),
        ("-uninstall-autocomplete", "Remove what -install-autocomplete set up"),
        ("-version", "Show the current version"),
    ]
    .map(|(word, about)| Candidate::new(word, about))
    .into()
}

/// The commands whose names begin so, as one further word.
fn commands(prefix: &str) -> Vec<Candidate> {
    let shown = COMMANDS.iter().filter(|entry| !entry.hidden || !prefix.is_empty());
    let members = shown.filter_map(|entry| Some((entry.name.strip_prefix(prefix)?, entry.summary)));
    members.filter(|(name, _)| !name.contains(' ')).map(|(name, about)| Candidate::new(name, about)).collect()
}

/// Flags, values of flags and positional arguments of one command; `given` are the finished words behind its name.
fn of_command(
    entry: &Entry,
    command: &Command,
    given: &[String],
    line: &Line,
    sources: &dyn Sources,
) -> Vec<Candidate> {
    let flag = |name: &str| command.get_arguments().find(|arg| arg.get_long() == Some(name.trim_start_matches('-')));
    let mut flags_may_follow = true;
    let mut waiting = None;
    let mut positional = 0;
    for word in given {
        if waiting.take().is_some() {
            continue;
        }
        if !flags_may_follow || word == "-" || !word.starts_with('-') {
            // The reference reads no flags behind the first positional argument.
            flags_may_follow = false;
            positional += 1;
        } else if word == "--" {
            flags_may_follow = false;
        } else if !word.contains('=') {
            waiting = flag(word).filter(|arg| !is_switch(arg));
        }
    }
    if let Some(arg) = waiting {
        return values(&kind_of_flag(entry.name, arg), &line.word, sources);
    }
    if let (true, Some((name, value))) = (flags_may_follow, line.flag_value()) {
        let Some(arg) = flag(name) else { return Vec::new() };
        let prefixed = |c: Candidate| Candidate::new(format!("{name}={}", c.word), c.about);
        return values(&kind_of_flag(entry.name, arg), value, sources).into_iter().map(prefixed).collect();
    }
    if flags_may_follow && line.word.starts_with('-') {
        return flags(command);
    }
    values(&kind_of_positional(entry.name, positional), &line.word, sources)
}

fn flags(command: &Command) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .filter_map(|arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            Some(Candidate::new(format!("-{}", arg.get_long()?), first_sentence(&help)))
        })
        .collect();
    found.push(Candidate::new("-help", "Show help"));
    found.sort_by(|a, b| a.word.cmp(&b.word));
    found
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

fn kind_of_flag(command: &str, arg: &Arg) -> Kind {
    if is_switch(arg) && !takes_text(arg) {
        return Kind::Switch;
    }
    if let Some((_, _, values)) = CHOICES.iter().find(|(of, flag, _)| *of == command && arg.get_long() == Some(*flag)) {
        return Kind::OneOf(values);
    }
    match arg.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str) {
        Some("path" | "PATH" | "dir" | "DIR" | "file" | "FILE") => Kind::Path,
        Some("address" | "ADDRESS") => Kind::Address,
        _ => Kind::Other,
    }
}

/// What the positional argument of a command is, counted from zero.
fn kind_of_positional(command: &str, position: usize) -> Kind {
    match (command, position) {
        ("workspace select" | "workspace delete" | "env select" | "env delete", 0) => Kind::Workspace,
        ("state list" | "state rm" | "taint" | "untaint", _) | ("state show" | "explain", 0) | ("state mv", 0 | 1) => {
            Kind::Address
        }
        ("apply" | "show" | "state push", 0) | ("fmt" | "providers mirror", _) => Kind::Path,
        ("output", 0) => Kind::Output,
        ("state restore", 0) => Kind::Serial,
        ("completion", 0) => Kind::Shell,
        ("link", 0) => Kind::OneOf(&link::NAMES),
        ("link", 1) => Kind::Path,
        _ => Kind::Other,
    }
}

fn values(kind: &Kind, typed: &str, sources: &dyn Sources) -> Vec<Candidate> {
    let plain = |words: Vec<String>| words.into_iter().map(|word| Candidate::new(word, "")).collect();
    match kind {
        Kind::Path => plain(sources.paths(typed)),
        Kind::Address => plain(sources.addresses()),
        Kind::Workspace => plain(sources.workspaces()),
        Kind::Output => plain(sources.outputs()),
        Kind::Serial => sources.snapshots().into_iter().map(|(serial, about)| Candidate::new(serial, about)).collect(),
        Kind::OneOf(values) => values.iter().map(|value| Candidate::new(*value, "")).collect(),
        Kind::Shell => plain(SHELLS.map(|shell| shell.name().to_string()).into()),
        Kind::Switch => plain(["true", "false"].map(str::to_string).into()),
        Kind::Other => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Made;

    impl Sources for Made {
        fn paths(&self, _: &str) -> Vec<String> {
            ["a.tfvars", "b/"].map(str::to_string).into()
        }

        fn addresses(&self) -> Vec<String> {
            ["x.a", "x.b[\"k\"]"].map(str::to_string).into()
        }

        fn workspaces(&self) -> Vec<String> {
            ["default", "test"].map(str::to_string).into()
        }

        fn outputs(&self) -> Vec<String> {
            ["id", "url"].map(str::to_string).into()
        }

        fn snapshots(&self) -> Vec<(String, String)> {
            vec![("12".to_string(), "apply, 2026-01-02 03:04:05".to_string()), ("11".to_string(), String::new())]
        }
    }

    fn words(line: &str) -> Vec<String> {
        candidates(&Line::parse(line, None), &Made).into_iter().map(|c| c.word).collect()
    }

    #[test]
    fn candidates_fit_their_place() {
        let cases: [(&str, &[&str]); 31] = [
            ("t pl", &["plan"]),
            ("t -chdir=x pl", &["plan"]),
            ("t -v", &["-version"]),
            ("t plan -lock", &["-lock", "-lock-timeout"]),
            ("t plan -lock=", &["-lock=true", "-lock=false"]),
            ("t plan -lock-timeout ", &[]),
            ("t plan -var-file ", &["a.tfvars", "b/"]),
            ("t plan -var-file=a", &["-var-file=a.tfvars"]),
            ("t plan -target=x.b", &["-target=x.b[\"k\"]"]),
            ("t plan -target x.a -var-file b", &["b/"]),
            ("t plan -destroy -target ", &["x.a", "x.b[\"k\"]"]),
            ("t plan -nope=", &[]),
            ("t apply -auto-approve ", &["a.tfvars", "b/"]),
            ("t workspace sel", &["select"]),
            ("t workspace select ", &["default", "test"]),
            ("t workspace select -or-create t", &["test"]),
            ("t workspace select test ", &[]),
            ("t state show x.b[", &["x.b[\"k\"]"]),
            ("t providers m", &["mirror"]),
            ("t nothing ", &[]),
            ("t -chdir=", &["-chdir=b/"]),
            ("t graph -type=plan-", &["-type=plan-refresh-only", "-type=plan-destroy"]),
            ("t graph -type ap", &["apply"]),
            ("t graph -format=", &["-format=dot", "-format=mermaid", "-format=svg"]),
            ("t init -lockfile=", &["-lockfile=readonly"]),
            ("t output ", &["id", "url"]),
            ("t output -json u", &["url"]),
            ("t state restore ", &["12", "11"]),
            ("t state restore 12 ", &[]),
            ("t link t", &["terraform", "tofu"]),
            ("t link -force tofu ", &["a.tfvars", "b/"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn old_names_are_completed_but_not_offered() {
        assert!(!words("t ").contains(&"env".to_string()));
        assert_eq!(words("t env sel"), ["select"]);
        assert_eq!(words("t env select d"), ["default"]);
    }

    #[test]
    fn the_choices_of_flags_are_accepted() {
        for (command, flag, values) in CHOICES {
            for value in values {
                let args = [format!("-{flag}={value}")];
                let with_summary = ["-summary".to_owned(), args[0].clone()];
                let accepted = match command {
                    "apply" => crate::args::apply::parse(&with_summary).is_ok(),
                    "destroy" => crate::args::apply::parse_destroy(&with_summary).is_ok(),
                    "plan" => crate::args::plan::parse(&args).is_ok(),
                    "show" => crate::args::show::parse(&args).is_ok(),
                    "graph" => crate::args::graph::parse(&args).is_ok(),
                    "init" => crate::args::init::parse(&args, &|_| None).is_ok(),
                    "test" => crate::args::test::parse(&args).is_ok(),
                    other => unreachable!("{other}"),
                };
                assert!(accepted, "{command} {args:?}");
            }
        }
    }

    #[test]
    fn every_flag_of_every_command_is_offered() {
        for entry in COMMANDS {
            let Run::Command { arguments, .. } = &entry.run else { continue };
            let offered = words(&format!("t {} -", entry.name));
            for arg in arguments().get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(name) = arg.get_long() else { continue };
                assert!(offered.contains(&format!("-{name}")), "{}: -{name}", entry.name);
            }
        }
    }
}
