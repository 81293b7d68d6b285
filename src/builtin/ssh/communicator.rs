//! What provisioners use: connect with retries, run, upload. Speaks to the user in the reference's words.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::Lines;
use super::error::{ExecError, SshError};
use super::scp::{self, ChannelWire, UploadSource};
use super::session::{self, Exit, Session};
use super::settings::{Hop, Platform, Settings};

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(20);

/// A connection to one machine, reopened when it was lost between two uses.
pub struct Communicator {
    settings: Settings,
    session: Session,
}

impl Communicator {
    /// Connects, trying again until `timeout` has passed.
    pub async fn connect(settings: Settings, lines: Lines<'_>) -> Result<Communicator, SshError> {
        // A key that cannot be read will not become readable by waiting.
        session::check(&settings)?;
        let deadline = Instant::now() + settings.timeout;
        let mut last = None;
        let mut delay = FIRST_DELAY;
        loop {
            announce(&settings, lines);
            match tokio::time::timeout_at(deadline, Session::open(&settings)).await {
                Ok(Ok(session)) => {
                    lines("Connected!");
                    return Ok(Communicator { settings, session });
                }
                Ok(Err(error)) => last = Some(Box::new(error)),
                Err(_) => return Err(SshError::Timeout { last }),
            }
            if tokio::time::timeout_at(deadline, tokio::time::sleep(delay)).await.is_err() {
                return Err(SshError::Timeout { last });
            }
            delay = (delay * 2).min(LONGEST_DELAY);
        }
    }

    /// The remote path of a script: `%RAND%` in the pattern becomes a number.
    pub fn script_path(&self) -> String {
        let number: u32 = rand::random::<u32>() >> 1;
        self.settings.script_path.replace("%RAND%", &number.to_string())
    }

    /// Runs `command`; each line of its output goes to `lines`.
    pub async fn run(&mut self, command: &str, lines: Lines<'_>) -> Result<(), ExecError> {
        self.reopen().await.map_err(ExecError::Start)?;
        let mut splitter = LineSplitter::default();
        let mut output = |bytes: &[u8]| splitter.feed(bytes, lines);
        let exit = self.session.run(command, &mut output).await.map_err(ExecError::Start)?;
        splitter.finish(lines);
        let failed = |how: String| Err(ExecError::Exit { command: command.to_owned(), how });
        match exit {
            Exit::Status(0) => Ok(()),
            Exit::Status(code) => failed(format!("Process exited with status {code}")),
            Exit::Signal(name) => failed(format!("Process exited with status 0 from signal {name}")),
            Exit::Lost => failed("wait: remote command exited without exit status or exit signal".into()),
        }
    }

    /// Uploads one file to `path`.
    pub async fn upload(&mut self, path: &str, source: UploadSource) -> Result<(), SshError> {
        let (folder, name) = split_path(path);
        let command = format!("scp -vt {}", self.quote(&folder));
        let mut wire = self.start_scp(&command).await?;
        let result = scp::send_file(&mut wire, &name, source).await;
        Ok(wire.finish(result).await?)
    }

    /// Uploads a folder; a trailing slash in `source` means what is in it.
    pub async fn upload_folder(&mut self, destination: &str, source: &str) -> Result<(), SshError> {
        let command = format!("scp -rvt {}", self.quote(destination));
        let mut wire = self.start_scp(&command).await?;
        let result = scp::send_folder(&mut wire, source).await;
        Ok(wire.finish(result).await?)
    }

    /// Uploads a script so that it can be run by its path.
    pub async fn upload_script(&mut self, path: &str, script: &[u8]) -> Result<(), SshError> {
        let unix = self.settings.platform == Platform::Unix;
        let mut content = Vec::new();
        if unix && !script.starts_with(b"#!") {
            content.extend_from_slice(b"#!/bin/sh\n");
        }
        content.extend_from_slice(script);
        self.upload(path, UploadSource::Bytes(content)).await?;
        if !unix {
            return Ok(());
        }
        let command = format!("chmod 0777 {}", self.quote(path));
        match self.run(&command, &|_| {}).await {
            Ok(()) => Ok(()),
            Err(error) => Err(SshError::Chmod(Box::new(error))),
        }
    }

