//! One state file: read, written in place, locked.
//!
//! The lock is on the file itself, as the reference's is, so the file is never replaced by another one: a new snapshot
//! is first made durable beside it (`.NAME.next`) and then written in place. If that is cut short, the next one to lock
//! the file finishes it. While locked, the file is read and written through the handle that holds the lock.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use base::atomic;
use base::files::{named, reason};
use base::lock::{self, Attempt};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::state::file;

use super::{StatePaths, beside};
use crate::contract::facts::BackupContent;
use crate::contract::{FileBackups, LockError, LockInfo, StateStore, StoreError, StoreFacts};

const COMPARED_AT_ONCE: usize = 64 * 1024;

/// The state file of one workspace.
pub struct LocalStore {
    inner: Arc<FileState>,
}

struct FileState {
    paths: StatePaths,
    held: Mutex<FileLock>,
}

#[derive(Default)]
struct FileLock {
    /// The handle and the id of the lock that is held.
    lock: Option<(File, String)>,
    /// Locking made the file; unlocking removes it if it is still empty.
    created: bool,
    /// What the file held before this run wrote to it has been kept, or there was nothing to keep.
    backed_up: bool,
    /// How a backup is made; none: of the content as it is.
    backup_content: Option<BackupContent>,
}

/// What the file held, to be put back if a write fails; compressed, because states can be large.
struct OldContent {
    packed: Vec<u8>,
    length: u64,
}

impl LocalStore {
    pub fn new(paths: StatePaths) -> LocalStore {
        LocalStore { inner: Arc::new(FileState { paths, held: Mutex::default() }) }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&FileState) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || work(&inner)).await.map_err(|e| StoreError::new(e.to_string()))
    }
}

#[async_trait]
impl StateStore for LocalStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts {
            // An attempt costs next to nothing, and most commands hold the lock for less than a tenth of a second.
            lock_pauses: Duration::from_millis(20)..=Duration::from_millis(250),
            locks_are_of_processes: true,
            state_file: Some(self.inner.paths.read.clone()),
            keeps_files: true,
            writes_elsewhere: self.inner.paths.read != self.inner.paths.write,
            backups: Some(self),
            ..StoreFacts::local(beside(&self.inner.paths.write, ".", ".journal"))
        }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.blocking(FileState::read).await??)
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        Ok(self.blocking(move |inner| inner.write(&snapshot)).await??)
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        let info = info.clone();
        match self.blocking(move |inner| inner.lock(info)).await {
            Ok(result) => result,
            Err(error) => Err(LockError::new(error.text)),
        }
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_string();
        self.blocking(move |inner| inner.unlock(&id)).await?
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }

    async fn lock_lost(&self) -> StoreError {
        std::future::pending().await
    }
}

impl FileBackups for LocalStore {
    fn restart(&self) {
        self.inner.held().backed_up = false;
    }

    fn make_by(&self, content: BackupContent) {
        self.inner.held().backup_content = Some(content);
    }
}

/// The file beside a state in which its next snapshot is until it was written. It stays if the process ends meanwhile.
pub fn next_of(state: &Path) -> PathBuf {
    beside(state, ".", ".next")
}

impl FileState {
    fn held(&self) -> MutexGuard<'_, FileLock> {
        self.held.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn info_path(&self) -> PathBuf {
        beside(&self.paths.write, ".", ".lock.info")
    }

