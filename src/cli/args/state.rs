//! `state list`, `state identities`, `state show` and `state pull`

use std::path::PathBuf;

use clap::{ArgMatches, Command};

use super::common::{json_flag, json_flags, show_sensitive_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, text};
use super::{ArgsError, Parsed};

#[derive(Debug)]
pub struct List {
    pub addresses: Vec<String>,
    pub state: Option<PathBuf>,
    pub id: Option<String>,
    pub json: bool,
}

pub fn list_command() -> Command {
    flags::command("state list")
        .about("List resources in the state")
        .override_usage("[options] [address...]")
        .long_about(
            "Lists the resource instances that the state holds, all of them or those within the given addresses. An address may \
             have \"*\" in it, which stands for any characters: \"aws_instance.web*\" or \"module.a.*\".",
        )
        .args(json_flags())
        .args([
            text("state", "path", "Legacy, local backend only: the state file to use."),
            text("id", "ID", "List only instances whose attribute \"id\" is this."),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_list(args: &[String]) -> Parsed<List> {
    let given = flags::parse(list_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok((selection(&given), variable_arguments(&given)))
}

pub fn identities_command() -> Command {
    flags::command("state identities")
        .about("List the identities of resources in the state")
        .override_usage("[options] -json [address...]")
        .long_about(
            "Lists what identifies the objects of resource instances in the state, as JSON by address: of all instances or of \
             those within the given addresses. Instances whose provider does not identify its objects are left out.",
        )
        .args([
            json_flag(),
            text("state", "path", "For the local backend only: the state file to use."),
            text("id", "ID", "List only instances whose attribute \"id\" has this value."),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_identities(args: &[String]) -> Parsed<List> {
    let with_page = |error| ArgsError::TextThenPage(format!("Error parsing command-line flags: {error}\n"));
    let given = flags::parse(identities_command(), args).map_err(with_page)?;
    Ok((selection(&given), variable_arguments(&given)))
}

fn selection(given: &ArgMatches) -> List {
    List {
        addresses: given.positional(),
        state: given.text("state").filter(|path| !path.is_empty()).map(Into::into),
        id: given.text("id").filter(|id| !id.is_empty()),
        json: given.on("json"),
    }
}

#[derive(Debug)]
pub struct ShowInstance {
    pub address: String,
    pub state: Option<PathBuf>,
    pub json: bool,
}

pub fn show_command() -> Command {
    flags::command("state show")
        .about("Show a resource in the state")
        .override_usage("[options] ADDRESS")
        .long_about("Shows the attributes of one resource instance as the state holds them.")
        .args(json_flags())
        .args([text("state", "path", "Legacy, local backend only: the state file to use.")])
        .args(variable_flags())
        .arg(show_sensitive_flag())
        .args(view_flags())
}

pub fn parse_show(args: &[String]) -> Parsed<ShowInstance> {
    let page = |error| ArgsError::Text { text: format!("Error parsing command-line flags: {error}\n"), usage: false };
    let given = flags::parse(show_command(), args).map_err(page)?;
    match given.positional().as_slice() {
        [address] => {
            let state = given.text("state").filter(|path| !path.is_empty()).map(Into::into);
            Ok((ShowInstance { address: address.clone(), state, json: given.on("json") }, variable_arguments(&given)))
        }
        _ => Err(ArgsError::TextThenPage("Exactly one argument expected.\n".into())),
    }
}

pub fn pull_command() -> Command {
    flags::command("state pull")
        .about("Pull current state and output to stdout")
        .long_about("Writes the state to standard output, in the newest format, from wherever it is kept.")
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_pull(args: &[String]) -> Parsed<()> {
    let given = flags::parse(pull_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok(((), variable_arguments(&given)))
}
