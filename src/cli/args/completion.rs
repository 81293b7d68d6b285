//! `completion`

use clap::Command;

use super::ArgsError;
use super::flags::{self, Given};

/// A shell that there is a script for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    PowerShell,
}

pub const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell];

impl Shell {
    pub fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::PowerShell => "powershell",
        }
    }

    pub fn named(name: &str) -> Option<Shell> {
        SHELLS.into_iter().find(|shell| shell.name() == name)
    }
}

pub fn command() -> Command {
    flags::command("completion")
        .about("Print a script that completes command lines in a shell")
        .override_usage("SHELL")
        .long_about(
            "Prints the script that makes a shell complete commands, flags, files, workspaces and addresses. SHELL is bash, zsh, \
             fish or powershell. To try it in bash: source <(terrane completion bash)",
        )
}

/// The shell that was asked for.
pub fn parse(args: &[String]) -> Result<Shell, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    let known = || SHELLS.map(Shell::name).join(", ");
    match given.positional().as_slice() {
        [name] => Shell::named(name).ok_or_else(|| {
            ArgsError::usage("Unknown shell", format!("There is no script for {name:?}, only for: {}.", known()))
        }),
        _ => Err(ArgsError::usage("Name of a shell expected", format!("Expected one argument, out of: {}.", known()))),
    }
}
