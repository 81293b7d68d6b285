//! The sending half of the scp protocol: a line announces each file or folder, the other side answers with a status.

use std::path::{Path, PathBuf};

use russh::client::Msg;
use russh::{Channel, ChannelMsg};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::error::ScpError;

const CHUNK: usize = 32 * 1024;

/// The other end of a remote `scp -t`.
pub trait Wire: Send {
    fn send(&mut self, bytes: Vec<u8>) -> impl Future<Output = Result<(), ScpError>> + Send;
    /// Waits for the answer to what was sent.
    fn status(&mut self) -> impl Future<Output = Result<(), ScpError>> + Send;
}

/// What to send.
pub enum UploadSource {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// One file under `name`.
pub async fn send_file(wire: &mut impl Wire, name: &str, source: UploadSource) -> Result<(), ScpError> {
    match source {
        UploadSource::Bytes(bytes) => {
            let size = bytes.len() as u64;
            send_content(wire, name, size, &mut bytes.as_slice()).await
        }
        UploadSource::File(path) => {
            let describe = |error: std::io::Error| ScpError::Open { path: path.clone(), why: error.to_string() };
            let mut file = tokio::fs::File::open(&path).await.map_err(describe)?;
            let size = file.metadata().await.map_err(describe)?.len();
            send_content(wire, name, size, &mut file).await
        }
    }
}

/// The folder `source`: with a trailing slash only what is in it, else itself by its name.
pub async fn send_folder(wire: &mut impl Wire, source: &str) -> Result<(), ScpError> {
    let path = Path::new(source);
    if source.ends_with('/') {
        return send_entries(wire, path).await;
    }
    let name = path.file_name().map_or_else(|| source.to_owned(), |name| name.to_string_lossy().into_owned());
    send_named_folder(wire, &name, path).await
}

async fn send_named_folder(wire: &mut impl Wire, name: &str, path: &Path) -> Result<(), ScpError> {
    announce(wire, format!("D0755 0 {name}\n")).await?;
    Box::pin(send_entries(wire, path)).await?;
    announce(wire, "E\n".into()).await
}

/// Sorted, so that two runs do the same; a symbolic link is sent as what it points to.
async fn send_entries(wire: &mut impl Wire, folder: &Path) -> Result<(), ScpError> {
    let unread = |path: &Path, error: std::io::Error| ScpError::Read { path: path.to_owned(), why: error.to_string() };
    let entries = std::fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut entries = entries.map_err(|error| unread(folder, error))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let metadata = std::fs::metadata(&path).map_err(|error| unread(&path, error))?;
        if metadata.is_dir() {
            Box::pin(send_named_folder(wire, &name, &path)).await?;
        } else {
            send_file(wire, &name, UploadSource::File(path)).await?;
        }
    }
    Ok(())
}

async fn send_content(
    wire: &mut impl Wire,
    name: &str,
    size: u64,
    content: &mut (impl AsyncRead + Unpin + Send),
) -> Result<(), ScpError> {
    announce(wire, format!("C0644 {size} {name}\n")).await?;
    let mut left = size;
    while left > 0 {
        let mut chunk = vec![0; usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)];
        let read = content.read(&mut chunk).await.map_err(|error| ScpError::Content(error.to_string()))?;
        if read == 0 {
            return Err(ScpError::Shorter { name: name.to_owned() });
        }
        chunk.truncate(read);
        left -= read as u64;
        wire.send(chunk).await?;
    }
    wire.send(vec![0]).await?;
    wire.status().await
}

async fn announce(wire: &mut impl Wire, line: String) -> Result<(), ScpError> {
    wire.send(line.into_bytes()).await?;
    wire.status().await
}

/// The protocol over an SSH channel on which scp was started.
pub struct ChannelWire {
    channel: Channel<Msg>,
    received: Vec<u8>,
    errors: Vec<u8>,
    exit: Option<u32>,
}

impl ChannelWire {
    pub fn new(channel: Channel<Msg>) -> ChannelWire {
        ChannelWire { channel, received: Vec::new(), errors: Vec::new(), exit: None }
    }

    /// Ends the transfer; an error if scp says that it failed.
    pub async fn finish(mut self, result: Result<(), ScpError>) -> Result<(), ScpError> {
        // A channel that is already gone has nothing left to end.
        self.channel.eof().await.ok();
        while self.next().await {}
        match (self.exit, result) {
            (Some(127), _) => Err(ScpError::NotInstalled),
            (_, Err(error)) => Err(error),
            (Some(0) | None, Ok(())) => Ok(()),
            (Some(code), Ok(())) => Err(ScpError::Exit { code, said: self.remote_errors() }),
        }
    }

    fn remote_errors(&self) -> String {
        String::from_utf8_lossy(&self.errors).trim().to_owned()
    }

    /// Takes one message in; false at the end.
    async fn next(&mut self) -> bool {
        match self.channel.wait().await {
            None => return false,
            Some(ChannelMsg::Data { data }) => self.received.extend_from_slice(&data),
            Some(ChannelMsg::ExtendedData { data, .. }) => self.errors.extend_from_slice(&data),
            Some(ChannelMsg::ExitStatus { exit_status }) => self.exit = Some(exit_status),
            Some(_) => {}
        }
        true
    }

    async fn byte(&mut self) -> Result<u8, ScpError> {
        while self.received.is_empty() {
            if !self.next().await {
                return Err(ScpError::Ended);
            }
        }
        Ok(self.received.remove(0))
    }
}

impl Wire for ChannelWire {
    async fn send(&mut self, bytes: Vec<u8>) -> Result<(), ScpError> {
        self.channel.data(bytes.as_slice()).await.map_err(|error| ScpError::Connection(error.to_string()))
    }

    async fn status(&mut self) -> Result<(), ScpError> {
        if self.byte().await? == 0 {
            return Ok(());
        }
        let mut message = Vec::new();
        loop {
            match self.byte().await {
                Ok(b'\n') | Err(_) => {
                    return Err(ScpError::Refused(String::from_utf8_lossy(&message).into_owned()));
                }
                Ok(byte) => message.push(byte),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Recorder(String);

    impl Wire for Recorder {
        async fn send(&mut self, bytes: Vec<u8>) -> Result<(), ScpError> {
            self.0 += &String::from_utf8_lossy(&bytes).replace('\0', "|");
            Ok(())
        }

        async fn status(&mut self) -> Result<(), ScpError> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn folders_follow_the_slash() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        std::fs::create_dir_all(top.join("sub")).unwrap();
        std::fs::write(top.join("a"), "x").unwrap();
        std::fs::write(top.join("sub/b"), "").unwrap();
        let entries = "C0644 1 a\nx|D0755 0 sub\nC0644 0 b\n|E\n";
        for (suffix, expected) in [("/", entries.to_owned()), ("", format!("D0755 0 top\n{entries}E\n"))] {
            let mut wire = Recorder::default();
            send_folder(&mut wire, &format!("{}{suffix}", top.display())).await.unwrap();
            assert_eq!(wire.0, expected);
        }
    }
}
