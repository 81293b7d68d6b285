//! The types named `local_command`: a data source, an ephemeral resource and an action that run a program.
//!
//! Owns what they share: finding the program, running it, and the errors. Never knows their schemas.

mod action;
mod query;
#[cfg(all(test, unix))]
mod tests;

use std::process::{Output, Stdio};

pub use action::CommandAction;
use base::limits;
use base::process::{KilledGroup, in_new_group};
use base::program::output_within;
pub use query::Command;
use terrane_sdk::{Error, Path};
use tokio::io::AsyncWriteExt;

use crate::providers::program::Program;

/// A program to run, with null arguments left out.
struct Invocation<'a> {
    /// The kind of type that runs it, as messages have it: "data source".
    kind: &'static str,
    command: &'a str,
    arguments: Vec<&'a str>,
    stdin: Option<&'a str>,
    working_directory: Option<&'a str>,
    /// Variables beyond those of this process.
    environment: Vec<(&'a str, &'a str)>,
}

impl Invocation<'_> {
    /// Runs the program until it ends. Dropping the future kills it and the programs it has started.
    async fn run(&self, program: &Program) -> Result<Output, Error> {
        self.execute(program).await.map_err(|state| {
            self.failed(format!(
                "The {} received an unexpected error while attempting to execute the command.\n\n\
                 Command: {}\nState: {state}",
                self.kind,
                self.describe(program)
            ))
        })
    }

    async fn execute(&self, program: &Program) -> Result<Output, String> {
        let mut command = program.command(self.working_directory).map_err(|error| error.to_string())?;
        command.args(&self.arguments).envs(self.environment.iter().copied());
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        in_new_group(&mut command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| program.start_error(&error))?;
        let _group = KilledGroup::of(&child);
        let input = child.stdin.take();
        let feed = async {
            if let (Some(mut input), Some(text)) = (input, self.stdin) {
                // A program need not read what it is given.
                input.write_all(text.as_bytes()).await.ok();
            }
        };
        let ((), output) = tokio::join!(feed, output_within(child, limits::answer()));
        output.map_err(|error| error.to_string())
    }

    /// The command line with the path of the program.
    fn describe(&self, program: &Program) -> String {
        [&[program.path()][..], &self.arguments].concat().join(" ")
    }

    fn failed(&self, detail: String) -> Error {
        Error::new("Command Execution Failed", detail).at(command_path())
    }
}

fn command_path() -> Path {
    Path::new().attr("command")
}

/// Finds a program as Go does: by its path, or in the folders of `PATH`. `kind` as in [`Invocation::kind`].
fn find(kind: &str, command: &str) -> Result<Program, Error> {
    Program::find_absolute(command).map_err(|error| {
        let detail = format!(
            "The {kind} received an unexpected error while attempting to find the command.\n\n\
             The command must be accessible according to the platform where Terraform is running.\n\n\
             A command that is named without a folder is searched in the folders of the PATH environment variable. For \
             a command that belongs to the configuration, use a path that begins with \"${{path.module}}/\". On \
             Unix-based platforms, the file must have the executable bit set.\n\n\
             Platform: {}\nCommand: {command}\nError: {error}",
            std::env::consts::OS
        );
        Error::new("Command Lookup Failed", detail).at(command_path())
    })
}
