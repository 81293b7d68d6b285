//! `init`

use std::path::{Path, PathBuf};

use base::diag::Diagnostics;
use base::name::PROGRAM;
use clap::{ArgMatches, Command};
use model::version::at_least;
use ops::init::upgrade_of_readonly_lock;
use ops::interface::options::VariableArgument;

use super::common::*;
use super::flags::{self, Given, duration, list, switch, text};
use super::{ArgsError, Missing, TOO_MANY_WORDS, gather, lock_file_name_problem};

#[derive(Debug)]
pub struct Init {
    pub upgrade: bool,
    pub get: bool,
    pub backend: bool,
    pub backend_config: Vec<String>,
    pub reconfigure: bool,
    pub migrate_state: bool,
    pub force_copy: bool,
    pub ignore_remote_version: bool,
    pub from_module: Option<String>,
    pub plugin_dirs: Vec<PathBuf>,
    pub policies: Vec<PathBuf>,
    pub lockfile_readonly: bool,
    pub test_dir: String,
    pub input: bool,
    pub json: bool,
    pub lock: bool,
    pub lock_timeout: std::time::Duration,
    pub state_provider_lock_file: Option<PathBuf>,
    pub variables: Vec<VariableArgument>,
}

pub fn command() -> Command {
    flags::command("init")
        .about("Prepare your working directory for other commands")
        .long_about(
            "Prepares a working directory: downloads modules, configures the backend and installs providers. Run it first, and \
             again after changes to any of these. It deletes neither configuration nor state, and may be run any number of times.",
        )
        .args([
            switch("backend", true, "Do not configure the backend; use what an earlier init configured."),
            switch("cloud", true, "The same as -backend.").hide(true),
            list("backend-config", "path|key=value", "A setting of the backend, or a file of settings, in addition to the backend block. May be repeated."),
            switch("enable-pluggable-state-storage-experiment", false, "State stores need no option.").hide(true),
            switch("force-copy", false, "Answer yes to all questions about copying the state."),
            text("from-module", "source", "Copy this module into the working directory first, which must be empty."),
            switch("get", true, "Do not download modules."),
            ignore_remote_version_flag(),
            input_flag(),
            json_flag(),
            json_into_flag(),
            switch("lock", true, "Do not lock the state while it is migrated."),
            duration("lock-timeout", "0s", "How long to wait for a lock that is held elsewhere, such as 30s or 5m."),
            text("lockfile", "mode", "readonly: check providers against the dependency lock file, and fail if it would have to change."),
            switch("migrate-state", false, "Configure the backend anew, and copy the existing state to it."),
            list("plugin-dir", "path", "Install providers from this folder only. May be repeated."),
            list(
                "policies",
                "path",
                "Evaluate the policies of this file (*.policy.hcl), or of those in this folder and below it, for modules and providers before they are installed. May be repeated.",
            ),
            switch("reconfigure", false, "Configure the backend anew, and ignore the existing configuration and state."),
            text("state-provider-lock-file", "path", "A dependency lock file that selects the provider of the state store."),
            test_directory_flag(),
            switch("upgrade", false, "Install the newest modules and providers that the version constraints allow, not those in the dependency lock file."),
        ])
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags())
}

