//! Appending to a journal: a thread that writes all queued records and syncs once for all of them.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use base::atomic;
use base::files::named;
use tokio::sync::oneshot;

use super::journal_sealing::Sealing;

/// A journal that is being written. Dropping it leaves the file as it is.
pub struct JournalWriter {
    path: PathBuf,
    queue: Option<mpsc::Sender<QueuedRecord>>,
    thread: Option<JoinHandle<()>>,
}

struct QueuedRecord {
    record: Vec<u8>,
    done: oneshot::Sender<Result<(), String>>,
}

/// Completes when a record is on the disk.
pub struct Durable(oneshot::Receiver<Result<(), String>>);

impl Durable {
    pub async fn wait(self) -> io::Result<()> {
        match self.0.await {
            Ok(result) => result.map_err(io::Error::other),
            Err(_) => Err(io::Error::other("the journal is closed")),
        }
    }
}

impl JournalWriter {
    /// Begins a journal with its header, durably. It is an error if there is one already.
    pub fn create(path: &Path, header: &[u8], mut sealing: Option<Sealing>) -> io::Result<JournalWriter> {
        let sealed = match &mut sealing {
            Some(sealing) => Some(sealing.journal(header)?),
            None => None,
        };
        let mut options = File::options();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|e| named(e, "create", path))?;
        let begun = file.write_all(sealed.as_deref().unwrap_or(header)).and_then(|()| file.sync_all());
        if let Err(error) = begun.and_then(|()| atomic::sync_directory(atomic::directory_of(path))) {
            let _ = std::fs::remove_file(path);
            return Err(named(error, "write", path));
        }
        Ok(JournalWriter::over(file, path, sealing))
    }

    fn over(file: File, path: &Path, sealing: Option<Sealing>) -> JournalWriter {
        let (queue, entries) = mpsc::channel();
        let place = path.to_path_buf();
        let thread = std::thread::spawn(move || serve(file, &place, &entries, sealing));
        JournalWriter { path: path.to_path_buf(), queue: Some(queue), thread: Some(thread) }
    }

    /// Queues a record. Records are written in the order of these calls.
    pub fn append(&self, record: Vec<u8>) -> Durable {
        let (done, durable) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // If the thread is gone, the receiver returns an error.
            let _ = queue.send(QueuedRecord { record, done });
        }
        Durable(durable)
    }

    /// Writes what is queued and ends.
    pub fn close(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Ends and removes the file: everything in it is in a snapshot.
    pub fn remove(mut self) -> io::Result<()> {
        self.close();
        remove(&self.path)
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        self.close();
    }
}

/// Removes a journal, durably.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(named(e, "remove", path)),
        Ok(()) => atomic::sync_directory(atomic::directory_of(path)),
    }
}

fn serve(mut file: File, path: &Path, entries: &mpsc::Receiver<QueuedRecord>, mut sealing: Option<Sealing>) {
    let mut failure: Option<String> = None;
    while let Ok(first) = entries.recv() {
        let mut bytes = Vec::new();
        let mut waiting = Vec::new();
        let mut sealed = Ok(());
        // What gathered while the last batch was being synced goes out together.
        for entry in std::iter::once(first).chain(entries.try_iter()) {
            match &mut sealing {
                None => bytes.extend_from_slice(&entry.record),
                Some(sealing) => match sealing.line(&entry.record) {
                    Ok(line) => bytes.extend(line),
                    Err(error) => sealed = Err(error),
                },
            }
            waiting.push(entry.done);
        }
        if failure.is_none() {
            let written = sealed.and_then(|()| file.write_all(&bytes)).and_then(|()| file.sync_data());
            // After a failure the tail may be torn: nothing may follow it.
            failure = written.err().map(|e| named(e, "write", path).to_string());
        }
        for done in waiting {
            let _ = done.send(failure.clone().map_or(Ok(()), Err));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn records_are_durable_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let writer = JournalWriter::create(&path, b"0", None).unwrap();
        let waits: Vec<Durable> = (1..=9).map(|i| writer.append(i.to_string().into_bytes())).collect();
        for wait in waits {
            wait.wait().await.unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"0123456789");
        assert!(JournalWriter::create(&path, b"", None).is_err());
        writer.remove().unwrap();
        assert!(!path.exists());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_fails_this_record_and_all_that_follow() {
        let path = Path::new("/dev/full");
        let writer = JournalWriter::over(File::options().write(true).open(path).unwrap(), path, None);
        for _ in 0..2 {
            let error = writer.append(b"x".to_vec()).wait().await.unwrap_err();
            assert_eq!(error.to_string(), "write /dev/full: no space left on device");
        }
    }
}
