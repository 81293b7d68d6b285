//! The data source `local_command`: a program's exit code and output.

use std::process::{Output, Stdio};

use async_trait::async_trait;
use tokio::io::AsyncWriteExt;

use crate::base::process::KilledGroup;
use crate::builtin::sdk::{Attr, DataSource, Shape, bool_of, object_with, text_of};
use crate::builtin::without_handshake;
use crate::builtin::wording::reason;
use crate::lang::value::{Path, Type, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

pub struct Command(Shape);

impl Command {
    pub fn new() -> Command {
        Command(Shape::new(
            0,
            "Runs a program of this machine and gives its exit code and output. It sees this process's environment.",
            vec![
                Attr::string("command", "The program: a path, or a name to look for in `PATH`.").required(),
                Attr::new("arguments", Type::list(Type::String), "Its arguments; null ones are left out.").optional(),
                Attr::string("stdin", "What it reads from its standard input.").optional(),
                Attr::string("working_directory", "The folder to run it in; this process's if not given.").optional(),
                Attr::bool("allow_non_zero_exit_code", "Whether another exit code than 0 is no error.").optional(),
                Attr::int("exit_code", "Its exit code.").computed(),
                Attr::string("stdout", "What it wrote to its standard output; null if nothing.").computed(),
                Attr::string("stderr", "What it wrote to its standard error output; null if nothing.").computed(),
            ],
        ))
    }
}

fn failed(summary: &str, detail: String) -> ProviderDiagnostics {
    vec![ProviderDiagnostic::error(summary, detail).at(Path::new().attr("command"))]
}

async fn run(config: &Value) -> std::io::Result<Output> {
    let mut command = tokio::process::Command::new(text_of(config, "command").unwrap_or_default());
    without_handshake(&mut command);
    command.args(config.get("arguments").map(Value::elements).unwrap_or_default().iter().filter_map(Value::as_str));
    if let Some(folder) = text_of(config, "working_directory").filter(|folder| !folder.is_empty()) {
        command.current_dir(folder);
    }
    let stdin = text_of(config, "stdin");
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
    // What the program started ends with it when the read is interrupted.
    let _group = KilledGroup(child.id());
    let input = child.stdin.take();
    let feed = async {
        if let (Some(mut input), Some(text)) = (input, stdin) {
            // A program need not read what it is given.
            input.write_all(text.as_bytes()).await.ok();
        }
    };
    let ((), output) = tokio::join!(feed, child.wait_with_output());
    output
}

#[async_trait]
impl DataSource for Command {
    fn shape(&self) -> &Shape {
        &self.0
    }

    async fn read(&self, config: &Value) -> Result<Value, ProviderDiagnostics> {
        let command = text_of(config, "command").unwrap_or_default();
        let output = run(config).await.map_err(|error| {
            let shown = reason(&error);
            failed(
                "Command Execution Failed",
                format!(
                    "The data source received an unexpected error while attempting to execute the command. It must be \
                     an executable file, given by its path or found in a folder of PATH.\n\n\
                     Command: {command}\nState: {shown}"
                ),
            )
        })?;
        let text = |bytes: &[u8]| match bytes {
            [] => Value::null(Type::String),
            bytes => Value::string(String::from_utf8_lossy(bytes)),
        };
        let code = output.status.code().unwrap_or(-1);
        if code != 0 && !bool_of(config, "allow_non_zero_exit_code").unwrap_or(false) {
            return Err(failed(
                "Command Execution Failed",
                format!(
                    "The data source executed the command but received a non-zero exit code. If a non-zero exit code \
                     is expected and can be handled in configuration, set \"allow_non_zero_exit_code\" to true.\n\n\
                     Command: {command}\nCommand Error: {}\nState: exit status {code}",
                    String::from_utf8_lossy(&output.stderr)
                ),
            ));
        }
        Ok(object_with(
            config,
            [
                ("exit_code", Value::int(code.into())),
                ("stdout", text(&output.stdout)),
                ("stderr", text(&output.stderr)),
            ],
        ))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::builtin::sdk::int_of;

    #[tokio::test]
    async fn runs() {
        let source = Command::new();
        let config = |script: &str, allow: bool| {
            source.0.object([
                ("command", Value::string("sh")),
                ("arguments", Value::strings(["-c", script])),
                ("stdin", Value::string("in")),
                ("allow_non_zero_exit_code", Value::bool(allow)),
            ])
        };
        let read = source.read(&config("cat; exit 3", true)).await.unwrap();
        assert_eq!((int_of(&read, "exit_code"), text_of(&read, "stdout")), (Some(3), Some("in")));
        assert_eq!(read.get("stderr"), Some(&Value::null(Type::String)));
        let error = source.read(&config("echo no >&2; exit 3", false)).await.unwrap_err();
        assert!(error[0].detail.contains("Command Error: no\n") && error[0].detail.ends_with("exit status 3"));
    }
}
