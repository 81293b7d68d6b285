//! `force-unlock`

use clap::Command;

use super::common::{json_flags, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, switch};
use super::{ArgsError, Parsed};

#[derive(Debug)]
pub struct ForceUnlock {
    pub id: String,
    pub force: bool,
    pub json: bool,
}

pub fn command() -> Command {
    flags::command("force-unlock")
        .about("Release a stuck lock on the current workspace")
        .override_usage("LOCK_ID")
        .long_about(
            "Removes a lock on the state that a command left behind. Changes no infrastructure. The kind of lock depends on the \
             backend; the lock of another process on a local state file cannot be removed.",
        )
        .args([switch("force", false, "Do not ask for confirmation.")])
        .args(json_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Parsed<ForceUnlock> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    match given.positional().as_slice() {
        [id] => {
            let wanted = ForceUnlock { id: id.clone(), force: given.on("force"), json: given.on("json") };
            Ok((wanted, variable_arguments(&given)))
        }
        _ => Err(ArgsError::Text { text: "Expected a single argument: LOCK_ID".into(), usage: true }),
    }
}
