//! `policy test` and `policy validate`

use std::path::PathBuf;

use base::diag::Diagnostics;
use base::name::COMMAND;
use clap::{Arg, Command};
use ops::policies::test::PolicyTestRequest;

use super::common::{TOO_MANY, json_flag, view_flags};
use super::flags::{self, Given, list, text};
use super::{ArgsError, gather};

/// What is said where there are words: the flags name all paths.
const NO_WORDS: &str = "The paths of policies and of their tests are flags: -policies=PATH and -tests=PATH.";

fn policies_flag() -> Arg {
    text("policies", "path", "The file with policies (*.policy.hcl), or the folder with such files.").default_value(".")
}

pub fn test_command() -> Command {
    flags::command("policy test")
        .about("Run the tests of policies")
        .long_about(format!(
            "Evaluates policies (*.policy.hcl) for the objects that test files (*.policytest.hcl) declare, and compares the results with \
             what the tests expect. Needs no configuration, no state and no provider.\n\n\
             \"{COMMAND} plan -policies=PATH\" evaluates policies for a plan."
        ))
        .args([
            policies_flag(),
            text("tests", "path", "The file or the folder with tests. Default: where the policies are."),
            list("input", "name=value", "The value of an input of the policies. May be repeated."),
            list("input-file", "path", "A file with values of inputs, in the form of a .tfvars file. May be repeated."),
            json_flag(),
        ])
        .args(view_flags())
}

pub fn validate_command() -> Command {
    flags::command("policy validate")
        .about("Check whether policies are valid")
        .long_about(
            "Checks files with policies (*.policy.hcl) and tests of policies (*.policytest.hcl): their syntax, blocks and settings. \
             Expressions are not evaluated.",
        )
        .args([policies_flag(), json_flag()])
        .args(view_flags())
}

#[derive(Debug)]
pub struct PolicyTest {
    pub request: PolicyTestRequest,
    pub json: bool,
}

#[derive(Debug)]
pub struct PolicyValidate {
    pub policies: PathBuf,
    pub json: bool,
}

pub fn parse_test(args: &[String]) -> Result<PolicyTest, ArgsError> {
    let given = parsed(test_command(), args, ArgsError::Json)?;
    let request = PolicyTestRequest {
        policies: path(&given),
        tests: given.text("tests").map(Into::into),
        inputs: given.texts("input"),
        input_files: given.texts("input-file").into_iter().map(Into::into).collect(),
    };
    Ok(PolicyTest { request, json: given.on("json") })
}

pub fn parse_validate(args: &[String]) -> Result<PolicyValidate, ArgsError> {
    let given = parsed(validate_command(), args, ArgsError::Document)?;
    Ok(PolicyValidate { policies: path(&given), json: given.on("json") })
}

/// `for_programs`: the form of errors with `-json`.
fn parsed(
    command: Command,
    args: &[String],
    for_programs: fn(Diagnostics) -> ArgsError,
) -> Result<clap::ArgMatches, ArgsError> {
    let (given, mut diagnostics) = gather(command, args);
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, NO_WORDS);
    }
    match (diagnostics.has_errors(), given.on("json")) {
        (false, _) => Ok(given),
        (true, true) => Err(for_programs(diagnostics)),
        (true, false) => Err(ArgsError::all(diagnostics, false)),
    }
}

fn path(given: &clap::ArgMatches) -> PathBuf {
    given.text("policies").unwrap_or_default().into()
}
