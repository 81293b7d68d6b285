//! Unpacking a package: one pass that inflates, writes and hashes, into a folder beside its place that is renamed when it
//! is whole.
//!
//! One thread inflates, another hashes and writes: a package is one large program and a few small texts, so that several
//! entries side by side would gain nothing. Never decides whether the package is the wanted one: the caller does, by the
//! hash, before it calls [`Staged::finish`].

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use base::files::named;
use base::stop::Stop;
use gotext::hex::hex;
use model::addr::Provider;
use sha2::{Digest, Sha256};

use super::contents::{Contents, Entry, Limits, reason, unreadable};
use super::hash::{self, Hashes};
use super::temporary::Temporary;
use super::{PackageError, is_executable_name};

/// A package that is unpacked beside its place. Dropped, it is gone again.
#[derive(Debug)]
pub struct Staged {
    folder: Temporary,
    target: PathBuf,
    hashes: Hashes,
    executable: PathBuf,
}

/// A package in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    pub dir: PathBuf,
    pub hashes: Hashes,
    /// Of the provider, within `dir`.
    pub executable: PathBuf,
}

/// Unpacks an archive beside `target`, on the same file system. Entries outside the folder are errors, and so is an
/// archive without the provider's executable; that file becomes executable in any case, and nothing is
/// writable for others than its owner.
pub fn stage(
    archive: &Path,
    target: &Path,
    provider: &Provider,
    limits: &Limits,
    stop: &Stop,
) -> Result<Staged, PackageError> {
    let mut contents = Contents::open(archive, limits)?;
    let executable = mark_executable(&mut contents.entries, provider)?;
    let folder = Temporary::beside(target)?;
    let hashes = extract(archive, contents, Some(folder.path()), stop)?;
    Ok(Staged { folder, target: target.to_owned(), hashes, executable })
}

/// The hashes of an archive that may be as large as any, without unpacking it.
pub fn hashes_of(path: &Path) -> Result<Hashes, PackageError> {
    hashes(path, &Limits::default(), &Stop::new())
}

/// The hashes that unpacking an archive would give.
pub fn hashes(archive: &Path, limits: &Limits, stop: &Stop) -> Result<Hashes, PackageError> {
    extract(archive, Contents::open(archive, limits)?, None, stop)
}

impl Staged {
    pub fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// Puts the package in its place; what was there (a link, a folder) is gone.
    pub fn finish(self) -> Result<Unpacked, PackageError> {
        self.folder.replace(&self.target)?;
        Ok(Unpacked { executable: self.target.join(&self.executable), dir: self.target, hashes: self.hashes })
    }
}

/// The name of the provider's executable, which is marked as such.
fn mark_executable(entries: &mut [Entry], provider: &Provider) -> Result<PathBuf, PackageError> {
    let fits = |entry: &&mut Entry| {
        let name = entry.path.to_str().unwrap_or_default();
        !entry.is_dir && !entry.is_link && is_executable_name(name, provider)
    };
    let found = entries.iter_mut().filter(fits).min_by_key(|entry| (!entry.runs, entry.path.clone()));
    let entry = found.ok_or_else(|| PackageError::NoExecutable { provider: provider.clone() })?;
    entry.runs = true;
    Ok(entry.path.clone())
}

/// From the thread that inflates to the one that hashes and writes.
enum Piece {
    /// What follows belongs to the next file.
    File,
    Bytes(Vec<u8>),
}

const PIECE: usize = 256 * 1024;
/// How many pieces may wait.
const AHEAD: usize = 8;

fn extract(archive: &Path, contents: Contents, folder: Option<&Path>, stop: &Stop) -> Result<Hashes, PackageError> {
    let Contents { mut zip, entries } = contents;
    let (full, to_write) = sync_channel(AHEAD);
    let (used, reusable) = channel();
    let entries = &entries;
    let sums = std::thread::scope(|scope| {
        let writer = std::thread::Builder::new()
            .name("unpack".to_owned())
            .spawn_scoped(scope, move || write_all(entries, folder, &to_write, &used))?;
        let mut inflated = Ok(());
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            inflated = inflate(&mut zip, entry, &full, &reusable, stop);
            if inflated.is_err() {
                break;
            }
        }
        // The writer ends when all senders are dropped.
        drop(full);
        let written = writer.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes failed")));
        match inflated {
            Err(Interrupted::Bad(why)) => Err(PackageError::bad_archive(archive, why)),
            Err(Interrupted::Stopped) => Err(PackageError::Stopped),
            // The piece was not received: the writer has the error.
            Err(Interrupted::Writer) | Ok(()) => written.map_err(PackageError::Disk),
        }
    })?;
    let files: Vec<&Entry> = entries.iter().filter(|entry| !entry.is_dir).collect();
    let unpacked = files.iter().zip(&sums).map(|(entry, sum)| (hash::slashed(&entry.path), sum.clone()));
    let in_archive = files.iter().zip(&sums).map(|(entry, sum)| (entry.name.clone(), sum.clone()));
    let nothing = hex(&Sha256::digest([]));
    let folders = entries.iter().filter(|entry| entry.is_dir).map(|entry| (entry.name.clone(), nothing.clone()));
    Ok(Hashes {
        unpacked: hash::combine(unpacked.collect()),
        archive: hash::combine(in_archive.chain(folders).collect()),
    })
}

