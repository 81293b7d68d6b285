//! The reference's flag syntax on top of clap: one dash or two, `-flag=value` or `-flag value`, booleans that take a value only after
//! `=`, flags only before the first positional argument, and its wording of errors.
//!
//! Knows flags only through a [`clap::Command`]; never knows what they mean.

use std::any::TypeId;
use std::fmt;
use std::num::ParseIntError;
use std::time::Duration;

use base::suggest;
use clap::{Arg, ArgAction, ArgMatches, Command};

/// A command without clap's own help, errors and version.
pub fn command(name: &'static str) -> Command {
    Command::new(name)
        .no_binary_name(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args_override_self(true)
        .arg(Arg::new(POSITIONAL).num_args(0..).hide(true).allow_hyphen_values(true))
}

/// Name under which positional arguments are found.
pub const POSITIONAL: &str = "";

/// A boolean; `help` as the help page shows it.
pub fn switch(name: &'static str, default: bool, help: &'static str) -> Arg {
    let default = if default { "true" } else { "false" };
    let arg = Arg::new(name).long(name).num_args(0..=1).require_equals(true);
    arg.default_missing_value("true")
        .default_value(default)
        .value_parser(|text: &str| boolean(text).ok_or("boolean"))
        .help(help)
}

/// A text; `value` names it on the help page.
pub fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).num_args(1).allow_hyphen_values(true).value_name(value).help(help)
}

/// A text that may be given again and again.
pub fn list(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    text(name, value, help).action(ArgAction::Append)
}

/// A text that may be left out: then the value is [`WITHOUT_VALUE`].
pub fn optional(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    text(name, value, help).require_equals(true)
}

/// The value of a flag that stands alone.
pub const WITHOUT_VALUE: &str = "true";

/// A whole number.
pub fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    text(name, "n", help).default_value(default).value_parser(integer)
}

/// A length of time such as `1m30s`.
pub fn duration(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    text(name, "duration", help)
        .default_value(default)
        .value_parser(|text: &str| terrane_value::duration::parse(text).map_err(|_| "duration".to_string()))
}

/// What is wrong with a flag, as the reference words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// It has three dashes, or no name.
    Syntax(String),
    /// The command has no such flag; `close`: the one that was probably meant.
    Unknown { name: String, close: Option<String> },
    /// There is no value behind it.
    NoArgument(String),
    /// A switch has another value than true or false.
    Boolean { name: String, value: String },
    /// A flag has a value that it does not take.
    Value { name: String, value: String },
    /// The words behind the flags are refused.
    Words(String),
}

impl fmt::Display for FlagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlagError::Syntax(arg) => write!(f, "bad flag syntax: {arg}"),
            FlagError::Unknown { name, close: None } => write!(f, "flag provided but not defined: -{name}"),
            FlagError::Unknown { name, close: Some(close) } => {
                write!(f, "flag provided but not defined: -{name}. Did you mean \"-{close}\"?")
            }
            FlagError::NoArgument(name) => write!(f, "flag needs an argument: -{name}"),
            FlagError::Boolean { name, value } => write!(f, "invalid boolean value {value:?} for -{name}: parse error"),
            FlagError::Value { name, value } => write!(f, "invalid value {value:?} for flag -{name}: parse error"),
            FlagError::Words(text) => f.write_str(text),
        }
    }
}

/// The arguments sorted out, or what is wrong with the first one that is wrong.
pub fn parse(command: Command, args: &[String]) -> Result<ArgMatches, FlagError> {
    match parse_partly(command, args) {
        (given, None) => Ok(given),
        (_, Some(why)) => Err(why),
    }
}

/// The arguments sorted out up to the first one that is wrong, what is wrong with that, and behind it only words.
pub fn parse_partly(command: Command, args: &[String]) -> (ArgMatches, Option<FlagError>) {
    let mut normal = Vec::with_capacity(args.len() + 1);
    let mut rest = args.iter();
    let mistake = flags(&command, &mut rest, &mut normal).err();
    normal.push("--".to_string());
    normal.extend(rest.cloned());
    match command.try_get_matches_from(normal) {
        Ok(given) => (given, mistake),
        Err(error) => (ArgMatches::default(), Some(FlagError::Words(error.to_string()))),
    }
}

/// Takes the flags off the words, as clap reads them without doubt: `--name=value` each. A wrong one is taken off too.
fn flags(
    command: &Command,
    rest: &mut std::slice::Iter<'_, String>,
    normal: &mut Vec<String>,
) -> Result<(), FlagError> {
    while let Some(arg) = rest.as_slice().first() {
        if arg == "-" || !arg.starts_with('-') {
            break;
        }
        if arg == "--" {
            rest.next();
            break;
        }
        let bare = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')).unwrap_or(arg);
        if bare.is_empty() || bare.starts_with(['-', '=']) {
            return Err(FlagError::Syntax(arg.clone()));
        }
        rest.next();
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        let Some(flag) = command.get_arguments().find(|a| a.get_long() == Some(name)) else {
            return Err(FlagError::Unknown { name: name.to_owned(), close: closest(command, name) });
        };
        let value = match value {
            Some(value) => value,
            None if is_switch(flag) => WITHOUT_VALUE,
            None => rest.next().ok_or_else(|| FlagError::NoArgument(name.to_owned()))?,
        };
        check(flag, name, value)?;
        normal.push(format!("--{name}={value}"));
    }
    Ok(())
}

