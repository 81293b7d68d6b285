//! Reading files: from disk, from memory, or from memory above the disk.
//!
//! Owns the trait through which the language and the model read, and how an I/O error is worded: always with the path
//! it concerns. Never writes to disk (that is [`super::atomic`]).

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::{fmt, io};

use super::dialect::Dialect;

/// Something to read files from. Paths are relative to the working directory or absolute; every error names its path.
pub trait Files: Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What is at the path, links followed.
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;

    /// The entries of a directory, sorted by the bytes of their names; without `.` and `..`.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;

    /// The content as text; not UTF-8 is an error of kind `InvalidData`.
    fn read_to_string(&self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| named(io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-8"), "read", path))
    }

    fn exists(&self, path: &Path) -> bool {
        self.metadata(path).is_ok()
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|m| m.kind == FileKind::Directory)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.metadata(path).is_ok_and(|m| m.kind == FileKind::File)
    }
}

/// Files that configurations are read from, as the program of a dialect reads them.
pub trait ConfigFiles: Files {
    fn dialect(&self) -> Dialect;
}

/// Other files, whose configurations are written in a dialect.
#[derive(Clone, Copy, Debug)]
pub struct WrittenIn<F>(pub Dialect, pub F);

impl<F: Files> Files for WrittenIn<F> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.1.read(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.1.metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.1.list(path)
    }
}

impl<F: Files> ConfigFiles for WrittenIn<F> {
    fn dialect(&self) -> Dialect {
        self.0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// Devices, pipes, sockets.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub kind: FileKind,
    /// Bytes of a file.
    pub len: u64,
}

/// One entry of a directory; a link counts as what it leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub is_dir: bool,
}

/// The file system of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

/// The empty path is the current folder.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        DiskIn(Path::new("")).read(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        DiskIn(Path::new("")).metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        DiskIn(Path::new("")).list(path)
    }
}

/// The file system of the machine as a process in this folder sees it: relative paths start there, and errors name them as they
/// were given. Empty: the folder of the process.
#[derive(Clone, Copy, Debug)]
pub struct DiskIn<'a>(pub &'a Path);

impl Files for DiskIn<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(self.0.join(path)).map_err(|e| named(e, "open", path))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let metadata = std::fs::metadata(here(&self.0.join(path))).map_err(|e| named(e, "stat", path))?;
        let kind = match () {
            () if metadata.is_dir() => FileKind::Directory,
            () if metadata.is_file() => FileKind::File,
            () => FileKind::Other,
        };
        Ok(Metadata { kind, len: metadata.len() })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(here(&self.0.join(path))).map_err(|e| named(e, "open", path))? {
            let entry = entry.map_err(|e| named(e, "readdirent", path))?;
            let is_dir = match entry.file_type() {
                Ok(t) if t.is_symlink() => std::fs::metadata(entry.path()).is_ok_and(|m| m.is_dir()),
                Ok(t) => t.is_dir(),
                Err(_) => false,
            };
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), is_dir });
        }
        entries.sort();
        Ok(entries)
    }
}

/// Files in memory. Directories exist by having something in them; `.` and `..` in paths are resolved lexically.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Arc<RwLock<BTreeMap<PathBuf, Arc<[u8]>>>>,
}

