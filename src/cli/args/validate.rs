//! `validate`

use base::name::COMMAND;
use clap::Command;
use model::lint::Selection;
use model::version::at_least;
use ops::interface::options::VariableArgument;

use super::common::*;
use super::flags::{self, Given, switch};
use super::{ArgsError, gather, lint};

#[derive(Debug)]
pub struct Validate {
    pub path: String,
    pub json: bool,
    pub variables: Vec<VariableArgument>,
    /// The folder of test files; none: they are not looked at.
    pub test_dir: Option<String>,
    /// Query files too.
    pub queries: bool,
    pub lint: Selection,
}

pub fn command() -> Command {
    let command = flags::command("validate")
        .about("Check whether the configuration is valid")
        .long_about(format!(
            "Checks the configuration: syntax, names, types, and the rules of the providers for their blocks. Reads no state and \
             no remote service. Uses values of variables only if they decide which modules are loaded.\n\n\
             The working directory must be initialised; \"{COMMAND} init -backend=false\" is enough."
        ))
        .args([
            json_flag(),
            json_into_flag(),
            switch("no-tests", false, "Do not check test files."),
            switch("query", false, "Check query files (*.tfquery.hcl) too."),
            test_directory_flag(),
        ])
        .args(variable_flags())
        .arg(progress_flag())
        .args(view_flags());
    lint::with_flag(command)
}

pub fn parse(args: &[String]) -> Result<Validate, ArgsError> {
    let (given, problems) = gather(command(), &lint::in_front(args));
    let path = match first_of_at_most_one(&given, problems) {
        Err(ArgsError::Diagnostics { diagnostics, .. }) if given.on("json") && at_least(15) => {
            return Err(ArgsError::Document(diagnostics));
        }
        path => path?.unwrap_or_else(|| ".".to_string()),
    };
    let test_dir = given.text("test-directory").unwrap_or_else(|| "tests".to_string());
    let test_dir = Some(test_dir).filter(|_| !given.on("no-tests"));
    let queries = given.on("query");
    let (json, lint) = (given.on("json"), lint::selection(&given));
    Ok(Validate { path, json, test_dir, queries, lint, variables: variable_arguments(&given) })
}
