//! `fmt`

use clap::Command;
use ops::fmt::FmtOptions;

use super::ArgsError;
use super::flags::{self, Given, switch};

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
            "Rewrites files in the standard style: configuration (.tf, .tofu), values (.tfvars) and tests (.tftest.hcl, .tfmock.hcl, \
             .tfquery.hcl, .tofutest.hcl). A file with a syntax error is not changed.\n\n\
             The targets are files and folders. Default: the working directory. With \"-\" it reads standard input and writes \
             to standard output.",
        )
        .args([
            switch("list", true, "Do not list the files whose formatting differs."),
            switch("write", true, "Do not write to the files."),
            switch("diff", false, "Show the differences."),
            switch("check", false, "Change nothing, and exit with 3 if a file is not formatted."),
            switch("recursive", false, "Also format files in subfolders, except hidden ones."),
            switch("no-color", false, "Write no colours."),
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
