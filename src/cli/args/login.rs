//! `login` and `logout`

use base::dialect::Dialect;
use clap::Command;

use super::ArgsError;
use super::common::{input_flag, json_flags, view_flags};
use super::flags::{self, Given};

pub fn command() -> Command {
    flags::command("login")
        .about("Obtain and save credentials for a remote host")
        .override_usage("[hostname]")
        .long_about(
            "Gets an API token from a host (default: app.terraform.io) and saves it: with the credentials helper of the CLI \
             configuration, or else in the file ~/.terraform.d/credentials.tfrc.json.",
        )
        .args([input_flag()])
        .args(json_flags())
        .args(view_flags())
}

pub fn logout_command() -> Command {
    flags::command("logout")
        .about("Remove locally-stored credentials for a remote host")
        .override_usage("[hostname]")
        .long_about(
            "Removes the saved API token of a host (default: app.terraform.io). The host is not asked: the token stays valid until \
             it is revoked there.",
        )
        .args(json_flags())
        .args(view_flags())
}

#[derive(Debug)]
pub struct Login {
    pub host: Option<String>,
    pub input: bool,
    pub json: bool,
}

#[derive(Debug)]
pub struct Logout {
    pub host: Option<String>,
    pub json: bool,
}

pub fn parse(args: &[String], dialect: Dialect) -> Result<Login, ArgsError> {
    let given = parsed(command(), args)?;
    let host = one(&given, dialect, "login", "the host to log in to")?;
    let json = given.on("json");
    Ok(Login { host, input: given.on("input") && !json, json })
}

pub fn parse_logout(args: &[String], dialect: Dialect) -> Result<Logout, ArgsError> {
    let given = parsed(logout_command(), args)?;
    Ok(Logout { host: one(&given, dialect, "logout", "the host to log out of")?, json: given.on("json") })
}

fn parsed(command: Command, args: &[String]) -> Result<clap::ArgMatches, ArgsError> {
    flags::parse(command, args).map_err(ArgsError::flag_with_page)
}

/// The argument, which may be missing if there is a default.
fn one(given: &clap::ArgMatches, dialect: Dialect, command: &str, what: &str) -> Result<Option<String>, ArgsError> {
    let mut words = given.positional();
    let (count, fits) = match dialect.service_host() {
        Some(_) => ("at most", words.len() <= 1),
        None => ("exactly", words.len() == 1),
    };
    match fits {
        true => Ok(words.pop()),
        false => {
            let text = format!("The {command} command expects {count} one argument: {what}.");
            Err(ArgsError::Text { text, usage: true })
        }
    }
}
