//! A lock on one package of a shared cache: a file beside the package's folder, locked the way other programs of this
//! field lock theirs, so that of several processes one fetches a package and the others wait for it.
//!
//! The operating system drops the lock of a process that dies. The file stays: removing it could give two processes a
//! lock on two files of one name.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use base::files::named;
use base::lock::{Attempt, has_no_locks, is_at, try_lock};
use base::stop::Stop;

use super::PackageError;
use super::temporary::folders;

/// Time of waiting for a lock after which this is reported.
const NOTICE_AFTER: Duration = Duration::from_secs(5);

/// How long a lock is waited for before it is tried again: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct PackageLock {
    /// None where the file system has no locks: then several processes fetch the same package, and the last one's stays.
    _file: Option<File>,
}

/// Locks a file, creates it if necessary, and waits without a limit. `contended` is called once if another process
/// has held it for some seconds.
pub async fn acquire(path: &Path, stop: &Stop, contended: impl FnOnce()) -> Result<PackageLock, PackageError> {
    acquire_within(path, stop, NOTICE_AFTER, contended).await
}

async fn acquire_within(
    path: &Path,
    stop: &Stop,
    notice_after: Duration,
    contended: impl FnOnce(),
) -> Result<PackageLock, PackageError> {
    let (mut pause, most) = PAUSES;
    let mut waited = Duration::ZERO;
    let mut contended = Some(contended);
    loop {
        if stop.is_stopping() {
            return Err(PackageError::Stopped);
        }
        match attempt(path)? {
            Some(lock) => return Ok(lock),
            None if waited >= notice_after => {
                if let Some(tell) = contended.take() {
                    tell();
                }
            }
            None => {}
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.stopping() => return Err(PackageError::Stopped),
        }
        waited += pause;
        pause = (pause * 2).min(most);
    }
}

/// One attempt; None: another process holds it.
fn attempt(path: &Path) -> io::Result<Option<PackageLock>> {
    if let Some(parent) = path.parent() {
        folders(parent)?;
    }
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = open.map_err(|e| named(e, "open", path))?;
    match try_lock(&file) {
        // The cache may have been emptied in between: a lock on a removed file excludes no other process.
        Ok(Attempt::Locked) if !is_at(&file, path) => Ok(None),
        Ok(Attempt::Locked) => Ok(Some(PackageLock { _file: Some(file) })),
        Ok(Attempt::Busy) => Ok(None),
        Err(e) if has_no_locks(&e) => Ok(Some(PackageLock { _file: None })),
        Err(e) => Err(named(e, "lock", path)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    const ROLE: &str = "TERRANE_TEST_HOLD_LOCK";

    /// Not a test: the other process of the tests below. Holds the lock until its input ends.
    #[test]
    #[ignore = "a process of other tests"]
    fn other_process() {
        let Some(path) = std::env::var_os(ROLE) else { return };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lock = runtime.block_on(acquire(Path::new(&path), &Stop::new(), || ())).unwrap();
        std::fs::write(Path::new(&path).with_extension("held"), "").unwrap();
        // Its standard output is the test harness's; errors are free.
        std::io::Write::write_all(&mut std::io::stderr(), b"\nlocked\n").unwrap();
        std::io::stdin().lock().read_line(&mut String::new()).unwrap();
        drop(lock);
    }

    /// Another process that holds the lock.
    fn hold(path: &Path) -> Child {
        let name = "package::lock::tests::other_process";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name, "--nocapture"])
            .env(ROLE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "locked"), "the other process has the lock");
        child
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn another_process_is_waited_for_and_a_dead_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("v/linux_amd64.lock");
        let mut other = hold(&path);
        assert!(attempt(&path).unwrap().is_none());
        // Told at once; then the other one goes.
        let (told, stop) = (Cell::new(false), Stop::new());
        let lock = acquire_within(&path, &stop, Duration::ZERO, || {
            told.set(true);
            drop(other.stdin.take());
        });
        let lock = lock.await.unwrap();
        assert!(told.get());
        other.wait().unwrap();
        drop(lock);
        let mut other = hold(&path);
        assert!(attempt(&path).unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(attempt(&path).unwrap().is_some());
    }

    #[tokio::test]
    async fn waiting_ends_with_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("linux_amd64.lock");
        let (stop, _held) = (Stop::new(), acquire(&path, &Stop::new(), || ()).await.unwrap());
        let waited = acquire_within(&path, &stop, Duration::ZERO, || stop.stop()).await;
        assert!(matches!(waited, Err(PackageError::Stopped)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_removed_lock_file_excludes_no_process() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("linux_amd64.lock");
        let file = File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
        assert!(attempt(&path).unwrap().is_some());
    }
}
