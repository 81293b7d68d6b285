//! What the libraries for credentials of the large clouds need of this machine: files, programs, the environment, and HTTP; and
//! requests that they signed.
//!
//! Never knows which cloud asks.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::env::{self, Environment};
use base::limits::{self, Limit};
use base::program;
use base::stop::Stop;
use bytes::Bytes;
use reqsign_core::{CommandExecute, CommandOutput, Context, Env, Error, FileRead, HttpSend, Result};
use tokio::process::Command;
use url::Url;

use super::http::{self as client, Answer, Client};

/// The machine as a command sees it. Credentials are requested through `http`.
pub fn context(environment: &Environment, stop: &Stop, http: impl HttpSend) -> Context {
    let variables = Variables(environment.clone());
    let programs = Programs { environment: environment.clone(), stop: stop.clone() };
    Context::new().with_file_read(Files).with_env(variables).with_command_execute(programs).with_http_send(http)
}

/// The machine as a command sees it, with credentials requested through a client of the command's.
pub fn client_context(environment: &Environment, client: &Client) -> Context {
    context(environment, client.stop(), client.clone())
}

impl HttpSend for Client {
    async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
        let answer = send_within(self, request, Some(limits::answer())).await.map_err(Error::unexpected)?;
        let mut response = http::Response::new(Bytes::from(answer.body));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

/// Sends a request, with the client's retries. The error says why there is no answer.
pub async fn send(client: &Client, request: http::Request<Bytes>) -> std::result::Result<Answer, String> {
    send_within(client, request, None).await
}

/// As [`send`]; `limit`: of the answer.
pub async fn send_within(
    client: &Client,
    request: http::Request<Bytes>,
    limit: Option<Limit>,
) -> std::result::Result<Answer, String> {
    let (head, body) = request.into_parts();
    let url = Url::parse(&head.uri.to_string()).map_err(|e| e.to_string())?;
    let mut sent = client::Request::new(head.method, url);
    sent.headers = head.headers;
    sent.answer_limit = limit;
    sent.headers.remove(http::header::HOST);
    if !body.is_empty() {
        sent = sent.body(body);
    } else if sent.method == http::Method::PUT || sent.method == http::Method::POST {
        // Servers want to hear the length of what is put, even if there is nothing.
        sent.headers.insert(http::header::CONTENT_LENGTH, http::HeaderValue::from_static("0"));
    }
    client.send(&sent).await.map_err(|failure| failure.to_string())
}

/// A path with `~` and variables (`$NAME`, `${NAME}`) replaced, as in settings of the AWS tools.
pub fn expanded(path: &str, environment: &Environment) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, tail) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(braced) => braced,
            None => after.split_at(after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())),
        };
        if name.is_empty() {
            out.push('$');
        }
        out.push_str(environment.get(name).unwrap_or_default());
        rest = tail;
    }
    out.push_str(rest);
    match (out.strip_prefix('~'), home(environment)) {
        (Some(tail), Some(home)) if tail.is_empty() || tail.starts_with(['/', '\\']) => {
            format!("{}{tail}", home.display())
        }
        _ => out,
    }
}

/// As [`expanded`], but only a path that begins with `~`; all others stay as they are.
pub fn home_expanded(path: &str, environment: &Environment) -> String {
    if path.starts_with('~') { expanded(path, environment) } else { path.to_owned() }
}

/// The user's home folder.
pub fn home(environment: &Environment) -> Option<PathBuf> {
    let names = if cfg!(windows) { [env::USERPROFILE, env::HOME] } else { [env::HOME, env::USERPROFILE] };
    names.iter().find_map(|name| environment.non_empty(name)).map(PathBuf::from)
}

#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        tokio::fs::read(path).await.map_err(|e| Error::config_invalid(format!("open {path}: {e}")))
    }
}

struct Variables(Environment);

/// Values may be secrets.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

impl Env for Variables {
    fn var(&self, key: &str) -> Option<String> {
        self.0.non_empty(key).map(str::to_owned)
    }

    fn vars(&self) -> HashMap<String, String> {
        self.0.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        home(&self.0)
    }
}

struct Programs {
    environment: Environment,
    stop: Stop,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Programs")
    }
}

impl CommandExecute for Programs {
    async fn command_execute(&self, name: &str, arguments: &[&str]) -> Result<CommandOutput> {
        let failed = |why: &str| Error::unexpected(format!("exec: {name:?}: {why}"));
        let place = Path::new(name);
        let found = match place.components().count() {
            1 => program::find(name, self.environment.get(env::PATH).unwrap_or_default()),
            _ => Some(place.to_owned()),
        };
        let mut command = Command::new(found.ok_or_else(|| failed("executable file not found in $PATH"))?);
        command.args(arguments).env_clear().envs(self.environment.iter());
        let ran = program::run(command, false, &self.stop).await.map_err(|e| failed(&e.to_string()))?;
        let ran = ran.ok_or_else(|| failed("interrupted"))?;
        let status = ran.status.code().unwrap_or(-1);
        Ok(CommandOutput { status, stdout: ran.output.into_bytes(), stderr: ran.errors.into_bytes() })
    }
}

/// Requests to a service on this very machine: it answers at once, or it is not there.
#[derive(Clone)]
pub struct Impatient(pub Context, pub Duration);

impl fmt::Debug for Impatient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Impatient")
    }
}

impl HttpSend for Impatient {
    async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
        let late = |_| Error::unexpected(format!("no answer within {} s", self.1.as_secs_f32()));
        tokio::time::timeout(self.1, self.0.http_send(request)).await.map_err(late)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_expanded() {
        let environment = Environment::of([("HOME", "/h"), ("USERPROFILE", "/h"), ("A", "x")]);
        let cases = [
            ("~/a", "/h/a"),
            ("~", "/h"),
            ("~b/c", "~b/c"),
            ("$A/${A}y/$A.z", "x/xy/x.z"),
            ("a$", "a$"),
            ("$NONE/b", "/b"),
            ("/a/~", "/a/~"),
        ];
        for (path, expected) in cases {
            assert_eq!(expanded(path, &environment), expected, "{path}");
        }
    }
}
