//! Programs that give keys or encrypt: one question on standard input, a header and an answer on standard output.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use base::files::reason;
use base::limits::{self, Limit};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

/// Programs that take longer are killed.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// No header is longer.
const LONGEST_HEADER: usize = 1 << 20;

/// What a program must say before anything else.
pub struct Protocol {
    pub magic: &'static str,
    /// What messages call the program.
    pub speaker: &'static str,
    /// What messages call it where its header cannot be read.
    pub unread: &'static str,
}

/// Why a program gave no answer. `stderr` is what it said there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its header is not that of the protocol; it was killed.
    Header { why: String, stderr: String },
    /// It ended with another code than zero, or by a signal.
    Exit { why: String, stderr: String },
    /// It could not be started or spoken to.
    Broken { why: String, stderr: String },
}

/// The answer, without the header, and what the program said on standard error. `limit`: of the answer.
pub async fn ask(
    command: &[String],
    protocol: &Protocol,
    question: &[u8],
    limit: Limit,
) -> Result<(Vec<u8>, String), Failure> {
    let [program, arguments @ ..] = command else { return Err(broken("no command".into())) };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| broken(not_started(program, &error)))?;
    match tokio::time::timeout(TIME_LIMIT, talk(&mut child, protocol, question, limit)).await {
        Ok(answer) => answer,
        Err(_) => {
            let _ = child.kill().await;
            Err(Failure::Broken { why: "signal: killed".into(), stderr: String::new() })
        }
    }
}

fn broken(why: String) -> Failure {
    Failure::Broken { why, stderr: String::new() }
}

fn not_started(program: &str, error: &std::io::Error) -> String {
    match error.kind() == std::io::ErrorKind::NotFound && !program.contains('/') {
        true => format!("exec: {program:?}: executable file not found in $PATH"),
        false => format!("fork/exec {program}: {}", reason(error)),
    }
}

async fn talk(
    child: &mut Child,
    protocol: &Protocol,
    question: &[u8],
    limit: Limit,
) -> Result<(Vec<u8>, String), Failure> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(broken("no pipes".into()));
    };
    // Programs may answer without having read everything.
    let write = async {
        let _ = stdin.write_all(question).await;
        drop(stdin);
    };
    let mut said = Vec::new();
    let hear = async {
        // The rest is thrown away, so that the program can go on.
        let mut stderr = stderr.take(limits::answer().bytes);
        let _ = stderr.read_to_end(&mut said).await;
        let _ = tokio::io::copy(&mut stderr.into_inner(), &mut tokio::io::sink()).await;
    };
    let read = read_answer(stdout, protocol, limit);
    let (answer, _, _) = tokio::join!(
        async {
            let answer = read.await;
            if answer.is_err() {
                let _ = child.start_kill();
            }
            answer
        },
        write,
        hear
    );
    let stderr = String::from_utf8_lossy(&said).into_owned();
    let status = child.wait().await;
    match (answer, status) {
        (Err(why), _) => Err(Failure::Header { why, stderr }),
        (_, Err(error)) => Err(Failure::Broken { why: reason(&error), stderr }),
        (Ok(answer), Ok(status)) => match exit_text(status) {
            None => Ok((answer, stderr)),
            Some(why) => Err(Failure::Exit { why, stderr }),
        },
    }
}

/// How a program ended, if not well, as Go says it.
fn exit_text(status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Some(match signal {
            9 => "signal: killed".into(),
            2 => "signal: interrupt".into(),
            15 => "signal: terminated".into(),
            other => format!("signal: {other}"),
        });
    }
    Some(format!("exit status {}", status.code().unwrap_or(-1)))
}

/// All of the output after the header; without any line end, all of it.
async fn read_answer(stdout: impl AsyncReadExt + Unpin, protocol: &Protocol, limit: Limit) -> Result<Vec<u8>, String> {
    let mut stdout = stdout.take(limit.bytes.saturating_add(1));
    let mut output = Vec::new();
    let mut from = 0;
    loop {
        let count = stdout.read_buf(&mut output).await.map_err(|error| reason(&error))?;
        if let Some(end) = output[from..].iter().position(|byte| *byte == b'\n') {
            let end = from + end;
            check_header(&output[..end], protocol)?;
            stdout.read_to_end(&mut output).await.map_err(|error| reason(&error))?;
            if output.len() as u64 > limit.bytes {
                return Err(format!("the answer is {}", limit.exceeded()));
            }
            return Ok(output.split_off(end + 1));
        }
        if count == 0 {
            return Ok(output);
        }
        from = output.len();
        if from > LONGEST_HEADER {
            return Err(format!("no header received from {}", protocol.speaker));
        }
    }
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    magic: Option<String>,
    #[serde(default)]
    version: Option<i64>,
}

fn check_header(line: &[u8], protocol: &Protocol) -> Result<(), String> {
    let header: Header = serde_json::from_slice(line).map_err(|error| {
        let why = terrane_value::json_error::syntax_error(line, &error);
        format!("failed to unmarshal header from {} ({why})", protocol.unread)
    })?;
    let magic = header.magic.unwrap_or_default();
    if magic != protocol.magic {
        return Err(format!("invalid magic received from {}: {magic}", protocol.speaker));
    }
    match header.version.unwrap_or_default() {
        1 => Ok(()),
        version => Err(format!("invalid version number received from {}: {version}", protocol.speaker)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTOCOL: Protocol = Protocol { magic: "M", speaker: "the test", unread: "the program" };

    async fn run(script: &str) -> Result<String, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        match ask(&command, &PROTOCOL, b"question\n", Limit::bytes(1 << 20)).await {
            Ok((answer, _)) => Ok(String::from_utf8(answer).unwrap()),
            Err(Failure::Header { why, .. }) => Err(format!("header: {why}")),
            Err(Failure::Exit { why, stderr }) => Err(format!("exit: {why}: {stderr}")),
            Err(Failure::Broken { why, .. }) => Err(format!("broken: {why}")),
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn answers_and_failures() {
        let header = r#"echo '{"magic":"M","version":1,"more":2}'; "#;
        let cases = [
            (format!("{header} cat"), Ok("question\n")),
            (format!("{header} exit 0"), Ok("")),
            ("exit 0".into(), Ok("")),
            (
                "echo '{\"magic\":\"M\",\"version\":2}'; sleep 9".into(),
                Err("header: invalid version number received from the test: 2"),
            ),
            ("echo '{\"magic\":\"X\"}'".into(), Err("header: invalid magic received from the test: X")),
            (
                "echo hello".into(),
                Err(
                    "header: failed to unmarshal header from the program (invalid character 'h' looking for beginning of value)",
                ),
            ),
            (format!("{header} echo no >&2; exit 3"), Err("exit: exit status 3: no\n")),
            ("kill -9 $$".into(), Err("exit: signal: killed: ")),
        ];
        for (script, expected) in cases {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(run(&script).await, expected, "{script}");
        }
        let missing = ask(&["no-such-program-here".to_owned()], &PROTOCOL, b"", Limit::bytes(1)).await;
        let Err(Failure::Broken { why, .. }) = missing else { panic!("{missing:?}") };
        assert_eq!(why, "exec: \"no-such-program-here\": executable file not found in $PATH");
    }
}
