//! `local-exec`: a command on this machine.

use std::process::ExitStatus;
use std::sync::Arc;

use async_trait::async_trait;
use base::dialect::Dialect;
use base::process::{self, Outcome, Signal};
use base::stop::Stop;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, ProvisionRequest, Provisioner};
use terrane_protocol::schema::Schema;
use terrane_value::text::go_quoted;
use terrane_value::{Type, Value};

use super::{failed, schema, text_of};
use crate::opentofu;
use crate::ssh::LineSplitter;
use crate::without_handshake;
use crate::wording::reason;

const NAME: &str = "local-exec";
/// How much of the output an error repeats: its end.
const KEPT_OUTPUT: usize = 8 * 1024;

pub struct LocalExec {
    stop: Stop,
    dialect: Dialect,
}

#[async_trait]
impl Provisioner for LocalExec {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        Ok(schema(&[
            ("command", Type::String, true),
            ("interpreter", Type::list(Type::String), false),
            ("working_dir", Type::String, false),
            ("environment", Type::map(Type::String), false),
            ("quiet", Type::Bool, false),
        ]))
    }

    async fn validate(&self, _config: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics {
        let command = text_of(&request.config, "command").unwrap_or_default();
        if command.is_empty() {
            return vec![ProviderDiagnostic::error(
                "Invalid local-exec provisioner command",
                "The command must be a non-empty string.",
            )];
        }
        let words = words(&request.config, command);
        if request.config.get("quiet").is_some_and(Value::is_true) {
            (request.output)("local-exec: Executing: Suppressed by quiet=true");
        } else {
            let shown: Vec<String> = words.iter().map(|word| go_quoted(word)).collect();
            (request.output)(&format!("Executing: [{}]", shown.join(" ")));
        }
        let mut kept = Vec::new();
        match self.run(&words, &request, &mut kept).await {
            Ok(()) => Vec::new(),
            Err(error) => {
                let output = String::from_utf8_lossy(&kept);
                failed(NAME, format!("Error running command '{command}': {error}. Output: {output}"))
            }
        }
    }

    async fn stop(&self) -> Result<(), String> {
        self.stop.stop();
        Ok(())
    }
}

impl LocalExec {
    /// `dialect`: of the program that starts the command.
    pub fn new(dialect: Dialect) -> LocalExec {
        LocalExec { stop: Stop::default(), dialect }
    }

    async fn run(&self, words: &[String], request: &ProvisionRequest, kept: &mut Vec<u8>) -> Result<(), String> {
        let folder = text_of(&request.config, "working_dir").filter(|folder| !folder.is_empty());
        if let Some(folder) = folder
            && let Err(error) = std::fs::metadata(folder)
        {
            return Err(format!("chdir {folder}: {}", reason(&error)));
        }
        let mut command = tokio::process::Command::new(&words[0]);
        command.args(&words[1..]);
        without_handshake(&mut command);
        if let Some(environment) = request.config.get("environment") {
            command.envs(environment.entries().iter().filter_map(|(name, value)| Some((&**name, value.as_str()?))));
        }
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let mut splitter = LineSplitter::default();
        let lines = |line: &str| (request.output)(line);
        let outcome = process::run(command, &self.stop, |bytes| {
            kept.extend_from_slice(bytes);
            if kept.len() > KEPT_OUTPUT {
                kept.drain(..kept.len() - KEPT_OUTPUT);
            }
            splitter.feed(bytes, &lines);
        })
        .await;
        splitter.finish(&lines);
        match outcome {
            // A command may end well because it was interrupted, with a part of its work.
            Ok(Outcome::Exited(status))
                if status.success()
                    && self.stop.is_stopping()
                    && !opentofu::trusts_interrupted_commands(self.dialect) =>
            {
                Err("interrupted (exit status 0)".into())
            }
            Ok(Outcome::Exited(status)) if status.success() => Ok(()),
            Ok(Outcome::Exited(status)) => Err(status_text(status)),
            Ok(Outcome::Stopped(Signal::Kill)) => Err("signal: killed".into()),
            Ok(Outcome::Stopped(_)) => Err("signal: interrupt".into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !words[0].contains('/') => {
                Err(format!("exec: {}: executable file not found in $PATH", go_quoted(&words[0])))
            }
            Err(error) => Err(format!("fork/exec {}: {}", words[0], reason(&error))),
        }
    }
}

/// The interpreter (the system's shell if there is none) with the command behind it.
fn words(config: &Value, command: &str) -> Vec<String> {
    let given = config.get("interpreter").map(Value::elements).unwrap_or_default();
    let mut words: Vec<String> = given.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if words.is_empty() {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };
        words.extend(shell.map(str::to_owned));
    }
    words.push(command.to_owned());
    words
}

