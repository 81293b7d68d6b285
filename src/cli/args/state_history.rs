//! `state history` and `state restore`

use clap::Command;
use ops::state::edits::Locking;
use ops::state::restore::Restore;

use super::common::{
    ignore_remote_version_flag, json_flag, lock_flags, variable_arguments, variable_flags, view_flags,
};
use super::flags::{self, Given, switch, text};
use super::{ArgsError, Parsed};

pub fn history_command() -> Command {
    flags::command("state history")
        .about("List earlier snapshots of the state")
        .long_about(
            "Lists earlier snapshots of the current workspace's state, the newest first. This machine keeps some: each command \
             that writes the state keeps what it wrote, in the data directory. S3, Google Cloud Storage, Azure Storage and HCP \
             Terraform can keep versions themselves, which are listed, too. An asterisk marks the current one. \
             TERRANE_STATE_HISTORY says how many are kept, and how many versions are listed.",
        )
        .args([json_flag()])
        .args(variable_flags())
        .args(view_flags())
}

/// Whether JSON is wanted.
pub fn parse_history(args: &[String]) -> Parsed<bool> {
    let given = flags::parse(history_command(), args).map_err(ArgsError::flag_with_page)?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    Ok((given.on("json"), variable_arguments(&given)))
}

pub fn restore_command() -> Command {
    flags::command("state restore")
        .about("Replace the state by an earlier snapshot")
        .override_usage("[options] SERIAL")
        .long_about(
            "Replaces the state of the current workspace by the snapshot with that serial, which \"state history\" lists. It is \
             written as the next snapshot of the state, with a new serial. Changes no infrastructure. A backup of the state is \
             written as by other commands that change it.",
        )
        .args([
            switch("auto-approve", false, "Do not ask for confirmation."),
            switch("dry-run", false, "Show what would change, and change nothing."),
            switch("force", false, "Restore the snapshot even if its lineage is not that of the state."),
            text("backup", "path", "For the local backend only: the file to keep the previous state in. Default: a file beside the state, with the time in its name."),
        ])
        .args(lock_flags())
        .args([ignore_remote_version_flag()])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_restore(args: &[String]) -> Parsed<Restore> {
    let given = flags::parse(restore_command(), args).map_err(ArgsError::flag_with_page)?;
    let words = given.positional();
    let [serial] = words.as_slice() else {
        return Err(ArgsError::TextThenPage("Exactly one argument expected.\n".into()));
    };
    let serial = serial.parse().map_err(|_| ArgsError::Text {
        text: format!("The serial must be a whole number, not {serial:?}."),
        usage: false,
    })?;
    let restore = Restore {
        serial,
        force: given.on("force"),
        dry_run: given.on("dry-run"),
        auto_approve: given.on("auto-approve"),
        locking: Locking {
            lock: given.on("lock"),
            lock_timeout: given.duration("lock-timeout"),
            ignore_remote_version: given.on("ignore-remote-version"),
        },
        backup: given.text("backup").filter(|path| !matches!(path.as_str(), "" | "-")).map(Into::into),
    };
    Ok((restore, variable_arguments(&given)))
}
