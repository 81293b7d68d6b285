//! `taint` and `untaint`

use clap::Command;
use ops::interface::options::StateOptions;

use super::common::{
    ignore_remote_version_flag, json_flags, state_flags, state_options, variable_arguments, variable_flags, view_flags,
};
use super::flags::{self, Given, switch};
use super::{ArgsError, Parsed};

#[derive(Debug)]
pub struct Taint {
    pub addresses: Vec<String>,
    pub allow_missing: bool,
    pub json: bool,
    pub options: StateOptions,
}

pub fn taint_command() -> Command {
    with_flags(
        flags::command("taint").about("Mark a resource instance as not fully functional").long_about(
            "Marks resource instances in the state as tainted: not fully functional. Changes no infrastructure; the next plan \
             replaces the objects. \"plan -replace=ADDRESS\" does the same without changing the state. An address may have \
             \"*\" in it, which stands for any characters: \"aws_instance.web*\" or \"module.a.*\".",
        ),
    )
}

pub fn untaint_command() -> Command {
    with_flags(
        flags::command("untaint").about("Remove the 'tainted' state from a resource instance").long_about(
            "Removes the mark of tainted resource instances, which \"taint\" or a failed creation left in the state. Changes no \
             infrastructure; the next plan no longer replaces the objects for it. An address may have \"*\" in it, which stands \
             for any characters.",
        ),
    )
}

fn with_flags(command: Command) -> Command {
    command
        .override_usage("[options] ADDRESS...")
        .args([
            switch("allow-missing", false, "Succeed even if the instance is not in the state."),
            ignore_remote_version_flag(),
        ])
        .args(json_flags())
        .args(state_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_taint(args: &[String]) -> Parsed<Taint> {
    parse(taint_command(), args)
}

pub fn parse_untaint(args: &[String]) -> Parsed<Taint> {
    parse(untaint_command(), args)
}

fn parse(command: Command, args: &[String]) -> Parsed<Taint> {
    let name = command.get_name().to_owned();
    let given = flags::parse(command, args).map_err(ArgsError::flag_with_page)?;
    match given.positional().as_slice() {
        [] => Err(ArgsError::TextThenErrorPage(format!("The {name} command expects exactly one argument."))),
        addresses => {
            let ignore_remote_version = given.on("ignore-remote-version");
            let options = StateOptions { ignore_remote_version, ..state_options(&given) };
            let taint = Taint {
                addresses: addresses.to_vec(),
                allow_missing: given.on("allow-missing"),
                json: given.on("json"),
                options,
            };
            Ok((taint, variable_arguments(&given)))
        }
    }
}