    fn next_path(&self) -> PathBuf {
        next_of(&self.paths.write)
    }

    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let mut held = self.held();
        let path = &self.paths.read;
        let same = self.paths.read == self.paths.write;
        let content = match &mut held.lock {
            Some((file, _)) if same => read_all(file).map_err(|e| named(e, "read", path))?,
            _ => {
                let content = match std::fs::read(path) {
                    Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
                    other => other.map_err(|e| named(e, "open", path))?,
                };
                // Without the lock a write that was cut short cannot be finished, but it can be seen through.
                if same { unfinished(&self.next_path(), &content).unwrap_or(content) } else { content }
            }
        };
        Ok((!content.is_empty()).then_some(content))
    }

    fn write(&self, snapshot: &[u8]) -> io::Result<()> {
        let mut held = self.held();
        let held = &mut *held;
        let path = &self.paths.write;
        let mut unlocked;
        let file = match &mut held.lock {
            Some((file, _)) => file,
            None => {
                unlocked = open(path)?.0;
                &mut unlocked
            }
        };
        if holds(file, snapshot).map_err(|e| named(e, "read", path))? {
            return Ok(());
        }
        if !held.backed_up {
            if let Some(backup) = &self.paths.backup {
                let old = read_all(file).map_err(|e| named(e, "read", path))?;
                let kept = match &held.backup_content {
                    _ if old.is_empty() => None,
                    Some(content) => content(old, snapshot).map_err(io::Error::other)?,
                    None => Some(old),
                };
                if let Some(kept) = kept {
                    write_backup(backup, &kept, file)?;
                }
            }
            held.backed_up = true;
        }
        let old = OldContent::read(file).map_err(|e| named(e, "read", path))?;
        self.replace(file, &old, snapshot)
    }

    /// Writes in place what was first made durable beside the file.
    fn replace(&self, file: &mut File, old: &OldContent, new: &[u8]) -> io::Result<()> {
        let (path, next) = (&self.paths.write, self.next_path());
        let durable = match atomic::write_private(&next, new) {
            Ok(()) => true,
            // The folder takes no new files; the file itself may still be ours to write.
            Err(e) if matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => false,
            Err(e) => {
                discard(&next);
                return Err(e);
            }
        };
        if let Err(error) = reserve(file, new.len()) {
            let _ = file.set_len(old.length);
            discard(&next);
            return Err(named(error, "write", path));
        }
        if let Err(error) = overwrite(file, new) {
            self.restore(file, old);
            return Err(named(error, "write", path));
        }
        if durable {
            // The snapshot is written: a file that stays is obsolete.
            discard(&next);
        }
        Ok(())
    }

    /// Undoes a write that failed, which must not be finished by the next command.
    fn restore(&self, file: &mut File, old: &OldContent) {
        let next = self.next_path();
        let old = match old.content() {
            Ok(content) => content,
            Err(e) => return tracing::warn!("{}", named(e, "restore", &self.paths.write)),
        };
        // Now the old snapshot is what the next command finishes, if this one cannot.
        let is_kept = !old.is_empty() && atomic::write_private(&next, &old).is_ok();
        let is_durable = overwrite(file, &old).is_ok();
        let is_back = is_durable || write_over(file, &old).is_ok();
        // Beside a state that is torn, a whole one stays: if need be, the new one.
        if is_durable || (is_back && !is_kept) {
            discard(&next);
        }
    }

    fn lock(&self, mut info: LockInfo) -> Result<String, LockError> {
        let mut held = self.held();
        if held.lock.is_some() {
            return Err(LockError::new(format!("state {:?} already locked", self.paths.write.display().to_string())));
        }
        let path = &self.paths.write;
        let (mut file, created) = loop {
            let (file, created) = open(path)?;
            match lock::try_lock(&file) {
                Ok(Attempt::Locked) if lock::is_at(&file, path) => break (file, created),
                // Another process removed the empty file between our open and its unlock.
                Ok(Attempt::Locked) => {}
                Ok(Attempt::Busy) => return Err(self.busy()),
                Err(e) => return Err(named(e, "lock", path).into()),
            }
        };
        self.finish_write(&mut file)?;
        info.path = path.display().to_string();
        let info_path = self.info_path();
        if let Err(e) = atomic::write_private(&info_path, &info.to_json()) {
            if created {
                let _ = std::fs::remove_file(path);
            }
            return Err(LockError::new(format!(
                "could not write lock info for {:?}: {e}",
                info_path.display().to_string()
            )));
        }
        held.created = created;
        held.lock = Some((file, info.id.clone()));
        Ok(info.id)
    }

    fn busy(&self) -> LockError {
        let path = self.info_path();
        let holder = std::fs::read(&path).map(|text| LockInfo::from_json(&text));
        #[cfg(unix)]
        let busy = reason(&io::Error::from_raw_os_error(libc::EAGAIN));
        // ERROR_LOCK_VIOLATION
        #[cfg(not(unix))]
        let busy = reason(&io::Error::from_raw_os_error(33));
        match holder {
            Ok(holder) => LockError { reason: busy, holder, busy: true },
            // The holder writes its name after it has the lock, and removes it before it gives the lock back.
            Err(e) => LockError {
                reason: format!("2 errors occurred:\n\t* {busy}\n\t* {}\n\n", named(e, "open", &path)),
                holder: None,
                busy: true,
            },
        }
    }

    /// Finishes a write that was cut short.
    fn finish_write(&self, file: &mut File) -> io::Result<()> {
        let next = self.next_path();
        if !next.exists() {
            return Ok(());
        }
        let content = read_all(file).map_err(|e| named(e, "read", &self.paths.write))?;
        if let Some(snapshot) = unfinished(&next, &content) {
            tracing::warn!("finishing the interrupted write of {}", self.paths.write.display());
            overwrite(file, &snapshot).map_err(|e| named(e, "write", &self.paths.write))?;
        }
        std::fs::remove_file(&next).map_err(|e| named(e, "remove", &next))
    }

    fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let mut held = self.held();
        let Some((file, current)) = held.lock.take() else {
            return Err(StoreError::new("LocalState not locked"));
        };
        if current != id {
            let error = StoreError::new(format!("invalid lock id: {id:?}. current id: {current:?}"));
            held.lock = Some((file, current));
            return Err(error);
        }
        let info = self.info_path();
        let removed = match std::fs::remove_file(&info) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(named(e, "remove", &info)),
            _ => Ok(()),
        };
        if held.created && file.metadata().is_ok_and(|m| m.len() == 0) {
            let _ = std::fs::remove_file(&self.paths.write);
        }
        held.created = false;
        let unlocked = lock::unlock(&file).map_err(|e| named(e, "unlock", &self.paths.write));
        drop(file);
        Ok(removed.and(unlocked)?)
    }
}

