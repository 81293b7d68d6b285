//! `output`

use clap::Command;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::{ArgsError, Parsed, gather};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Human,
    Json,
    Raw,
}

#[derive(Clone, Debug)]
pub struct Output {
    pub name: Option<String>,
    pub form: Form,
    pub state: Option<String>,
}

pub fn command() -> Command {
    flags::command("output")
        .about("Show output values from your root module")
        .override_usage("[options] [NAME]")
        .long_about("Shows the output values in the state: all of them, or the one with the given name.")
        .args([
            json_flag(),
            json_into_flag(),
            switch(
                "raw",
                false,
                "Write only the value, without quotes or a newline. For one value that is or converts to a string.",
            ),
            text("state", "path", "For the local backend only: the state file to use."),
        ])
        .args(variable_flags())
        .arg(show_sensitive_flag())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Parsed<Output> {
    let (given, mut problems) = gather(command(), args);
    let names = given.positional();
    if names.len() > 1 {
        problems.error(
            "Unexpected argument",
            "The output command expects exactly one argument with the name of an output variable or no arguments to show all outputs.",
        );
    }
    let form = match (given.on("json"), given.on("raw")) {
        (true, true) => {
            problems.error("Invalid output format", "The -raw and -json options are mutually-exclusive.");
            Form::Human
        }
        (true, false) => Form::Json,
        (false, true) => Form::Raw,
        (false, false) => Form::Human,
    };
    let name = names.into_iter().next().filter(|name| !name.is_empty());
    if form == Form::Raw && name.is_none() {
        problems.error(
            "Output name required",
            "You must give the name of a single output value when using the -raw option.",
        );
    }
    if problems.has_errors() {
        return Err(ArgsError::all(problems, false));
    }
    let state = given.text("state").filter(|path| !path.is_empty());
    Ok((Output { name, form, state }, variable_arguments(&given)))
}
