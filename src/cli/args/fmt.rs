//! `fmt`

use clap::Command;

use super::ArgsError;
use super::flags::{self, Given, switch};
use crate::ops::fmt::FmtOptions;

#[derive(Debug)]
pub struct Fmt {
    /// Files and folders; None for standard input.
    pub paths: Option<Vec<String>>,
    pub options: FmtOptions,
    pub check: bool,
    /// Names are shown; with `check` they are found out in any case.
    pub list: bool,
}

pub fn command() -> Command {
    flags::command("fmt")
        .about("Reformat your configuration in the standard style")
        .override_usage("[options] [target...]")
        .long_about(
            "Rewrites configuration (.tf, .tofu), values (.tfvars) and test files (.tftest.hcl, .tfmock.hcl, .tfquery.hcl, \
             .tofutest.hcl) in the standard style. A file with a syntax error is left alone.\n\n\
             Takes files and folders; the working directory if none is given. A single dash stands for standard input, \
             whose result goes to standard output.",
        )
        .args([
            switch("list", true, "Name the files whose style differs. Never for standard input."),
            switch("write", true, "Write to the files. Never for standard input or with -check."),
            switch("diff", false, "Show what changes."),
            switch("check", false, "Change nothing; the exit status is 3 if something would be changed."),
            switch("recursive", false, "Look into the folders below as well, but for hidden ones."),
            switch("no-color", false, "Leave colours out of the output."),
        ])
}

pub fn parse(args: &[String]) -> Result<Fmt, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    let positional = given.positional();
    let paths = match positional.first().map(String::as_str) {
        Some("-") => None,
        None => Some(vec![".".to_string()]),
        Some(_) => Some(positional),
    };
    let is_stdin = paths.is_none();
    let (check, list) = (given.on("check"), given.on("list") && !is_stdin);
    Ok(Fmt {
        paths,
        options: FmtOptions {
            recursive: given.on("recursive"),
            list: list || check,
            write: given.on("write") && !check && !is_stdin,
            diff: given.on("diff"),
        },
        check,
        list,
    })
}