impl Memory {
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Files given as (path, content).
    pub fn of<P: AsRef<Path>, C: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, C)>) -> Memory {
        let memory = Memory::new();
        for (path, content) in files {
            memory.insert(path, content);
        }
        memory
    }

    pub fn insert(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let mut files = self.files.write().unwrap_or_else(|e| e.into_inner());
        files.insert(normal(path.as_ref()), Arc::from(content.as_ref()));
    }

    pub fn remove(&self, path: impl AsRef<Path>) {
        self.files.write().unwrap_or_else(|e| e.into_inner()).remove(&normal(path.as_ref()));
    }

    fn get(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.read().unwrap_or_else(|e| e.into_inner()).get(&normal(path)).cloned()
    }

    /// The entries below a directory, or None if there is no such directory.
    fn entries(&self, directory: &Path) -> Option<Vec<Entry>> {
        let directory = normal(directory);
        let files = self.files.read().unwrap_or_else(|e| e.into_inner());
        let mut entries: BTreeMap<String, bool> = BTreeMap::new();
        for path in files.keys() {
            let Ok(rest) = path.strip_prefix(&directory) else { continue };
            let mut parts = rest.components();
            if let Some(first @ Component::Normal(_)) = parts.next() {
                let name = first.as_os_str().to_string_lossy().into_owned();
                *entries.entry(name).or_default() |= parts.next().is_some();
            }
        }
        if entries.is_empty() && !directory.as_os_str().is_empty() {
            return None;
        }
        Some(entries.into_iter().map(|(name, is_dir)| Entry { name, is_dir }).collect())
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.get(path) {
            Some(content) => Ok(content.to_vec()),
            None if self.entries(path).is_some() => Err(named(io::ErrorKind::IsADirectory.into(), "read", path)),
            None => Err(missing("open", path)),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        match self.get(path) {
            Some(content) => Ok(Metadata { kind: FileKind::File, len: content.len() as u64 }),
            None if self.entries(path).is_some() => Ok(Metadata { kind: FileKind::Directory, len: 0 }),
            None => Err(missing("stat", path)),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.entries(path).ok_or_else(|| missing("open", path))
    }
}

/// Terrane's own, unless [`WrittenIn`] another.
impl ConfigFiles for Memory {
    fn dialect(&self) -> Dialect {
        Dialect::default()
    }
}

/// Files in memory above other files.
#[derive(Clone)]
pub struct Overlay {
    upper: Memory,
    lower: Arc<dyn ConfigFiles>,
    masks: bool,
}

impl Overlay {
    /// Directories show the entries of both.
    pub fn merging(upper: Memory, lower: Arc<dyn ConfigFiles>) -> Overlay {
        Overlay { upper, lower, masks: false }
    }

    /// A directory that the upper files have shows theirs only, so that files which appeared below since a snapshot
    /// stay unseen; a file that is named and not in the snapshot is still read from below.
    pub fn masking(upper: Memory, lower: Arc<dyn ConfigFiles>) -> Overlay {
        Overlay { upper, lower, masks: true }
    }
}

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.upper.get(path) {
            Some(content) => Ok(content.to_vec()),
            None => self.lower.read(path),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.upper.metadata(path).or_else(|_| self.lower.metadata(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let upper = self.upper.entries(path).filter(|entries| !entries.is_empty());
        match upper {
            Some(entries) if self.masks => Ok(entries),
            Some(upper) => {
                let mut entries: BTreeMap<String, bool> =
                    self.lower.list(path).unwrap_or_default().into_iter().map(|e| (e.name, e.is_dir)).collect();
                entries.extend(upper.into_iter().map(|e| (e.name, e.is_dir)));
                Ok(entries.into_iter().map(|(name, is_dir)| Entry { name, is_dir }).collect())
            }
            None => self.lower.list(path),
        }
    }
}

impl ConfigFiles for Overlay {
    fn dialect(&self) -> Dialect {
        self.lower.dialect()
    }
}

/// The text of a path with slashes on every system, as the language has it.
pub fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

/// Without `.`, and without `..` wherever something precedes it.
pub fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::RootDir)) => {}
            other => result.push(other),
        }
    }
    result
}

/// An I/O error that says what was tried on which path: `open a/b: no such file or directory`.
#[derive(Debug)]
struct PathError {
    verb: &'static str,
    path: PathBuf,
    cause: io::Error,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.verb, self.path.display(), reason(&self.cause))
    }
}

