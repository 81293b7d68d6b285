//! `workspace list`, `show`, `new`, `select` and `delete`

use std::path::PathBuf;

use base::diag::Diagnostic;
use base::dialect::Dialect;
use clap::{ArgMatches, Command};
use ops::interface::options::StateOptions;

use super::common::{json_flags, lock_flags, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, switch, text};
use super::{ArgsError, BAD_FLAGS, Parsed, TOO_MANY_WORDS};
use crate::opentofu;

pub fn list_command() -> Command {
    flags::command("workspace list")
        .about("List Workspaces")
        .long_about("Lists the workspaces. An asterisk marks the current one.")
        .args(json_flags())
        .args(variable_flags())
        .args(view_flags())
}

/// Whether JSON is wanted.
pub fn parse_list(args: &[String], dialect: Dialect) -> Parsed<bool> {
    let (given, unknown) = flags::parse_partly(list_command(), args);
    let has_document = given.on("json") && opentofu::writes_documents(dialect);
    if let Some(error) = unknown {
        return Err(match has_document {
            true => ArgsError::Document(Diagnostic::error(BAD_FLAGS, error.to_string()).into()),
            false => ArgsError::flag_with_page(error),
        });
    }
    if !given.positional().is_empty() {
        return Err(match has_document {
            true => ArgsError::Document(Diagnostic::error(TOO_MANY_WORDS, "").into()),
            false => ArgsError::too_many(),
        });
    }
    Ok((given.on("json"), variable_arguments(&given)))
}

pub fn show_command() -> Command {
    flags::command("workspace show")
        .about("Show the name of the current workspace")
        .long_about("Shows the name of the current workspace.")
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_show(args: &[String]) -> Parsed<()> {
    let given = flags::parse(show_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok(((), variable_arguments(&given)))
}

#[derive(Debug)]
pub struct New {
    pub name: String,
    pub state: Option<PathBuf>,
    pub json: bool,
    pub options: StateOptions,
}

pub fn new_command() -> Command {
    flags::command("workspace new")
        .about("Create a new workspace")
        .override_usage("[options] NAME")
        .long_about("Creates a workspace with an empty state, and selects it.")
        .args(lock_flags())
        .args([text("state", "path", "A state file to copy to the new workspace.")])
        .args(json_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_new(args: &[String]) -> Parsed<New> {
    let given = flags::parse(new_command(), args).map_err(ArgsError::flag_with_page)?;
    let state = given.text("state").filter(|path| !path.is_empty()).map(Into::into);
    Ok((
        New { name: name(&given)?, state, json: given.on("json"), options: options(&given) },
        variable_arguments(&given),
    ))
}

#[derive(Debug)]
pub struct Select {
    pub name: String,
    pub or_create: bool,
    pub json: bool,
}

pub fn select_command() -> Command {
    flags::command("workspace select")
        .about("Select a workspace")
        .override_usage("[options] NAME")
        .long_about("Selects the workspace that the commands in this working directory use.")
        .args([switch("or-create", false, "Create the workspace if it does not exist.")])
        .args(json_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_select(args: &[String]) -> Parsed<Select> {
    let given = flags::parse(select_command(), args).map_err(ArgsError::flag_with_page)?;
    Ok((
        Select { name: name(&given)?, or_create: given.on("or-create"), json: given.on("json") },
        variable_arguments(&given),
    ))
}

#[derive(Debug)]
pub struct Delete {
    pub name: String,
    pub force: bool,
    pub json: bool,
    pub options: StateOptions,
}

pub fn delete_command() -> Command {
    flags::command("workspace delete")
        .about("Delete a workspace")
        .override_usage("[options] NAME")
        .long_about("Deletes a workspace and its state. The current workspace cannot be deleted.")
        .args([switch(
            "force",
            false,
            "Delete the workspace even if its state has objects. The objects stay, and are no longer managed.",
        )])
        .args(json_flags())
        .args(lock_flags())
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse_delete(args: &[String]) -> Parsed<Delete> {
    let given = flags::parse(delete_command(), args).map_err(ArgsError::flag_with_page)?;
    let wanted =
        Delete { name: name(&given)?, force: given.on("force"), json: given.on("json"), options: options(&given) };
    Ok((wanted, variable_arguments(&given)))
}

fn options(given: &ArgMatches) -> StateOptions {
    StateOptions { lock: given.on("lock"), lock_timeout: given.duration("lock-timeout"), ..StateOptions::default() }
}

fn name(given: &ArgMatches) -> Result<String, ArgsError> {
    match given.positional().as_slice() {
        [name] => Ok(name.clone()),
        _ => Err(ArgsError::TextThenPage("Expected a single argument: NAME.\n".into())),
    }
}
