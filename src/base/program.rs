//! Running other people's programs for what they say: version control, credential helpers.
//!
//! They share the terminal's process group, so that they may ask for a password and hear an interrupt themselves. Never knows
//! what they are run for.

use std::io::{self, Read};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use crate::limits::{self, Limit};
use crate::stop::Stop;
use crate::term;

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    /// Standard output; with `joined` everything in the order in which it was said.
    pub output: String,
    /// Standard error; with `joined` empty.
    pub errors: String,
}

/// Runs a program to its end. None: the work was asked to stop, and the program is gone.
pub async fn run(command: Command, joined: bool, stop: &Stop) -> io::Result<Option<Ran>> {
    run_fed(command, None, joined, stop).await
}

/// As [`run`], with `input` on its standard input. That it does not read it is its own business.
pub async fn run_fed(mut command: Command, input: Option<&[u8]>, joined: bool, stop: &Stop) -> io::Result<Option<Ran>> {
    let (out, out_end) = io::pipe()?;
    let (err, err_end) = io::pipe()?;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).kill_on_drop(true);
    // A writing end that we kept would hold the reader for ever.
    if joined {
        drop(err_end);
        command.stderr(out_end.try_clone()?);
    } else {
        command.stderr(err_end);
    }
    command.stdout(out_end);
    let _loan = term::lend();
    let mut child = command.spawn()?;
    // The command owns our copies of the writing ends; the readers see the end only once they are gone.
    drop(command);
    let limit = limits::answer();
    let exceeded = Arc::new(Notify::new());
    let read = |pipe| {
        let exceeded = exceeded.clone();
        tokio::task::spawn_blocking(move || read(pipe, limit, &exceeded))
    };
    let (out, err) = (read(out), read(err));
    let stdin = child.stdin.take();
    let feed = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            let _ = stdin.write_all(input).await;
        }
    };
    let ended = async { tokio::join!(feed, child.wait()).1 };
    let status = tokio::select! {
        status = ended => status?,
        () = stop.stopping() => {
            let _ = child.kill().await;
            return Ok(None);
        }
        () = exceeded.notified() => {
            let _ = child.kill().await;
            return Err(too_long(limit));
        }
    };
    // It may have ended because nothing was read any more.
    let said =
        |read: Result<_, tokio::task::JoinError>| read.unwrap_or(Some(String::new())).ok_or_else(|| too_long(limit));
    let (output, errors) = (said(out.await)?, said(err.await)?);
    Ok(Some(Ran { status, output, errors }))
}

/// None: there is more than the limit.
fn read(pipe: io::PipeReader, limit: Limit, exceeded: &Notify) -> Option<String> {
    let mut bytes = Vec::new();
    // What was read before an error is what there is.
    let _ = pipe.take(limit.bytes.saturating_add(1)).read_to_end(&mut bytes);
    if bytes.len() as u64 > limit.bytes {
        exceeded.notify_one();
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn too_long(limit: Limit) -> io::Error {
    io::Error::other(format!("its output is {}", limit.exceeded()))
}

/// What a program says on its pipes until it ends. More than the limit on one of them is an error, and the program is killed.
pub async fn output_within(mut child: Child, limit: Limit) -> io::Result<Output> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let said = tokio::try_join!(whole(out, limit), whole(err, limit));
    match said {
        Ok((stdout, stderr)) => Ok(Output { status: child.wait().await?, stdout, stderr }),
        Err(error) => {
            let _ = child.kill().await;
            Err(error)
        }
    }
}

async fn whole(pipe: Option<impl AsyncRead + Unpin>, limit: Limit) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(limit.bytes.saturating_add(1)).read_to_end(&mut said).await?;
    }
    match said.len() as u64 > limit.bytes {
        true => Err(io::Error::other(format!("the output of the program is {}", limit.exceeded()))),
        false => Ok(said),
    }
}

/// A program by its name in the folders of a search path.
pub fn find(name: &str, search_path: &str) -> Option<std::path::PathBuf> {
    let found = std::env::split_paths(search_path).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.or_else(|| {
        let name = format!("{name}.exe");
        std::env::split_paths(search_path)
            .map(|dir| dir.join(&name))
            .find(|path| path.is_file())
            .filter(|_| cfg!(windows))
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_without_end_is_an_error_and_ends_the_program() {
        let mut command = Command::new("yes");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = output_within(command.spawn().unwrap(), Limit::bytes(1 << 20)).await.unwrap_err();
        assert_eq!(failed.to_string(), "the output of the program is larger than 1 MiB");
        let failed = run(Command::new("yes"), false, &Stop::new()).await.unwrap_err();
        assert_eq!(failed.to_string(), "its output is larger than 16 MiB (see TERRANE_ANSWER_SIZE_LIMIT)");
    }
}