    async fn start_scp(&mut self, command: &str) -> Result<ChannelWire, SshError> {
        self.reopen().await?;
        Ok(ChannelWire::new(self.session.start(command).await?))
    }

    async fn reopen(&mut self) -> Result<(), SshError> {
        if self.session.is_closed() {
            self.session = Session::open(&self.settings).await?;
        }
        Ok(())
    }

    /// A text as one word for the shell of the host, which does not interpret it.
    pub fn quote(&self, text: &str) -> String {
        match self.settings.platform {
            Platform::Unix => format!("'{}'", text.replace('\'', "'\\''")),
            Platform::Windows => format!("\"{}\"", text.replace('"', "\\\"")),
        }
    }
}

fn announce(settings: &Settings, lines: Lines<'_>) {
    let hop_lines = |hop: &Hop| {
        format!(
            "  Host: {}\n  User: {}\n  Password: {}\n  Private key: {}\n  Certificate: {}\n  \
             SSH Agent: {}\n  Checking Host Key: {}",
            hop.host,
            hop.user,
            hop.password.is_some(),
            hop.private_key.is_some(),
            hop.certificate.is_some(),
            settings.agent.is_some(),
            hop.host_key.is_some(),
        )
    };
    lines(&format!(
        "Connecting to remote host via SSH...\n{}\n  Target Platform: {}",
        hop_lines(&settings.target),
        settings.platform.name()
    ));
    if let Some(bastion) = &settings.bastion {
        lines(&format!("Using configured bastion host...\n{}", hop_lines(bastion)));
    }
    if let Some(proxy) = &settings.proxy {
        lines(&format!(
            "Using configured proxy host...\n  ProxyHost: {}\n  ProxyPort: {}\n  ProxyUserName: {}\n  \
             ProxyUserPassword: {}",
            proxy.host,
            proxy.port,
            proxy.user.as_deref().unwrap_or_default(),
            proxy.password.is_some(),
        ));
    }
}

/// The folder and the name of a remote path, by either kind of slash.
fn split_path(path: &str) -> (String, String) {
    match path.rfind(['/', '\\']) {
        None => (".".into(), path.into()),
        Some(0) => (path[..1].into(), path[1..].into()),
        Some(at) => (path[..at].into(), path[at + 1..].into()),
    }
}

/// The local path in `source` with a leading `~` replaced by the home folder.
pub fn expand_home(source: &str, home: Option<&Path>) -> String {
    match (source.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", home.display()),
        _ => source.to_owned(),
    }
}

/// Cuts a stream of bytes into lines.
#[derive(Default)]
pub struct LineSplitter(Vec<u8>);

impl LineSplitter {
    pub fn feed(&mut self, bytes: &[u8], lines: Lines<'_>) {
        self.0.extend_from_slice(bytes);
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.0.drain(..=end).collect();
            emit(&line, lines);
        }
    }

    pub fn finish(&mut self, lines: Lines<'_>) {
        if !self.0.is_empty() {
            emit(&std::mem::take(&mut self.0), lines);
        }
    }
}

fn emit(line: &[u8], lines: Lines<'_>) {
    lines(String::from_utf8_lossy(line).trim_end_matches(['\r', '\n']));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_come_whole() {
        let seen = Mutex::new(Vec::new());
        let lines = |line: &str| seen.lock().unwrap().push(line.to_owned());
        let mut splitter = LineSplitter::default();
        splitter.feed(b"a\r\nb", &lines);
        splitter.feed(b"c\n\nlast", &lines);
        splitter.finish(&lines);
        assert_eq!(*seen.lock().unwrap(), ["a", "bc", "", "last"]);
    }

    #[test]
    fn paths() {
        for (path, folder, name) in
            [("/tmp/a", "/tmp", "a"), ("a", ".", "a"), ("/a", "/", "a"), ("C:\\t\\a.cmd", "C:\\t", "a.cmd")]
        {
            assert_eq!(split_path(path), (folder.to_owned(), name.to_owned()));
        }
        assert_eq!(expand_home("~/x", Some(Path::new("/home/me"))), "/home/me/x");
        assert_eq!(expand_home("~x", Some(Path::new("/home/me"))), "~x");
    }
}
