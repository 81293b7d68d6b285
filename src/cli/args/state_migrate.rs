//! `state migrate`

use std::path::{Path, PathBuf};

use base::diag::Diagnostics;
use clap::Command;
use ops::interface::options::StateOptions;

use super::common::{input_flag, lock_flags, progress_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, switch, text};
use super::{ArgsError, Missing, Parsed, gather, lock_file_name_problem};

#[derive(Debug)]
pub struct Migrate {
    pub force_copy: bool,
    pub input: bool,
    pub options: StateOptions,
    pub source_lock: Option<PathBuf>,
    pub destination_lock: Option<PathBuf>,
    pub upgrade: bool,
}

pub fn command() -> Command {
    flags::command("state migrate")
        .about("Copy states from another backend")
        .long_about(
            "Copies the states of all workspaces from the backend that the \"from\" block of a file *.tfmigrate.hcl names to the \
             backend of the configuration, and takes that one into use. The states in the source stay.",
        )
        .args([
            switch("force-copy", false, "Answer all questions about copying states with yes."),
            text("destination-provider-lock-file", "path", "A dependency lock file that selects the provider of the destination, if that is a state store."),
            input_flag(),
            text("source-provider-lock-file", "path", "A dependency lock file that selects the provider of the source, if that is a state store."),
            switch("upgrade", false, "Select the newest version of the provider of the destination that the version constraints allow."),
        ])
        .args(lock_flags())
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags())
}

/// `missing`: why a file cannot be read, if it cannot.
pub fn parse(args: &[String], missing: Missing<'_>) -> Parsed<Migrate> {
    let (given, mut diagnostics) = gather(command(), args);
    let path = |name: &str| given.text(name).map(PathBuf::from);
    let (source_lock, destination_lock) = (path("source-provider-lock-file"), path("destination-provider-lock-file"));
    if !diagnostics.has_errors() {
        let paths = [("source", &source_lock), ("destination", &destination_lock)];
        let paths = || paths.iter().filter_map(|(place, path)| Some((*place, path.as_deref()?)));
        for (place, _) in paths().filter(|_| given.on("input")) {
            let detail = format!("-{place}-provider-lock-file cannot be used outside of automation (with -input=true)");
            diagnostics.error("Conflicting command-line flags provided", detail);
        }
        paths().for_each(|(place, path)| check_lock_file(place, path, missing, &mut diagnostics));
    }
    if diagnostics.has_errors() {
        return Err(ArgsError::Diagnostics { diagnostics, hint: false });
    }
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    let options = StateOptions {
        lock: given.on("lock"),
        lock_timeout: given.duration("lock-timeout"),
        ..StateOptions::default()
    };
    let wanted = Migrate {
        force_copy: given.on("force-copy"),
        input: given.on("input"),
        options,
        source_lock,
        destination_lock,
        upgrade: given.on("upgrade"),
    };
    Ok((wanted, variable_arguments(&given)))
}

/// A lock file for a provider takes the place of a question.
fn check_lock_file(place: &str, path: &Path, missing: Missing<'_>, diagnostics: &mut Diagnostics) {
    if let Some(why) = missing(path) {
        let detail = format!("{:?}: {why}", path.display().to_string());
        diagnostics.error(format!("Unreadable {place} provider lock file"), detail);
    }
    if let Some(problem) = lock_file_name_problem(path) {
        diagnostics.error(format!("Invalid {place}-provider-lock-file"), problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_need_input_disabled_and_the_right_name() {
        let summaries =
            |args: &[&str]| match parse(&args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>(), &|path| {
                path.starts_with("gone").then(|| "stat: gone".to_owned())
            }) {
                Err(ArgsError::Diagnostics { diagnostics, .. }) => {
                    diagnostics.into_iter().map(|problem| problem.summary.to_string()).collect()
                }
                _ => Vec::new(),
            };
        let good = "-source-provider-lock-file=d/.terraform.lock.hcl";
        assert!(summaries(&["-input=false", good]).is_empty());
        assert_eq!(summaries(&[good]), ["Conflicting command-line flags provided"]);
        assert_eq!(
            summaries(&["-input=false", "-destination-provider-lock-file=gone/x"]),
            ["Unreadable destination provider lock file", "Invalid destination-provider-lock-file"]
        );
    }
}
