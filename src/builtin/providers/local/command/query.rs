//! The data source and the ephemeral resource `local_command`: a program's exit code and output.

use terrane_sdk::{Context, DataSource, Ephemeral, Error, Field, Model, Opened, Schema, Values};
use terrane_value::text::lossy_text;

use super::{Invocation, find};
use crate::providers::program::exit_text;
use crate::providers::until_stopped;

pub struct Command;

/// Runs a program of this machine and gives its exit code and output. It sees this process's environment.
#[derive(Model)]
pub struct CommandModel {
    /// The program: a path, or a name to look for in `PATH`.
    #[attribute(required)]
    command: String,
    /// Its arguments; null ones are left out.
    #[attribute(optional)]
    arguments: Option<Vec<Option<String>>>,
    /// What it reads from its standard input.
    #[attribute(optional)]
    stdin: Option<String>,
    /// The folder to run it in; this process's if not given.
    #[attribute(optional)]
    working_directory: Option<String>,
    /// Whether another exit code than 0 is no error.
    #[attribute(optional)]
    allow_non_zero_exit_code: Option<bool>,
    /// Its exit code.
    #[attribute(computed)]
    exit_code: Field<i64>,
    /// What it wrote to its standard output; null if nothing.
    #[attribute(computed)]
    stdout: Field<String>,
    /// What it wrote to its standard error output; null if nothing.
    #[attribute(computed)]
    stderr: Field<String>,
}

/// None for no output.
fn output_text(bytes: &[u8]) -> Field<String> {
    match bytes {
        [] => Field::Null,
        bytes => Field::known(lossy_text(bytes)),
    }
}

/// Runs the program and fills in its results. `kind` as in [`Invocation::kind`].
async fn run(kind: &'static str, context: &Context<()>, config: CommandModel) -> Result<CommandModel, Error> {
    let invocation = Invocation {
        kind,
        command: &config.command,
        arguments: config.arguments.iter().flatten().flatten().map(String::as_str).collect(),
        stdin: config.stdin.as_deref(),
        working_directory: config.working_directory.as_deref(),
        environment: Vec::new(),
    };
    let program = find(kind, invocation.command)?;
    let output = until_stopped(context, "Command Execution Failed", invocation.run(&program)).await??;
    if !output.status.success() && config.allow_non_zero_exit_code != Some(true) {
        return Err(invocation.failed(format!(
            "The {kind} executed the command but received a non-zero exit code. If a non-zero exit code is expected \
             and can be handled in configuration, set \"allow_non_zero_exit_code\" to true.\n\n\
             Command: {}\nCommand Error: {}\nState: {}",
            invocation.describe(&program),
            lossy_text(&output.stderr),
            exit_text(output.status)
        )));
    }
    Ok(CommandModel {
        exit_code: Field::known(output.status.code().unwrap_or(-1)),
        stdout: output_text(&output.stdout),
        stderr: output_text(&output.stderr),
        ..config
    })
}

impl DataSource for Command {
    type Data = ();
    type Model = CommandModel;

    fn schema(&self) -> Schema {
        Schema::of::<CommandModel>().plain_text()
    }

    async fn read(&self, context: &mut Context<()>, config: Values<CommandModel>) -> Result<CommandModel, Error> {
        run("data source", context, config.model()?).await
    }
}

impl Ephemeral for Command {
    type Data = ();
    type Model = CommandModel;

    fn schema(&self) -> Schema {
        Schema::of::<CommandModel>().plain_text()
    }

    async fn open(
        &self,
        context: &mut Context<()>,
        config: Values<CommandModel>,
    ) -> Result<Opened<CommandModel>, Error> {
        run("ephemeral resource", context, config.model()?).await.map(Opened::new)
    }
}
