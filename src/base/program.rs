//! Running other people's programs for what they say: version control, credential helpers.
//!
//! They share the terminal's process group, so that they may ask for a password and hear an interrupt themselves. Never knows
//! what they are run for.

use std::io::{self, Read};
use std::process::{ExitStatus, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::base::stop::Stop;

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
    let mut child = command.spawn()?;
    // The command owns our copies of the writing ends; the readers see the end only once they are gone.
    drop(command);
    let (out, err) = (tokio::task::spawn_blocking(|| read(out)), tokio::task::spawn_blocking(|| read(err)));
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
    };
    let (output, errors) = (out.await.unwrap_or_default(), err.await.unwrap_or_default());
    Ok(Some(Ran { status, output, errors }))
}

fn read(mut pipe: io::PipeReader) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is what there is.
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
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
