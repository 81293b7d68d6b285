//! Archives from other machines to files here, with their checksum taken on the way.

use std::fs::TryLockError;
use std::io::Write;
use std::path::{Path, PathBuf};

use base::files::named;
use base::limits::Limit;
use net::http::{Client, Failure, FailureKind, Progress, Request};
use sha2::{Digest, Sha256};

use super::placed::Problem;
use crate::event::FailedStep;

/// A package's archive is no larger.
const MOST: Limit = Limit::bytes(4 << 30);

/// How the names of downloads begin.
const PREFIX: &str = ".download-";

/// An archive that came over the network. Its file goes when this is dropped.
pub(super) struct Downloaded {
    pub file: tempfile::NamedTempFile,
    pub sha256: [u8; 32],
    pub bytes: u64,
}

impl Downloaded {
    /// Where it is, and its checksum.
    pub fn file_and_checksum(&self) -> (PathBuf, Option<[u8; 32]>) {
        (self.file.path().to_path_buf(), Some(self.sha256))
    }
}

/// Brings an archive to a file in a folder, which is made.
pub(super) async fn download(
    http: &Client,
    request: &Request,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<Downloaded, Problem> {
    let worded = |e: Failure| match e.kind {
        FailureKind::Stopped => Problem::Interrupted,
        _ => failed(e.to_string()),
    };
    let mut attempts = 1;
    let (answer, file, sum, bytes) = loop {
        let mut file = temporary(folder)?;
        let path = file.path().to_path_buf();
        let mut into = Hashed { file: file.as_file_mut(), path: &path, sum: Sha256::new(), bytes: 0 };
        let answer = http.download(request, &mut into, MOST, progress).await;
        // A connection that broke may hold the next time.
        if attempts >= http.attempts() || !http.pause(attempts, request, &answer).await.map_err(worded)? {
            let (sum, bytes) = (into.sum, into.bytes);
            break (answer.map_err(worded)?, file, sum, bytes);
        }
        attempts += 1;
    };
    if answer.status.as_u16() != 200 {
        let host = answer.url.host_str().unwrap_or_default();
        let port = answer.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        return Err(failed(format!("{host}{port}: bad response code: {}", answer.status.as_u16())));
    }
    Ok(Downloaded { file, sha256: sum.finalize().into(), bytes })
}

fn failed(why: String) -> Problem {
    Problem::Failed(FailedStep::Download, why)
}

/// A new file that stays locked while it is ours. The system's locks end with their process, so what killed runs left is
/// known by having none; it goes now.
fn temporary(folder: &Path) -> Result<tempfile::NamedTempFile, Problem> {
    std::fs::create_dir_all(folder).map_err(|e| failed(named(e, "create", folder).to_string()))?;
    sweep(folder);
    for _ in 0..100 {
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(".zip").tempfile_in(folder);
        let file = file.map_err(|e| failed(named(e, "create a file in", folder).to_string()))?;
        match file.as_file().try_lock() {
            // A concurrent sweep removes a file that was not locked yet, even if it is removed only after this.
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if !file.path().exists() => {}
            // Where files cannot be locked, none is swept either.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(failed(format!("cannot create a file in {}: other programs remove every new file", folder.display())))
}

/// Removes files of killed runs from a folder, but not those of running downloads.
pub(super) fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let Ok(file) = std::fs::File::options().write(true).open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            // A file that cannot be removed does not stop the installation.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file that takes the checksum of what is written to it.
struct Hashed<'a> {
    file: &'a mut std::fs::File,
    path: &'a Path,
    sum: Sha256,
    bytes: u64,
}

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.file.write(bytes).map_err(|e| named(e, "write", self.path))?;
        self.sum.update(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_sweeps_leave_new_files_alone() {
        let dir = tempfile::tempdir().unwrap();
        let make = || {
            for _ in 0..2000 {
                let Ok(file) = temporary(dir.path()) else { panic!("no file") };
                std::thread::yield_now();
                assert!(file.path().exists(), "a sweep removed a file that is in use");
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(make))));
    }

    #[test]
    fn leftovers_of_killed_runs_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".download-left.zip"), "half").unwrap();
        let Ok(first) = temporary(dir.path()) else { panic!("no file") };
        let Ok(second) = temporary(dir.path()) else { panic!("no file") };
        assert!(first.path().exists() && second.path().exists(), "those in use stay");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