/// Why inflating ended early.
enum Interrupted {
    Bad(String),
    Stopped,
    Writer,
}

fn inflate(
    zip: &mut zip::ZipArchive<io::BufReader<File>>,
    entry: &Entry,
    full: &SyncSender<Piece>,
    reusable: &Receiver<Vec<u8>>,
    stop: &Stop,
) -> Result<(), Interrupted> {
    let bad = |why: String| Interrupted::Bad(format!("the entry {:?}: {why}", entry.name));
    let source = zip.by_index(entry.index).map_err(|e| bad(reason(e)))?;
    // One more than it should have, to notice that it has more; the end must be read for its checksum to be looked at.
    let mut source = source.take(entry.size.saturating_add(1));
    full.send(Piece::File).map_err(|_| Interrupted::Writer)?;
    let mut length = 0u64;
    loop {
        if stop.is_stopping() {
            return Err(Interrupted::Stopped);
        }
        let mut buffer = reusable.try_recv().unwrap_or_else(|_| Vec::with_capacity(PIECE));
        buffer.clear();
        let read = (&mut source).take(PIECE as u64).read_to_end(&mut buffer).map_err(|e| bad(unreadable(&e)))?;
        length += read as u64;
        if read == 0 {
            break;
        }
        full.send(Piece::Bytes(buffer)).map_err(|_| Interrupted::Writer)?;
    }
    match length == entry.size {
        true => Ok(()),
        false => Err(bad("it is not as long as the archive says".to_owned())),
    }
}

/// Writes the pieces to the files in turn; the hex SHA-256 of each. Without a folder they are only hashed.
fn write_all(
    entries: &[Entry],
    folder: Option<&Path>,
    pieces: &Receiver<Piece>,
    used: &Sender<Vec<u8>>,
) -> io::Result<Vec<String>> {
    if let Some(folder) = folder {
        for entry in entries.iter().filter(|entry| entry.is_dir) {
            super::temporary::folders(&folder.join(&entry.path))?;
        }
    }
    let mut entries = entries.iter().filter(|entry| !entry.is_dir);
    let mut sums = Vec::new();
    let mut current: Option<EntryWriter> = None;
    for piece in pieces {
        match piece {
            Piece::File => {
                sums.extend(current.take().map(EntryWriter::finish).transpose()?);
                let Some(entry) = entries.next() else { break };
                current = Some(EntryWriter::create(entry, folder)?);
            }
            Piece::Bytes(bytes) => {
                if let Some(output) = &mut current {
                    output.write(&bytes)?;
                }
                // If the receiver is gone, this buffer was the last.
                let _ = used.send(bytes);
            }
        }
    }
    sums.extend(current.map(EntryWriter::finish).transpose()?);
    Ok(sums)
}

/// A file that is being written.
struct EntryWriter {
    hasher: Sha256,
    file: Option<(File, PathBuf)>,
}

impl EntryWriter {
    fn create(entry: &Entry, folder: Option<&Path>) -> io::Result<EntryWriter> {
        let Some(folder) = folder else { return Ok(EntryWriter { hasher: Sha256::new(), file: None }) };
        let path = folder.join(&entry.path);
        if let Some(parent) = path.parent() {
            super::temporary::folders(parent)?;
        }
        let file = create_new(&path, if entry.runs { 0o755 } else { 0o644 }).map_err(|e| named(e, "create", &path))?;
        Ok(EntryWriter { hasher: Sha256::new(), file: Some((file, path)) })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        match &mut self.file {
            Some((file, path)) => file.write_all(bytes).map_err(|e| named(e, "write", path)),
            None => Ok(()),
        }
    }

    fn finish(self) -> io::Result<String> {
        // Not synced where stamps know of restarts: see `stamp`.
        if let Some((file, path)) = &self.file
            && super::stamp::boot().is_none()
        {
            file.sync_all().map_err(|e| named(e, "sync", path))?;
        }
        Ok(hex(&self.hasher.finalize()))
    }
}

/// The user's umask takes from the mode.
fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

#[cfg(test)]
mod tests;
