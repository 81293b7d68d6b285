//! `external`: runs a program. The query on stdin and the result on stdout are JSON objects of strings.
//!
//! All errors belong to the attribute `program`.
//!
//! Only `provider` knows schemas; the rest never does.

mod message;
pub mod provider;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::process::{Output, Stdio};

use base::limits;
use base::program::output_within;
use terrane_value::text::lossy_text;
use tokio::io::AsyncWriteExt;
use tokio::process::Child;

use super::failure::Failure;
use super::program::{Program, ProgramError, exit_text};

/// The constant `id`.
pub const ID: &str = "-";

/// The arguments of the data source.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The program and its arguments. Null and empty ones are left out.
    pub program: Vec<Option<String>>,
    pub working_dir: Option<String>,
    /// Null values are left out.
    pub query: BTreeMap<String, Option<String>>,
}

/// Runs the program and returns its result, or `None` if the result is `null`. Dropping the future kills the program.
pub async fn run(call: &Call) -> Result<Option<BTreeMap<String, String>>, Failure> {
    let words: Vec<&str> = call.program.iter().flatten().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let Some((name, arguments)) = words.split_first() else {
        let detail = "The data source was configured without a program to execute. Verify the configuration contains \
                      at least one non-empty value.";
        return Err(Failure::new("External Program Missing", detail));
    };
    let program = Program::find(name).map_err(|error| lookup_failure(name, &error))?;
    let output = execute(&program, arguments, call).await.map_err(|state| execution_failure(&program, "", &state))?;
    if !output.status.success() {
        let messages = lossy_text(&output.stderr);
        return Err(execution_failure(&program, &messages, &exit_text(output.status)));
    }
    message::decode(&output.stdout).map_err(|error| {
        let detail = format!(
            "The data source received unexpected results after executing the program.\n\n\
             Program output must be a JSON encoded map of string keys and string values.\n\n\
             Program: {}\nResult Error: {error}",
            program.path()
        );
        Failure::new("Unexpected External Program Results", detail)
    })
}

async fn execute(program: &Program, arguments: &[&str], call: &Call) -> Result<Output, String> {
    let mut command = program.command(call.working_dir.as_deref()).map_err(|error| error.to_string())?;
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(|error| program.start_error(&error))?;
    exchange(child, &message::encode(&call.query)).await.map_err(|error| error.to_string())
}

/// Writes the query while reading the output. Programs may ignore the query.
async fn exchange(mut child: Child, query: &str) -> std::io::Result<Output> {
    let input = child.stdin.take();
    let write = async {
        if let Some(mut input) = input {
            match input.write_all(query.as_bytes()).await {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error),
                _ => {}
            }
        }
        Ok(())
    };
    let (written, output) = tokio::join!(write, output_within(child, limits::answer()));
    written.and(output)
}

fn lookup_failure(name: &str, error: &ProgramError) -> Failure {
    let detail = format!(
        "The data source received an unexpected error while attempting to find the program.\n\n\
         The program must be accessible according to the platform where Terraform is running.\n\n\
         A program that is named without a folder is searched in the folders of the PATH environment variable. For a \
         program that belongs to the configuration, use a path that begins with \"${{path.module}}/\". On Unix-based \
         platforms, the file must have the executable bit set.\n\n\
         Platform: {}\nProgram: {name:?}\nError: {error}",
        std::env::consts::OS
    );
    Failure::new("External Program Lookup Failed", detail)
}

/// `messages` is the program's standard error output; `state` is its exit status.
fn execution_failure(program: &Program, messages: &str, state: &str) -> Failure {
    let path = program.path();
    let program = if messages.is_empty() {
        format!("The program was executed, however it returned no additional error messaging.\n\nProgram: {path}")
    } else {
        format!("Program: {path}\nError Message: {messages}")
    };
    let detail = format!(
        "The data source received an unexpected error while attempting to execute the program.\n\n\
         {program}\nState: {state}"
    );
    Failure::new("External Program Execution Failed", detail)
}
