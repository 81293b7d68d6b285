//! The action `local_command`: runs a program and shows its output.

use std::collections::BTreeMap;

use terrane_sdk::{Action, Context, Error, Field, Model, Progress, Schema, Values};
use terrane_value::text::lossy_text;

use super::{Invocation, find};
use crate::providers::program::exit_text;
use crate::providers::until_stopped;

const KIND: &str = "action";

pub struct CommandAction;

/// Runs a program of this machine. It sees this process's environment and further variables.
#[derive(Model)]
pub struct ActionModel {
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
    /// Environment variables beyond those of this process; a null value sets an empty one.
    #[attribute(optional)]
    environment: Option<BTreeMap<String, Option<String>>>,
}

impl Action for CommandAction {
    type Data = ();
    type Config = ActionModel;

    fn schema(&self) -> Schema {
        Schema::of::<ActionModel>().plain_text()
    }

    async fn plan(&self, _: &mut Context<()>, config: Values<ActionModel>) -> Result<(), Error> {
        if let Field::Known(command) = config.get(ActionModel::COMMAND)? {
            find(KIND, &command)?;
        }
        Ok(())
    }

    async fn invoke(
        &self,
        context: &mut Context<()>,
        config: Values<ActionModel>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let config = config.model()?;
        let variables = config.environment.iter().flatten();
        let invocation = Invocation {
            kind: KIND,
            command: &config.command,
            arguments: config.arguments.iter().flatten().flatten().map(String::as_str).collect(),
            stdin: config.stdin.as_deref(),
            working_directory: config.working_directory.as_deref(),
            environment: variables.map(|(name, value)| (&**name, value.as_deref().unwrap_or_default())).collect(),
        };
        let program = find(KIND, invocation.command)?;
        let output = until_stopped(context, "Command Execution Failed", invocation.run(&program)).await??;
        if !output.status.success() {
            return Err(invocation.failed(format!(
                "The action received an unexpected error while attempting to execute the command.\n\n\
                 Command: {}\nCommand Error: {}\nState: {}",
                invocation.describe(&program),
                lossy_text(&output.stderr),
                exit_text(output.status)
            )));
        }
        progress.report(&format!("\n\n{}\n", lossy_text(&output.stdout)));
        Ok(())
    }
}
