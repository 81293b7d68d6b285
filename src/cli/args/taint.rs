//! `taint` and `untaint`

use clap::Command;

use super::ArgsError;
use super::common::{ignore_remote_version_flag, state_flags, state_options, view_flags};
use super::flags::{self, Given, switch};
use crate::ops::interface::options::StateOptions;

#[derive(Debug)]
pub struct Taint {
    pub address: String,
    pub allow_missing: bool,
    pub options: StateOptions,
}

pub fn taint_command() -> Command {
    with_flags(
        flags::command("taint").about("Mark a resource instance as not fully functional").long_about(
            "Marks a resource instance in the state as tainted: not fully functional. Changes no infrastructure; the next plan \
             replaces the object. \"plan -replace=ADDRESS\" does the same without changing the state.",
        ),
    )
}

pub fn untaint_command() -> Command {
    with_flags(
        flags::command("untaint").about("Remove the 'tainted' state from a resource instance").long_about(
            "Removes the mark of a tainted resource instance, which \"taint\" or a failed creation left in the state. Changes no \
             infrastructure; the next plan no longer replaces the object for it.",
        ),
    )
}

fn with_flags(command: Command) -> Command {
    command
        .override_usage("[options] ADDRESS")
        .args([
            switch("allow-missing", false, "Succeed even if the instance is not in the state."),
            ignore_remote_version_flag(),
        ])
        .args(state_flags())
        .args(view_flags())
}

pub fn parse_taint(args: &[String]) -> Result<Taint, ArgsError> {
    parse(taint_command(), args)
}

pub fn parse_untaint(args: &[String]) -> Result<Taint, ArgsError> {
    parse(untaint_command(), args)
}

fn parse(command: Command, args: &[String]) -> Result<Taint, ArgsError> {
    let name = command.get_name().to_owned();
    let given = flags::parse(command, args).map_err(ArgsError::flag_with_page)?;
    match given.positional().as_slice() {
        [address] => Ok(Taint {
            address: address.clone(),
            allow_missing: given.on("allow-missing"),
            options: StateOptions { ignore_remote_version: given.on("ignore-remote-version"), ..state_options(&given) },
        }),
        _ => Err(ArgsError::TextThenErrorPage(format!("The {name} command expects exactly one argument."))),
    }
}
