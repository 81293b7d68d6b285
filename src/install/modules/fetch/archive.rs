//! Unpacking what came: every kind of archive, into a folder that nothing in it can leave.
//!
//! Links are created last and checked; actual sizes and counts are limited, not only those that the archive declares.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};

use base::files::named;

use super::FetchError;
use crate::package::names::Names;

/// How much an archive may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleLimits {
    /// Unpacked; also how much is downloaded.
    pub bytes: u64,
    pub entries: usize,
}

impl Default for ModuleLimits {
    fn default() -> ModuleLimits {
        ModuleLimits { bytes: 2 << 30, entries: 200_000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Zip,
    Tar(Compression),
    /// One file, packed: never a folder.
    Single(Compression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// Names of kinds, as parameters and at the end of file names.
const KINDS: &[(&str, ArchiveKind)] = &[
    ("zip", ArchiveKind::Zip),
    ("tar", ArchiveKind::Tar(Compression::None)),
    ("tar.gz", ArchiveKind::Tar(Compression::Gzip)),
    ("tgz", ArchiveKind::Tar(Compression::Gzip)),
    ("tar.bz2", ArchiveKind::Tar(Compression::Bzip2)),
    ("tbz2", ArchiveKind::Tar(Compression::Bzip2)),
    ("tar.tbz2", ArchiveKind::Tar(Compression::Bzip2)),
    ("tar.xz", ArchiveKind::Tar(Compression::Xz)),
    ("txz", ArchiveKind::Tar(Compression::Xz)),
    ("tar.zst", ArchiveKind::Tar(Compression::Zstd)),
    ("tzst", ArchiveKind::Tar(Compression::Zstd)),
    ("gz", ArchiveKind::Single(Compression::Gzip)),
    ("bz2", ArchiveKind::Single(Compression::Bzip2)),
    ("xz", ArchiveKind::Single(Compression::Xz)),
    ("zst", ArchiveKind::Single(Compression::Zstd)),
];

impl ArchiveKind {
    /// By the parameter if there is one (which may say that it is none), else by the end of the URL.
    pub fn of(parameter: Option<String>, url: &str) -> Option<ArchiveKind> {
        if let Some(name) = parameter {
            return KINDS.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind);
        }
        let fits = KINDS.iter().filter(|(n, _)| url.strip_suffix(n).is_some_and(|rest| rest.ends_with('.')));
        fits.max_by_key(|(n, _)| n.len()).map(|(_, kind)| *kind)
    }
}

/// Unpacks an archive to a folder that does not exist yet.
pub fn unpack(kind: ArchiveKind, file: &Path, target: &Path, limits: ModuleLimits) -> Result<(), FetchError> {
    fs::create_dir_all(target).map_err(|e| named(e, "create", target))?;
    let open = || File::open(file).map_err(|e| named(e, "open", file));
    let mut folder = Folder {
        root: target,
        limits,
        entries: 0,
        left: limits.bytes,
        links: BTreeMap::new(),
        names: Names::default(),
    };
    match kind {
        ArchiveKind::Zip => unpack_zip(open()?, &mut folder)?,
        ArchiveKind::Tar(compression) => unpack_tar(decompress(compression, open()?)?, &mut folder)?,
        ArchiveKind::Single(compression) => {
            let name = match compression {
                Compression::Gzip => "gzip",
                Compression::Bzip2 => "bzip2",
                Compression::Xz => "xz",
                Compression::Zstd => "zstd",
                Compression::None => "un",
            };
            return Err(FetchError::new(format!("{name}-compressed files can only unarchive to a single file")));
        }
    }
    folder.make_links()
}

fn decompress(compression: Compression, file: File) -> Result<Box<dyn Read>, FetchError> {
    let reader = BufReader::with_capacity(128 * 1024, file);
    Ok(match compression {
        Compression::None => Box::new(reader),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
        Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(reader)),
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(reader, true, 512 * 1024)),
        Compression::Zstd => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(reader);
            Box::new(decoder.map_err(|e| FetchError::new(format!("Error opening a zstd reader: {e}")))?)
        }
    })
}