impl OldContent {
    fn read(file: &mut File) -> io::Result<OldContent> {
        file.seek(SeekFrom::Start(0))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let length = io::copy(file, &mut encoder)?;
        Ok(OldContent { packed: encoder.finish()?, length })
    }

    fn content(&self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        GzDecoder::new(&*self.packed).read_to_end(&mut content)?;
        Ok(content)
    }
}

/// Writes a backup, which may be read by those who may read the state: it is as secret.
fn write_backup(backup: &Path, content: &[u8], state: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = state.metadata().map_err(|e| named(e, "stat", backup))?.permissions().mode() & 0o777;
        let is_other = |found: std::fs::Metadata| found.is_file() && found.permissions().mode() & 0o777 != mode;
        // Of a backup that is there, too: only then is what it holds written. That of another user can only be replaced.
        if std::fs::metadata(backup).is_ok_and(is_other)
            && std::fs::set_permissions(backup, std::fs::Permissions::from_mode(mode)).is_err()
        {
            std::fs::remove_file(backup).map_err(|e| named(e, "remove", backup))?;
        }
        atomic::write_with(backup, mode, |file| file.write_all(content))
    }
    #[cfg(not(unix))]
    {
        let _ = state;
        atomic::write(backup, content)
    }
}

/// Opens the state file for reading and writing; makes it, and its folder, if there is none.
fn open(path: &Path) -> io::Result<(File, bool)> {
    std::fs::create_dir_all(atomic::directory_of(path)).map_err(|e| named(e, "mkdir", path))?;
    let mut options = File::options();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Ok(file) => Ok((file, true)),
        Err(_) => Ok((options.open(path).map_err(|e| named(e, "open", path))?, false)),
    }
}

/// The snapshot beside the state file if the file is torn, or still holds an older state.
fn unfinished(next: &Path, content: &[u8]) -> Option<Vec<u8>> {
    let snapshot = std::fs::read(next).ok()?;
    let (our_lineage, our_serial) = identity(&snapshot)?;
    match identity(content) {
        // A later or a different state was written: the file beside it is obsolete.
        Some((lineage, serial)) if lineage != our_lineage || serial >= our_serial => None,
        _ => Some(snapshot),
    }
}

/// Removes the file beside the state, or at least what it holds: then it is ignored.
fn discard(next: &Path) {
    let removed = std::fs::remove_file(next);
    if removed.is_err_and(|e| e.kind() != io::ErrorKind::NotFound)
        && let Err(e) = File::options().write(true).truncate(true).open(next)
    {
        tracing::warn!("{}", named(e, "remove", next));
    }
}

/// Lineage and serial of a whole state, encrypted or not.
fn identity(content: &[u8]) -> Option<(String, u64)> {
    if let Ok(read) = file::read(content) {
        return read.map(|file| (file.meta.lineage, file.meta.serial));
    }
    let outside = encryption::is_sealed(content).then(|| encryption::outside(content).ok())??;
    Some((outside.lineage, outside.serial.and_then(|serial| u64::try_from(serial).ok()).unwrap_or(0)))
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// Whether the file has just this content: it is compared without a copy of it in memory.
fn holds(file: &mut File, content: &[u8]) -> io::Result<bool> {
    if file.metadata()?.len() != content.len() as u64 {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut part = vec![0; COMPARED_AT_ONCE];
    for expected in content.chunks(part.len()) {
        let part = &mut part[..expected.len()];
        file.read_exact(part)?;
        if part != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Overwrites the file so that after a crash it contains either a complete state or invalid JSON: its first
/// byte is written last, and is invalid until then.
fn overwrite(file: &mut File, content: &[u8]) -> io::Result<()> {
    let Some((first, rest)) = content.split_first() else { return file.set_len(0) };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&[0])?;
    file.sync_data()?;
    file.write_all(rest)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&[*first])?;
    file.sync_data()
}

/// As [`overwrite`], where what is written cannot be made durable: it is there for those who read the file now.
fn write_over(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(content)?;
    file.set_len(content.len() as u64)
}

/// Makes sure that there is room for so many bytes before any of the old ones is overwritten.
fn reserve(file: &File, length: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) } {
            0 | libc::EOPNOTSUPP | libc::EINVAL | libc::ENODEV => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (file, length);
        Ok(())
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