/// `missing`: why a file cannot be read, if it cannot.
pub fn parse(args: &[String], missing: Missing<'_>) -> Result<Init, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    let json = given.on("json");
    let words = given.positional();
    if given.on("migrate-state") && json {
        diagnostics.error(
            "The -migrate-state and -json options are mutually-exclusive",
            format!("{PROGRAM} cannot ask for interactive approval when -json is set. To use the -migrate-state option, disable the -json option."),
        );
    }
    if given.on("migrate-state") && given.on("reconfigure") {
        diagnostics
            .error("Invalid init options", "The -migrate-state and -reconfigure options are mutually-exclusive.");
    }
    let readonly = given.text("lockfile").as_deref() == Some("readonly");
    if readonly && given.on("upgrade") && at_least(16) {
        diagnostics.push(upgrade_of_readonly_lock());
    }
    let lock_file = given.text("state-provider-lock-file").map(PathBuf::from);
    if let Some(path) = &lock_file {
        check_lock_file(path, &given, missing, &mut diagnostics);
    }
    if !words.is_empty() && !diagnostics.has_errors() {
        diagnostics.error(TOO_MANY_WORDS, "");
    }
    if diagnostics.has_errors() {
        return Err(if json {
            ArgsError::Json(diagnostics)
        } else {
            ArgsError::Diagnostics { diagnostics, hint: false }
        });
    }
    Ok(Init {
        upgrade: given.on("upgrade"),
        get: given.on("get"),
        backend: given.on("backend") && given.on("cloud"),
        backend_config: given.texts("backend-config"),
        reconfigure: given.on("reconfigure"),
        migrate_state: given.on("migrate-state") || given.on("force-copy"),
        force_copy: given.on("force-copy"),
        ignore_remote_version: given.on("ignore-remote-version"),
        from_module: given.text("from-module").filter(|source| !source.is_empty()),
        plugin_dirs: given.texts("plugin-dir").into_iter().map(PathBuf::from).collect(),
        policies: given.texts("policies").into_iter().map(PathBuf::from).collect(),
        lockfile_readonly: readonly,
        test_dir: given.text("test-directory").unwrap_or_else(|| "tests".to_string()),
        input: given.on("input") && !json,
        json,
        lock: given.on("lock"),
        lock_timeout: given.duration("lock-timeout"),
        state_provider_lock_file: lock_file,
        variables: variable_arguments(&given),
    })
}

/// A lock file for the provider of a state store takes the place of a question.
fn check_lock_file(path: &Path, given: &ArgMatches, missing: Missing<'_>, diagnostics: &mut Diagnostics) {
    if given.on("input") {
        diagnostics.error(
            "Cannot use -state-provider-lock-file flag when input is enabled",
            "The -state-provider-lock-file flag is only intended to be used when input is disabled. Either remove the flag or add \
             -input=false to your command.",
        );
    }
    if given.on("upgrade") {
        diagnostics.error(
            "The -state-provider-lock-file and -upgrade options are mutually-exclusive",
            format!(
                "The -upgrade flag causes {PROGRAM} to ignore prior dependency locks, so it cannot be used in conjunction with the \
                 -state-provider-lock-file flag. Remove one flag and try again."
            ),
        );
    }
    if let Some(problem) = lock_file_name_problem(path) {
        diagnostics.error("Invalid -state-provider-lock-file value", problem);
    }
    if missing(path).is_some() {
        let shown = path.display();
        diagnostics.error(
            "Lock file supplied by -state-provider-lock-file does not exist",
            format!(
                "{PROGRAM} cannot find the dependency lock file at {shown}. Please ensure the file exists and the path is correct."
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_for_the_state_store_needs_input_disabled_and_the_right_name() {
        let summaries = |args: &[&str], missing: Missing<'_>| match parse(
            &args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>(),
            missing,
        ) {
            Err(ArgsError::Diagnostics { diagnostics, .. }) => {
                diagnostics.into_iter().map(|problem| problem.summary.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let (good, there) = ("-state-provider-lock-file=d/.terraform.lock.hcl", |_: &Path| None);
        assert!(summaries(&["-input=false", good], &there).is_empty());
        let input = "Cannot use -state-provider-lock-file flag when input is enabled";
        assert_eq!(summaries(&[good], &there), [input]);
        let upgrade = "The -state-provider-lock-file and -upgrade options are mutually-exclusive";
        assert_eq!(summaries(&["-input=false", "-upgrade", good], &there), [upgrade]);
        let found = summaries(&["-input=false", "-state-provider-lock-file=x"], &|_| Some("gone".to_owned()));
        let missing = "Lock file supplied by -state-provider-lock-file does not exist";
        assert_eq!(found, ["Invalid -state-provider-lock-file value", missing]);
    }
}