fn unpack_zip(file: File, folder: &mut Folder<'_>) -> Result<(), FetchError> {
    let bad = |e: zip::result::ZipError| FetchError::new(format!("zip: {e}"));
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(bad)?;
    if archive.has_duplicate_names() {
        return Err(FetchError::new("bad archive: it has two entries of the same name"));
    }
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(bad)?;
        let name = entry.name().map_err(bad)?.to_string();
        let Some(place) = folder.entry_path(Path::new(&name))? else { continue };
        folder.name(&place, entry.is_dir())?;
        if entry.is_dir() {
            folder.directory(&place)?;
        } else if entry.is_symlink() {
            let mut leads = String::new();
            (&mut entry).take(4096).read_to_string(&mut leads).map_err(|e| FetchError::new(format!("{name}: {e}")))?;
            folder.link(place, PathBuf::from(leads));
        } else {
            let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            folder.file(&place, executable, &mut entry)?;
        }
    }
    Ok(())
}

fn unpack_tar(reader: Box<dyn Read>, folder: &mut Folder<'_>) -> Result<(), FetchError> {
    // Headers and padding count too, so that no stream is read without end.
    let most = folder.limits.bytes.saturating_add(folder.limits.entries as u64 * 1024);
    let mut archive = tar::Archive::new(reader.take(most));
    let bad = |e: io::Error| FetchError::new(format!("tar: {e}"));
    let mut empty = true;
    for entry in archive.entries().map_err(bad)? {
        let mut entry = entry.map_err(bad)?;
        empty = false;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let name = entry.path().map_err(bad)?.into_owned();
        let leads = entry.link_name().map_err(bad)?.map(|path| path.into_owned());
        let Some(place) = folder.entry_path(&name)? else { continue };
        folder.name(&place, kind == tar::EntryType::Directory)?;
        match (kind, leads) {
            (tar::EntryType::Directory, _) => folder.directory(&place)?,
            (tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse, _) => {
                let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
                folder.file(&place, executable, &mut entry)?;
            }
            (tar::EntryType::Symlink, Some(leads)) => folder.link(place, leads),
            (tar::EntryType::Link, Some(leads)) => folder.copy(&place, &leads)?,
            _ => return Err(FetchError::new(format!("{} is neither a file, a folder nor a link", name.display()))),
        }
    }
    if empty { Err(FetchError::new(format!("empty archive: {}", folder.root.display()))) } else { Ok(()) }
}

/// A folder that is being filled.
struct Folder<'a> {
    root: &'a Path,
    limits: ModuleLimits,
    entries: usize,
    left: u64,
    /// Made when everything else is there, so that nothing is written through them.
    links: BTreeMap<PathBuf, PathBuf>,
    names: Names,
}

