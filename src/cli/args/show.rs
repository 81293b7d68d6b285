//! `show`

use clap::Command;

use super::common::*;
use super::flags::{self, Given};
use super::{Parsed, gather};

#[derive(Debug)]
pub struct Show {
    pub path: Option<String>,
    pub json: bool,
}

pub fn command() -> Command {
    flags::command("show")
        .about("Show the current state or a saved plan")
        .override_usage("[options] [path]")
        .long_about("Shows the current state, or the state file or saved plan with the given path.")
        .args([json_flag()])
        .args(variable_flags())
        .arg(show_sensitive_flag())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Parsed<Show> {
    let (given, diagnostics) = gather(command(), args);
    let path = first_of_at_most_one(&given, diagnostics)?;
    let path = path.filter(|path| !path.is_empty());
    Ok((Show { path, json: given.on("json") }, variable_arguments(&given)))
}
