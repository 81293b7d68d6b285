//! What is in an archive, looked at before anything is written: names, kinds and sizes, each held to the rules for packages.
//!
//! Owns the rules. Never writes, and never inflates: what entries hold is [`super::archive`]'s business.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};

use base::env::{self, Environment};
use base::files::named;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::PackageError;
use super::names::Names;

/// How much an archive may hold. The largest providers known unpack to 0.7 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of all files, unpacked.
    pub bytes: u64,
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 4 << 30, entries: 100_000 }
    }
}

impl Limits {
    /// With the user's wish for the size, in MiB; one that is no number counts as none.
    pub fn of(environment: &Environment) -> Limits {
        let mib = environment.non_empty(env::TERRANE_PROVIDER_SIZE_LIMIT).and_then(|text| text.parse::<u64>().ok());
        Limits { bytes: mib.map_or(Limits::default().bytes, |mib| mib.saturating_mul(1 << 20)), ..Limits::default() }
    }
}

/// Above this size what is unpacked must not be too many times the archive: no program packs that well.
const SUSPICIOUS_SIZE: u64 = 1 << 30;
const SUSPICIOUS_RATIO: u64 = 200;

/// Names longer than this are of no use to any system.
const LONGEST_NAME: usize = 4096;

/// One file or folder of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its place in the archive's list.
    pub index: usize,
    /// As the archive has it.
    pub name: String,
    /// Below the package's folder: parts that are names, nothing else.
    pub path: PathBuf,
    pub is_dir: bool,
    pub is_link: bool,
    /// Whether any user may run it.
    pub runs: bool,
    pub size: u64,
}

/// An archive that is open, and what it holds.
pub(super) struct Contents {
    pub zip: ZipArchive<BufReader<File>>,
    pub entries: Vec<Entry>,
}

impl Contents {
    /// Opens an archive and checks everything that can be known without unpacking it.
    pub fn open(archive: &Path, limits: &Limits) -> Result<Contents, PackageError> {
        let file = File::open(archive).map_err(|e| named(e, "open", archive))?;
        let packed = file.metadata().map_err(|e| named(e, "stat", archive))?.len();
        let zip = ZipArchive::new(BufReader::with_capacity(128 * 1024, file)).map_err(reason);
        zip.and_then(|zip| list(zip, packed, limits)).map_err(|why| PackageError::bad_archive(archive, why))
    }
}

fn list(mut zip: ZipArchive<BufReader<File>>, packed: u64, limits: &Limits) -> Result<Contents, String> {
    if zip.is_empty() {
        return Err("empty archive".to_owned());
    }
    if zip.len() > limits.entries {
        return Err(format!("it has {} entries, and may have {}", zip.len(), limits.entries));
    }
    if zip.has_duplicate_names() {
        return Err("it has two entries of the same name".to_owned());
    }
    let mut entries = Vec::with_capacity(zip.len());
    let mut names = Names::default();
    for index in 0..zip.len() {
        let entry = read_entry(&mut zip, index)?;
        names.add(&entry.path, entry.is_dir).map_err(|conflict| conflict.to_string())?;
        entries.push(entry);
    }
    let total = entries.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.size));
    if total > limits.bytes {
        return Err(format!(
            "it holds {} MiB, and may hold {} MiB (see {})",
            total.div_ceil(1 << 20),
            limits.bytes >> 20,
            env::TERRANE_PROVIDER_SIZE_LIMIT
        ));
    }
    if total > SUSPICIOUS_SIZE && total / SUSPICIOUS_RATIO > packed {
        return Err(format!("its {packed} bytes would unpack to {total}, which no package of programs does"));
    }
    Ok(Contents { zip, entries })
}

