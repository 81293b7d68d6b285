//! `state mv`, `state push`, `state replace-provider` and `state rm`

use std::path::PathBuf;

use base::diag::Diagnostic;
use clap::{Arg, ArgMatches, Command};
use ops::state::edits::{EditOptions, Locking, Move, OtherDir, ReplaceProvider};

use super::common::{
    ignore_remote_version_flag, json_flags, lock_flags, variable_arguments, variable_flags, view_flags,
};
use super::flags::{self, FlagError, Given, switch, text};
use super::{ArgsError, Parsed};

pub fn mv_command() -> Command {
    flags::command("state mv")
        .about("Move an item in the state")
        .override_usage("[options] SOURCE... DESTINATION")
        .long_about(
            "Changes the address of objects in the state: of a resource instance, of a resource with all of its instances, or \
             of a module and the modules in it. The new address may be in another module or another state file. Change the \
             configuration to match; \"moved\" blocks do the same as part of a plan. A backup of each state is always written. \
             Several sources, and addresses with \"*\" in them, which stands for any characters, go into the module that is \
             the destination (\".\" for the root module) and keep their names.",
        )
        .args([
            switch("dry-run", false, "Show what would be moved, and move nothing."),
            text(
                "from",
                "dir",
                "Move from the state of another working directory, with its backend and its workspace, to this one's.",
            ),
            text(
                "to-dir",
                "dir",
                "Move to the state of another working directory, with its backend and its workspace. Both states are written, or \
                 neither.",
            ),
        ])
        .args(json_flags())
        .args(edit_flags())
        .args([
            text("backup-out", "path", "For the local backend only: the file to keep the previous state of -state-out in."),
            text("state-out", "path", "For the local backend only: the state file to move to. Default: the same state."),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_mv(args: &[String]) -> Parsed<(Move, bool)> {
    let given = flags::parse(mv_command(), args).map_err(bad_flags)?;
    let mut sources = addresses(&given)?;
    let destination = sources.pop().filter(|_| !sources.is_empty()).ok_or_else(not_two)?;
    let wanted = Move {
        sources,
        destination,
        dry_run: given.on("dry-run"),
        options: options(&given),
        state_out: path(&given, "state-out"),
        backup_out: backup(&given, "backup-out"),
        other: other_dir(&given)?,
    };
    Ok(((wanted, given.on("json")), variable_arguments(&given)))
}

#[derive(Debug)]
pub struct Remove {
    pub addresses: Vec<String>,
    pub dry_run: bool,
    pub json: bool,
    pub options: EditOptions,
}

pub fn rm_command() -> Command {
    flags::command("state rm")
        .about("Remove instances from the state")
        .override_usage("[options] ADDRESS...")
        .long_about(
            "Removes resource instances from the state without destroying their objects: single instances, all instances of a \
             resource, or all in a module. An address may have \"*\" in it, which stands for any characters: \
             \"aws_instance.web*\" or \"module.a.*\". The next apply creates those that the configuration still has. A backup \
             of the state is always written.",
        )
        .args([switch("dry-run", false, "Show what would be removed, and remove nothing.")])
        .args(json_flags())
        .args(edit_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_rm(args: &[String]) -> Parsed<Remove> {
    let given = flags::parse(rm_command(), args).map_err(bad_flags)?;
    let addresses = addresses(&given)?;
    if addresses.is_empty() {
        return Err(ArgsError::TextThenPage("At least one address is required.\n".into()));
    }
    let wanted = Remove { addresses, dry_run: given.on("dry-run"), json: given.on("json"), options: options(&given) };
    Ok((wanted, variable_arguments(&given)))
}

pub fn replace_provider_command() -> Command {
    flags::command("state replace-provider")
        .about("Replace provider in the state")
        .override_usage("[options] FROM_PROVIDER TO_PROVIDER")
        .long_about(
            "Assigns all resources of one provider in the state to another provider, such as a fork of it. Both are source \
             addresses as in \"required_providers\": hashicorp/aws or example.com/acme/aws. A backup of the state is always \
             written.",
        )
        .args([switch("auto-approve", false, "Do not ask for confirmation. Required with -json.")])
        .args(json_flags())
        .args(edit_flags())
        .args(variable_flags())
        .args(view_flags())
}

/// The second value is true if JSON is wanted.
pub fn parse_replace_provider(args: &[String]) -> Parsed<(ReplaceProvider, bool)> {
    let with_page = |error| ArgsError::TextThenPage(format!("Error parsing command-line flags: {error}\n"));
    let given = flags::parse(replace_provider_command(), args).map_err(with_page)?;
    let [from, to] = two(&given)?;
    let wanted = ReplaceProvider { from, to, auto_approve: given.on("auto-approve"), options: options(&given) };
    let json = given.on("json");
    if json && !wanted.auto_approve {
        let detail = "The -json option cannot ask for approval. Use it together with -auto-approve.";
        return Err(ArgsError::Json(Diagnostic::error("Auto-approve required", detail).into()));
    }
    Ok(((wanted, json), variable_arguments(&given)))
}

#[derive(Debug)]
pub struct Push {
    /// `-`: standard input.
    pub path: String,
    pub force: bool,
    pub json: bool,
    pub locking: Locking,
}

pub fn push_command() -> Command {
    flags::command("state push")
        .about("Update remote state from a local state file")
        .override_usage("[options] PATH")
        .long_about(
            "Replaces the current state, wherever the backend stores it, by a state file. \"-\" as the path reads standard \
             input. The file must have the lineage of the current state and a higher serial, unless that state is empty.",
        )
        .args([switch("force", false, "Replace the state even if the lineages differ or its serial is higher.")])
        .args(json_flags())
        .args(lock_flags())
        .args([ignore_remote_version_flag()])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_push(args: &[String]) -> Parsed<Push> {
    let given = flags::parse(push_command(), args).map_err(bad_flags)?;
    match given.positional().as_slice() {
        [path] => {
            let wanted =
                Push { path: path.clone(), force: given.on("force"), json: given.on("json"), locking: locking(&given) };
            Ok((wanted, variable_arguments(&given)))
        }
        _ => Err(ArgsError::TextThenPage("Exactly one argument expected.\n".into())),
    }
}

fn edit_flags() -> Vec<Arg> {
    let mut flags: Vec<Arg> = lock_flags().into();
    flags.push(text("state", "path", "For the local backend only: the state file to use."));
    flags.push(text("backup", "path", "For the local backend only: the file to keep the previous state in. Default: a file beside the state, with the time in its name."));
    flags.push(ignore_remote_version_flag());
    flags
}

fn options(given: &ArgMatches) -> EditOptions {
    EditOptions { locking: locking(given), state: path(given, "state"), backup: backup(given, "backup") }
}

fn locking(given: &ArgMatches) -> Locking {
    Locking {
        lock: given.on("lock"),
        lock_timeout: given.duration("lock-timeout"),
        ignore_remote_version: given.on("ignore-remote-version"),
    }
}

fn path(given: &ArgMatches, flag: &str) -> Option<PathBuf> {
    given.text(flag).filter(|path| !path.is_empty()).map(Into::into)
}

/// Both states are those of working directories then.
fn other_dir(given: &ArgMatches) -> Result<Option<OtherDir>, ArgsError> {
    let clash =
        |text: &str| Err(ArgsError::Text { text: format!("Error parsing command-line flags: {text}\n"), usage: false });
    let other = match (path(given, "to-dir"), path(given, "from")) {
        (Some(_), Some(_)) => return clash("-to-dir and -from exclude each other"),
        (Some(dir), None) => OtherDir::To(dir),
        (None, Some(dir)) => OtherDir::From(dir),
        (None, None) => return Ok(None),
    };
    let files = ["state", "state-out", "backup-out"].into_iter().find(|flag| path(given, flag).is_some());
    match files {
        Some(flag) => clash(&format!("-{flag} cannot be used with -to-dir or -from")),
        None if !given.on("lock") => clash("-lock=false cannot be used with -to-dir or -from"),
        None => Ok(Some(other)),
    }
}

/// Backups cannot be turned off.
fn backup(given: &ArgMatches, flag: &str) -> Option<PathBuf> {
    path(given, flag).filter(|path| path.as_os_str() != "-")
}

fn two(given: &ArgMatches) -> Result<[String; 2], ArgsError> {
    given.positional().try_into().map_err(|_| not_two())
}

/// No address begins with a dash: it is a flag at a place where flags are not read any more.
fn addresses(given: &ArgMatches) -> Result<Vec<String>, ArgsError> {
    let addresses = given.positional();
    match addresses.iter().find(|address| address.starts_with('-')) {
        None => Ok(addresses),
        Some(flag) => Err(ArgsError::TextThenPage(format!("Flags come before the addresses: {flag}\n"))),
    }
}

fn not_two() -> ArgsError {
    ArgsError::TextThenPage("Exactly two arguments expected.\n".into())
}

fn bad_flags(error: FlagError) -> ArgsError {
    ArgsError::Text { text: format!("Error parsing command-line flags: {error}\n"), usage: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn backups_cannot_be_turned_off() {
        let backups = |line: &str| {
            let ((found, _), _) = parse_mv(&words(line)).unwrap();
            (found.options.backup, found.backup_out)
        };
        assert_eq!(backups("-backup=- -backup-out= a.b a.c"), (None, None));
        assert_eq!(backups("-backup=x -backup-out=y a.b a.c"), (Some("x".into()), Some("y".into())));
    }

    #[test]
    fn programs_approve_beforehand() {
        let parse = |line: &str| parse_replace_provider(&words(line));
        assert!(matches!(parse("-json a b"), Err(ArgsError::Json(_))));
        for (line, expected) in [("-json -auto-approve a b", true), ("a b", false)] {
            let ((_, json), _) = parse(line).unwrap();
            assert_eq!(json, expected, "{line}");
        }
    }

    #[test]
    fn words_are_counted() {
        let complaint = |error: ArgsError| match error {
            ArgsError::TextThenPage(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(complaint(parse_mv(&words("a.b")).unwrap_err()), "Exactly two arguments expected.\n");
        assert_eq!(
            complaint(parse_replace_provider(&words("a b c")).unwrap_err()),
            "Exactly two arguments expected.\n"
        );
        assert_eq!(complaint(parse_rm(&[]).unwrap_err()), "At least one address is required.\n");
        assert_eq!(complaint(parse_push(&words("a b")).unwrap_err()), "Exactly one argument expected.\n");
        assert_eq!(
            complaint(parse_replace_provider(&words("-nope a b")).unwrap_err()),
            "Error parsing command-line flags: flag provided but not defined: -nope\n"
        );
    }
}