impl Folder<'_> {
    /// An entry's path below the folder; None for the folder itself.
    fn entry_path(&mut self, name: &Path) -> Result<Option<PathBuf>, FetchError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(FetchError::new(format!("the archive has more than {} entries", self.limits.entries)));
        }
        let mut place = PathBuf::new();
        for component in name.components() {
            match component {
                Component::Normal(part) => place.push(part),
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(FetchError::new(format!("entry contains '..': {}", name.display())));
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(FetchError::new(format!("entry is an absolute path: {}", name.display())));
                }
            }
        }
        Ok(Some(place).filter(|place| !place.as_os_str().is_empty()))
    }

    /// No two entries may be one file, on any system: which of them counts is not for an archive to leave open.
    fn name(&mut self, place: &Path, is_dir: bool) -> Result<(), FetchError> {
        self.names.add(place, is_dir).map_err(|why| FetchError::new(format!("bad archive: {why}")))
    }

    fn directory(&self, place: &Path) -> Result<(), FetchError> {
        let path = self.root.join(place);
        Ok(fs::create_dir_all(&path).map_err(|e| named(e, "create", &path))?)
    }

    fn file(&mut self, place: &Path, executable: bool, content: &mut dyn Read) -> Result<(), FetchError> {
        let path = self.root.join(place);
        self.directory(place.parent().unwrap_or(Path::new("")))?;
        let mut out = File::create(&path).map_err(|e| named(e, "create", &path))?;
        let mut content = content.take(self.left.saturating_add(1));
        let copied = io::copy(&mut content, &mut out).map_err(|e| named(e, "write", &path))?;
        let Some(left) = self.left.checked_sub(copied) else {
            let mib = self.limits.bytes >> 20;
            return Err(FetchError::new(format!(
                "the archive holds more than {mib} MiB (see TERRANE_MODULE_SIZE_LIMIT)"
            )));
        };
        self.left = left;
        out.flush().map_err(|e| named(e, "write", &path))?;
        if executable { make_executable(&out, &path) } else { Ok(()) }
    }

    fn link(&mut self, place: PathBuf, leads: PathBuf) {
        self.links.insert(place, leads);
    }

    /// A second name of a file that came before.
    fn copy(&mut self, place: &Path, of: &Path) -> Result<(), FetchError> {
        let Some(of) = self.entry_path(of)? else { return Err(FetchError::new("a link to the archive itself")) };
        let from = self.root.join(&of);
        let mut content = File::open(&from).map_err(|e| named(e, "open", &from))?;
        self.file(place, false, &mut content)
    }

    /// Links may lead to what is in the folder, and nowhere else; those that lead to nothing are left out.
    fn make_links(self) -> Result<(), FetchError> {
        let root = self.root.canonicalize().map_err(|e| named(e, "find", self.root))?;
        for (place, leads) in &self.links {
            let outside =
                || FetchError::new(format!("{} is a link that leads outside of the package", place.display()));
            if leads.is_absolute() {
                return Err(outside());
            }
            let mut depth = place.components().count() as i64 - 1;
            for component in leads.components() {
                depth += if component == Component::ParentDir { -1 } else { i64::from(component != Component::CurDir) };
                if depth < 0 {
                    return Err(outside());
                }
            }
            let path = self.root.join(place);
            self.directory(place.parent().unwrap_or(Path::new("")))?;
            symlink(leads, &path).map_err(|e| named(e, "create", &path))?;
        }
        // Only now is it known where chains of them lead.
        for place in self.links.keys() {
            let path = self.root.join(place);
            match path.canonicalize() {
                Ok(real) if real.starts_with(&root) => {}
                Ok(_) => {
                    return Err(FetchError::new(format!(
                        "{} is a link that leads outside of the package",
                        place.display()
                    )));
                }
                Err(_) => fs::remove_file(&path).map_err(|e| named(e, "remove", &path))?,
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn symlink(leads: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads, at)
}

#[cfg(not(unix))]
fn symlink(_leads: &Path, _at: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Adds execute permission for everyone with read permission.
#[cfg(unix)]
fn make_executable(file: &File, path: &Path) -> Result<(), FetchError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().map_err(|e| named(e, "stat", path))?.permissions().mode() & 0o777;
    let runs = fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2));
    Ok(file.set_permissions(runs).map_err(|e| named(e, "change the mode of", path))?)
}