fn status_text(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal: {}", signal_name(signal));
    }
    format!("exit status {}", status.code().unwrap_or(-1))
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGHUP => "hangup".into(),
        libc::SIGINT => "interrupt".into(),
        libc::SIGQUIT => "quit".into(),
        libc::SIGABRT => "aborted".into(),
        libc::SIGKILL => "killed".into(),
        libc::SIGSEGV => "segmentation fault".into(),
        libc::SIGPIPE => "broken pipe".into(),
        libc::SIGALRM => "alarm clock".into(),
        libc::SIGTERM => "terminated".into(),
        other => format!("signal {other}"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Mutex;

    use super::*;

    async fn run(values: Vec<(&str, Value)>) -> (Vec<String>, Vec<String>) {
        let provisioner = LocalExec::new(Dialect::default());
        let ty = provisioner.schema().await.expect("a schema");
        let mut all: std::collections::BTreeMap<Arc<str>, Value> = ty
            .block
            .attributes
            .iter()
            .map(|(name, attribute)| (name.clone(), Value::null(attribute.implied_type())))
            .collect();
        all.extend(values.into_iter().map(|(name, value)| (Arc::from(name), value)));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let found = provisioner
            .provision(ProvisionRequest {
                config: Value::object(all),
                connection: Value::null_dynamic(),
                output: Arc::new(move |line: &str| sink.lock().expect("no panic").push(line.to_owned())),
            })
            .await;
        let lines = seen.lock().expect("no panic").clone();
        (lines, found.into_iter().map(|diagnostic| diagnostic.detail).collect())
    }

    fn command(text: &str) -> (&'static str, Value) {
        ("command", Value::string(text))
    }

    #[tokio::test]
    async fn output_and_environment() {
        let environment = Value::map(Type::String, [("X", Value::string("5")), ("N", Value::null(Type::String))]);
        let (lines, errors) = run(vec![command("echo $X; echo two >&2"), ("environment", environment)]).await;
        assert_eq!(lines, ["Executing: [\"/bin/sh\" \"-c\" \"echo $X; echo two >&2\"]", "5", "two"]);
        assert!(errors.is_empty());
        let (lines, _) = run(vec![command("true"), ("quiet", Value::bool(true))]).await;
        assert_eq!(lines, ["local-exec: Executing: Suppressed by quiet=true"]);
    }

    /// Seen on the reference, 1.11.4.
    #[tokio::test]
    async fn failures() {
        let with = |interpreter: &str| ("interpreter", Value::strings([interpreter, "-c"]));
        for (values, expected) in [
            (vec![command("")], "The command must be a non-empty string."),
            (
                vec![command("echo out; echo err >&2; exit 3")],
                "Error running command 'echo out; echo err >&2; exit 3': exit status 3. Output: out\nerr\n",
            ),
            (
                vec![command("x"), with("/nope/x")],
                "Error running command 'x': fork/exec /nope/x: no such file or directory. Output: ",
            ),
            (
                vec![command("x"), with("nopex")],
                "Error running command 'x': exec: \"nopex\": executable file not found in $PATH. Output: ",
            ),
            (
                vec![command("x"), ("working_dir", Value::string("nodir"))],
                "Error running command 'x': chdir nodir: no such file or directory. Output: ",
            ),
            (vec![command("kill -9 $$")], "Error running command 'kill -9 $$': signal: killed. Output: "),
        ] {
            assert_eq!(run(values).await.1, [expected]);
        }
    }
}