impl std::error::Error for PathError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// The same error with what was tried and the path in front; an error that has a path already stays as it is.
pub fn named(error: io::Error, verb: &'static str, path: &Path) -> io::Error {
    if error.get_ref().is_some_and(|inner| inner.is::<PathError>()) {
        return error;
    }
    io::Error::new(error.kind(), PathError { verb, path: path.to_path_buf(), cause: error })
}

/// Why, without the path: `permission denied`. The wording is the one that users of the field know.
pub fn reason(error: &io::Error) -> String {
    if let Some(inner) = error.get_ref() {
        return match inner.downcast_ref::<PathError>() {
            Some(named) => reason(&named.cause),
            None => match inner.to_string() {
                text if text.contains(OS_ERROR) => without_number(&text),
                text => text,
            },
        };
    }
    without_number(&error.to_string())
}

const OS_ERROR: &str = " (os error";

/// An error of the system without its number.
fn without_number(text: &str) -> String {
    // Windows ends its sentences with a stop, which the message around this one has too.
    let text = text.split(OS_ERROR).next().unwrap_or(text).trim_end_matches('.');
    // What the C library writes with a capital, the field writes without: "Permission denied".
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !text.starts_with("RPC") => first.to_lowercase().chain(letters).collect(),
        _ => text.to_string(),
    }
}

fn missing(verb: &'static str, path: &Path) -> io::Error {
    // ENOENT on Unix, ERROR_FILE_NOT_FOUND on Windows.
    named(io::Error::from_raw_os_error(2), verb, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: io::Result<Vec<Entry>>) -> String {
        let entries = entries.unwrap();
        let names: Vec<_> = entries.iter().map(|e| format!("{}{}", e.name, if e.is_dir { "/" } else { "" })).collect();
        names.join(" ")
    }

    #[test]
    fn the_empty_path_is_the_current_folder() {
        assert_eq!(Disk.metadata(Path::new("")).unwrap().kind, FileKind::Directory);
    }

    #[test]
    fn errors_name_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        let gone_reason = reason(&std::fs::read(&gone).unwrap_err());
        let expected = format!("open {}: {gone_reason}", gone.display());
        assert_eq!(Disk.read(&gone).unwrap_err().to_string(), expected);
        assert_eq!(Memory::new().read(&gone).unwrap_err().to_string(), expected);
        assert_eq!(reason(&Disk.read(&gone).unwrap_err()), gone_reason);
        if cfg!(unix) {
            assert_eq!(gone_reason, "no such file or directory");
        }
        assert_eq!(Disk.read(&gone).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn memory_knows_directories_by_their_files() {
        let files = Memory::of([("m/a.tf", "1"), ("./m/x/b.tf", "2"), ("top", "3")]);
        assert_eq!(names(files.list(Path::new("m"))), "a.tf x/");
        assert_eq!(names(files.list(Path::new("."))), "m/ top");
        assert_eq!(files.read_to_string(Path::new("m/x/../a.tf")).unwrap(), "1");
        assert!(files.is_dir(Path::new("m/x")) && !files.exists(Path::new("m/y")));
    }

    #[test]
    fn overlays_merge_or_mask() {
        let lower = Arc::new(Memory::of([("m/a", "old"), ("m/late", "late"), ("n/z", "z")]));
        let upper = Memory::of([("m/a", "new"), ("m/b", "b")]);
        let merging = Overlay::merging(upper.clone(), lower.clone());
        assert_eq!(names(merging.list(Path::new("m"))), "a b late");
        let masking = Overlay::masking(upper, lower);
        assert_eq!(names(masking.list(Path::new("m"))), "a b");
        assert_eq!(masking.read(Path::new("m/a")).unwrap(), b"new");
        assert_eq!(masking.read(Path::new("n/z")).unwrap(), b"z");
    }

    #[test]
    fn disk_lists_sorted() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b", "a", "C"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("ab")).unwrap();
        assert_eq!(names(Disk.list(dir.path())), "C a ab/ b");
    }
}