/// The flag that was probably meant.
fn closest(command: &Command, name: &str) -> Option<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    suggest::closest(name, shown.filter_map(|arg| arg.get_long())).map(str::to_owned)
}

/// Whether a flag may stand alone.
pub fn is_switch(flag: &Arg) -> bool {
    flag.is_require_equals_set()
}

/// Whether a flag that may stand alone takes other values than true and false.
pub fn takes_text(flag: &Arg) -> bool {
    flag.get_value_parser().type_id() == TypeId::of::<String>()
}

/// Whether a value is one that the flag takes.
fn check(flag: &Arg, name: &str, value: &str) -> Result<(), FlagError> {
    let (name, value) = (name.to_owned(), value.to_owned());
    let kind = flag.get_value_parser().type_id();
    if kind == TypeId::of::<bool>() {
        return match boolean(&value) {
            Some(_) => Ok(()),
            None => Err(FlagError::Boolean { name, value }),
        };
    }
    let sound = if kind == TypeId::of::<i64>() {
        integer(&value).is_ok()
    } else if kind == TypeId::of::<Duration>() {
        terrane_value::duration::parse(&value).is_ok()
    } else {
        let possible = flag.get_possible_values();
        possible.is_empty() || possible.iter().any(|one| one.matches(&value, false))
    };
    if sound { Ok(()) } else { Err(FlagError::Value { name, value }) }
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn integer(text: &str) -> Result<i64, ParseIntError> {
    text.parse()
}

/// What a command was given, by the flag's name.
pub trait Given {
    fn on(&self, name: &str) -> bool;
    fn text(&self, name: &str) -> Option<String>;
    fn texts(&self, name: &str) -> Vec<String>;
    fn number(&self, name: &str) -> i64;
    fn duration(&self, name: &str) -> Duration;
    fn positional(&self) -> Vec<String>;
}

impl Given for ArgMatches {
    fn on(&self, name: &str) -> bool {
        self.get_one::<bool>(name).copied().unwrap_or_default()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get_one::<String>(name).cloned()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.get_many::<String>(name).into_iter().flatten().cloned().collect()
    }

    fn number(&self, name: &str) -> i64 {
        self.get_one::<i64>(name).copied().unwrap_or_default()
    }

    fn duration(&self, name: &str) -> Duration {
        self.get_one::<Duration>(name).copied().unwrap_or_default()
    }

    fn positional(&self) -> Vec<String> {
        self.texts(POSITIONAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Command {
        command("t").args([
            switch("refresh", true, ""),
            list("var", "v", ""),
            number("parallelism", "10", ""),
            duration("lock-timeout", "0s", ""),
        ])
    }

    fn given(args: &[&str]) -> Result<ArgMatches, FlagError> {
        parse(sample(), &args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn one_dash_or_two_and_values_that_look_like_flags() {
        let found =
            given(&["-var", "-weird=1", "--var=x", "-refresh=false", "-lock-timeout=1m30s", "a", "-b"]).unwrap();
        assert_eq!(found.texts("var"), ["-weird=1", "x"]);
        assert!(!found.on("refresh"));
        assert_eq!(found.duration("lock-timeout").as_secs(), 90);
        assert_eq!(found.positional(), ["a", "-b"]);
        assert_eq!(found.number("parallelism"), 10);
        let again = given(&["-parallelism=2", "-parallelism", "3", "-refresh", "--", "-var"]).unwrap();
        assert_eq!(
            (again.number("parallelism"), again.on("refresh"), again.positional()),
            (3, true, vec!["-var".into()])
        );
    }

    #[test]
    fn errors_have_the_texts_of_the_reference() {
        let cases = [
            (vec!["-nope"], "flag provided but not defined: -nope"),
            (vec!["-refesh"], "flag provided but not defined: -refesh. Did you mean \"-refresh\"?"),
            (vec!["-var"], "flag needs an argument: -var"),
            (vec!["-refresh=maybe"], "invalid boolean value \"maybe\" for -refresh: parse error"),
            (vec!["-parallelism=x"], "invalid value \"x\" for flag -parallelism: parse error"),
            (vec!["-lock-timeout=5"], "invalid value \"5\" for flag -lock-timeout: parse error"),
            (vec!["---x"], "bad flag syntax: ---x"),
        ];
        for (args, expected) in cases {
            assert_eq!(given(&args).unwrap_err().to_string(), expected);
        }
    }
}
