//! The data source `local_command`: a program's exit code and output.

use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;

use crate::base::process::KilledGroup;
use crate::builtin::providers::until_stopped;
use crate::builtin::without_handshake;
use crate::builtin::wording::reason;
use crate::sdk::{Context, DataSource, Error, Field, Model, Schema, Values};

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

fn failed(detail: String) -> Error {
    Error::new("Command Execution Failed", detail).at(CommandModel::COMMAND.path())
}

async fn run(config: &CommandModel) -> std::io::Result<Output> {
    let mut command = tokio::process::Command::new(&config.command);
    without_handshake(&mut command);
    command.args(config.arguments.iter().flatten().flatten());
    if let Some(folder) = config.working_directory.as_ref().filter(|folder| !folder.is_empty()) {
        command.current_dir(folder);
    }
    command.stdin(if config.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    // What the program started ends with it when the read is interrupted.
    let _group = KilledGroup(child.id());
    let input = child.stdin.take();
    let feed = async {
        if let (Some(mut input), Some(text)) = (input, &config.stdin) {
            // A program need not read what it is given.
            input.write_all(text.as_bytes()).await.ok();
        }
    };
    let ((), output) = tokio::join!(feed, child.wait_with_output());
    output
}

/// None for no output.
fn output_text(bytes: &[u8]) -> Field<String> {
    match bytes {
        [] => Field::Null,
        bytes => Field::known(String::from_utf8_lossy(bytes)),
    }
}

impl DataSource for Command {
    type Data = ();
    type Model = CommandModel;

    fn schema(&self) -> Schema {
        Schema::of::<CommandModel>().plain_text()
    }

    async fn read(&self, context: &mut Context<()>, config: Values<CommandModel>) -> Result<CommandModel, Error> {
        let config = config.model()?;
        let command = &config.command;
        let output = until_stopped(context, run(&config)).await?.map_err(|error| {
            let shown = reason(&error);
            failed(format!(
                "The data source received an unexpected error while attempting to execute the command. It must be an \
                 executable file, given by its path or found in a folder of PATH.\n\n\
                 Command: {command}\nState: {shown}"
            ))
        })?;
        let code = output.status.code().unwrap_or(-1);
        if code != 0 && config.allow_non_zero_exit_code != Some(true) {
            return Err(failed(format!(
                "The data source executed the command but received a non-zero exit code. If a non-zero exit code is \
                 expected and can be handled in configuration, set \"allow_non_zero_exit_code\" to true.\n\n\
                 Command: {command}\nCommand Error: {}\nState: exit status {code}",
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        Ok(CommandModel {
            exit_code: Field::known(code),
            stdout: output_text(&output.stdout),
            stderr: output_text(&output.stderr),
            ..config
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::Local;
    use crate::builtin::providers::tester::{Tester, text};
    use crate::sdk::{Type, Value};

    #[tokio::test]
    async fn runs() {
        let source = Tester::data_source(Local, "local_command").await;
        let config = |script: &str, allow: bool| {
            source.object([
                ("command", Value::string("sh")),
                ("arguments", Value::strings(["-c", script])),
                ("stdin", Value::string("in")),
                ("allow_non_zero_exit_code", Value::bool(allow)),
            ])
        };
        let read = source.read(config("cat; exit 3", true)).await.unwrap();
        assert_eq!((read.get("exit_code"), text(&read, "stdout")), (Some(&Value::int(3)), "in"));
        assert_eq!(read.get("stderr"), Some(&Value::null(Type::String)));
        let error = source.read(config("echo no >&2; exit 3", false)).await.unwrap_err();
        assert!(error.detail.contains("Command Error: no\n") && error.detail.ends_with("exit status 3"));
    }
}