fn read_entry(zip: &mut ZipArchive<BufReader<File>>, index: usize) -> Result<Entry, String> {
    const KIND: u32 = 0o170_000;
    const LINK: u32 = 0o120_000;
    let entry = zip.by_index_raw(index).map_err(reason)?;
    let raw = entry.name_raw();
    let Ok(name) = std::str::from_utf8(raw) else {
        return Err(format!("the name of the entry {:?} is not UTF-8", String::from_utf8_lossy(raw)));
    };
    let path = path_of(name)?;
    let mode = entry.unix_mode().unwrap_or(0);
    let is_dir = name.ends_with('/') || mode & KIND == 0o040_000;
    match mode & KIND {
        0 | 0o100_000 | 0o040_000 | LINK => {}
        _ => return Err(format!("the entry {name:?} is neither a file nor a folder")),
    }
    if !is_dir {
        if entry.encrypted() {
            return Err(format!("the entry {name:?} is encrypted"));
        }
        if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            let method = entry.compression();
            return Err(format!("the entry {name:?}: zip: unsupported compression algorithm {method}"));
        }
        if path.as_os_str().is_empty() {
            return Err(format!("the entry {name:?} has no name"));
        }
    }
    let is_link = !is_dir && mode & KIND == LINK;
    let runs = mode & 0o111 != 0 && !is_link;
    let size = if is_dir { 0 } else { entry.size() };
    let read = Entry { index, name: name.to_owned(), path, is_dir, is_link, runs, size };
    drop(entry);
    if is_link {
        check_link(zip, &read)?;
    }
    Ok(read)
}

/// A link is unpacked as a file with its target: links are never created. One that leads out of the package is
/// still refused, because it has no legitimate use.
fn check_link(zip: &mut ZipArchive<BufReader<File>>, entry: &Entry) -> Result<(), String> {
    let name = &entry.name;
    let mut leads = Vec::new();
    let content = zip.by_index(entry.index).map_err(reason)?;
    content.take(LONGEST_NAME as u64).read_to_end(&mut leads).map_err(|e| unreadable(&e))?;
    let leads = String::from_utf8_lossy(&leads);
    let mut depth = entry.path.components().count().saturating_sub(1);
    for component in Path::new(&*leads).components() {
        let deeper = match component {
            Component::Normal(_) => depth.checked_add(1),
            Component::CurDir => Some(depth),
            Component::ParentDir => depth.checked_sub(1),
            Component::RootDir | Component::Prefix(_) => None,
        };
        depth = deeper.ok_or_else(|| format!("the entry {name:?} is a link that leads out of the package"))?;
    }
    Ok(())
}

/// Where an entry goes, below the package's folder; empty for that folder itself.
fn path_of(name: &str) -> Result<PathBuf, String> {
    if name.len() > LONGEST_NAME {
        return Err(format!("the name of an entry has {} bytes", name.len()));
    }
    if name.contains(['\0', '\n']) {
        // Checksums of packages are made of lines, one for each name.
        return Err(format!("the entry {name:?} has a name that cannot be a file's"));
    }
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return Err(format!("entry contains '..': {}", name.escape_debug())),
            Component::RootDir | Component::Prefix(_) => return Err(format!("the entry {name:?} is an absolute path")),
        }
    }
    Ok(path)
}

/// Why an archive or an entry of it cannot be read.
pub(super) fn reason(error: ZipError) -> String {
    match error {
        ZipError::Io(e) => unreadable(&e),
        ZipError::InvalidArchive(why) => format!("zip: not a valid zip file: {why}"),
        ZipError::UnsupportedArchive(why) => format!("zip: not a supported zip file: {why}"),
        other => format!("zip: not a supported zip file: {other}"),
    }
}

/// Why the bytes of an archive cannot be read. Those that make no sense are the archive's fault, not the disk's.
pub(super) fn unreadable(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData if error.to_string() == "Invalid checksum" => "zip: checksum error".to_owned(),
        UnexpectedEof => "zip: not a valid zip file: it ends too early".to_owned(),
        InvalidData | InvalidInput => format!("zip: not a valid zip file: {error}"),
        _ => base::files::reason(error),
    }
}