#[cfg(not(unix))]
fn make_executable(_file: &File, _path: &Path) -> Result<(), FetchError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Entry<'a> {
        File(&'a str, &'a [u8]),
        Link(&'a str, &'a str),
    }
    use Entry::{File as F, Link as L};

    /// A tar with names that its library would refuse to write.
    fn tar_of(entries: &[Entry<'_>]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for entry in entries {
            let mut header = tar::Header::new_gnu();
            let (name, content, link) = match entry {
                F(name, content) => (name, *content, None),
                L(name, leads) => (name, &[][..], Some(leads)),
            };
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            if let Some(leads) = link {
                header.set_entry_type(tar::EntryType::Symlink);
                header.as_mut_bytes()[157..157 + leads.len()].copy_from_slice(leads.as_bytes());
            }
            header.set_mode(0o755);
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn try_unpack(entries: &[Entry<'_>], limits: ModuleLimits) -> (tempfile::TempDir, Result<(), FetchError>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.tar");
        fs::write(&file, tar_of(entries)).unwrap();
        let result = unpack(ArchiveKind::Tar(Compression::None), &file, &dir.path().join("out/package"), limits);
        (dir, result)
    }

    #[test]
    fn nothing_leaves_the_folder() {
        let bad: &[&[Entry<'_>]] = &[
            &[F("../evil", b"x")],
            &[F("a/../../evil", b"x")],
            &[F("/tmp/evil", b"x")],
            &[L("a", "/etc/passwd")],
            &[L("a", "../evil")],
            &[L("d/a", "../../evil")],
            // Each link stays inside as written; together they do not.
            &[F("d/e/f", b""), L("d/e/up", "../.."), L("out", "d/e/up/..")],
            // Written through a link.
            &[L("a", "b"), F("a/evil", b"x"), F("b/c", b"")],
        ];
        for (i, entries) in bad.iter().enumerate() {
            let (dir, result) = try_unpack(entries, ModuleLimits::default());
            assert!(result.is_err(), "case {i}");
            assert!(!dir.path().join("out/evil").exists() && !dir.path().join("evil").exists());
        }
    }

    #[test]
    fn links_and_modes_inside_are_kept() {
        let (dir, result) = try_unpack(
            &[F("d/run", b"#!"), L("l", "d/run"), L("d/back", ".."), L("gone", "nowhere")],
            ModuleLimits::default(),
        );
        assert_eq!(result, Ok(()));
        let out = dir.path().join("out/package");
        assert_eq!(fs::read(out.join("l")).unwrap(), b"#!");
        assert!(fs::symlink_metadata(out.join("gone")).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(out.join("d/run")).unwrap().permissions().mode();
            assert_eq!((mode & 0o100, mode & 0o022), (0o100, 0));
        }
    }

    #[test]
    fn names_are_there_once() {
        let bad: &[(&[Entry<'_>], &str)] = &[
            (&[F("a.tf", b"1"), F("a.tf", b"2")], "two entries for \"a.tf\""),
            (&[F("a.tf", b"1"), F("./a.tf", b"2")], "two entries for \"a.tf\""),
            (&[F("a.tf", b"1"), F("A.tf", b"2")], "\"a.tf\" and \"A.tf\" are one name on some systems"),
            (&[F("d/a", b"1"), F("D/b", b"2")], "\"d\" and \"D\" are one name on some systems"),
            (&[F("d", b"1"), F("d/b", b"2")], "\"d\" is a file and a folder"),
            (&[F("a", b"1"), L("a", "b"), F("b", b"")], "two entries for \"a\""),
            (&[L("a", "b"), L("a", "c"), F("b", b"")], "two entries for \"a\""),
        ];
        for (entries, expected) in bad {
            let (_, result) = try_unpack(entries, ModuleLimits::default());
            let error = result.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let (_, result) = try_unpack(&[F("d/a", b"1"), F("d/b", b"2"), F("e/a", b"3")], ModuleLimits::default());
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn bombs_are_refused() {
        let large = vec![0; 2000];
        let (_, result) = try_unpack(&[F("a", &large)], ModuleLimits { bytes: 1999, entries: 5 });
        assert!(result.unwrap_err().to_string().contains("holds more than"));
        let many: Vec<Entry<'_>> = ["a", "b", "c"].iter().map(|n| F(n, b"")).collect();
        let (_, result) = try_unpack(&many, ModuleLimits { bytes: 1999, entries: 2 });
        assert!(result.unwrap_err().to_string().contains("more than 2 entries"));
    }

    #[test]
    fn kinds_by_name() {
        let kind = |parameter: Option<&str>, url: &str| ArchiveKind::of(parameter.map(str::to_owned), url);
        assert_eq!(kind(None, "https://h/a.tar.gz"), Some(ArchiveKind::Tar(Compression::Gzip)));
        assert_eq!(kind(None, "https://h/a.gz"), Some(ArchiveKind::Single(Compression::Gzip)));
        assert_eq!(kind(Some("zip"), "https://h/a"), Some(ArchiveKind::Zip));
        assert_eq!(kind(Some("false"), "https://h/a.zip"), None);
        assert_eq!(kind(None, "https://h/zip"), None);
    }
}
