//! Lists the files of a directory in the reference's order, with its rules for exclusions and symbolic links.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::error::ArchiveError;
use super::glob::Glob;
use crate::wording::io_text;

/// A file for the archive.
pub struct SourceFile<'a> {
    /// The name within the archive, with slashes.
    pub name: Vec<u8>,
    pub path: &'a Path,
    /// Of the file that symbolic links lead to.
    pub metadata: Metadata,
}

type Visit<'a> = dyn FnMut(SourceFile<'_>) -> Result<(), ArchiveError> + 'a;

/// How the walk continues after a file.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    /// Omit the later files of the same directory.
    SkipRest,
}

pub struct DirectoryWalk {
    excludes: Vec<Option<Glob>>,
    exclude_symlink_directories: bool,
}

impl DirectoryWalk {
    pub fn new(excludes: &[String], exclude_symlink_directories: bool) -> DirectoryWalk {
        let excludes =
            excludes.iter().filter(|pattern| !pattern.is_empty()).map(|pattern| Glob::parse(pattern).ok()).collect();
        DirectoryWalk { excludes, exclude_symlink_directories }
    }

    /// Visits the files of a directory, in the order of the bytes of their names, subdirectories included.
    pub fn run(&self, root: &str, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        let path = Path::new(root);
        let metadata = fs::symlink_metadata(path).map_err(|error| walk_error("lstat", path, &error))?;
        let mut run = Run { walk: self, open_links: Vec::new(), visit };
        run.visit_path(path, Path::new(""), metadata).map(drop)
    }

    /// A bad pattern is an error, unless a pattern before it matches.
    fn excludes(&self, name: &str) -> Result<bool, ArchiveError> {
        for pattern in &self.excludes {
            match pattern {
                Some(glob) if glob.matches(name) => return Ok(true),
                Some(_) => {}
                None => return Err(ArchiveError::Excludes),
            }
        }
        Ok(false)
    }
}

struct Run<'a, 'v> {
    walk: &'a DirectoryWalk,
    /// The directories that were entered by symbolic links, to find cycles.
    open_links: Vec<PathBuf>,
    visit: &'a mut Visit<'v>,
}

impl Run<'_, '_> {
    fn visit_path(&mut self, path: &Path, name: &Path, metadata: Metadata) -> Result<Flow, ArchiveError> {
        let archive_name = archive_name(name);
        let excluded = self.walk.excludes(&String::from_utf8_lossy(&archive_name))?;
        if metadata.is_dir() {
            return self.visit_directory(path, name, excluded);
        }
        if excluded {
            return Ok(Flow::Continue);
        }
        if !metadata.is_symlink() {
            (self.visit)(SourceFile { name: archive_name, path, metadata })?;
            return Ok(Flow::Continue);
        }
        let shown = path.to_string_lossy();
        let target = fs::canonicalize(path)
            .map_err(|error| ArchiveError::System(io_text("lstat", &target_text(path), &error)))?;
        let metadata = fs::metadata(&target).map_err(|error| ArchiveError::System(io_text("stat", &shown, &error)))?;
        if !metadata.is_dir() {
            (self.visit)(SourceFile { name: archive_name, path, metadata })?;
            return Ok(Flow::Continue);
        }
        if self.walk.exclude_symlink_directories {
            return Ok(Flow::SkipRest);
        }
        if self.open_links.contains(&target) {
            return Err(ArchiveError::Cycle(shown.into_owned()));
        }
        self.open_links.push(target.clone());
        self.visit_path(&target, name, metadata)?;
        self.open_links.pop();
        Ok(Flow::Continue)
    }

    fn visit_directory(&mut self, path: &Path, name: &Path, excluded: bool) -> Result<Flow, ArchiveError> {
        let failed = |error: std::io::Error| walk_error("open", path, &error);
        let entries = fs::read_dir(path).map_err(failed)?;
        if excluded {
            return Ok(Flow::Continue);
        }
        let mut children =
            entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        children.sort_unstable();
        for child in children {
            let child_path = path.join(&child);
            let metadata =
                fs::symlink_metadata(&child_path).map_err(|error| walk_error("lstat", &child_path, &error))?;
            if self.visit_path(&child_path, &name.join(&child), metadata)? == Flow::SkipRest {
                break;
            }
        }
        Ok(Flow::Continue)
    }
}

/// The target of a symbolic link.
fn target_text(link: &Path) -> String {
    let target = fs::read_link(link).unwrap_or_default();
    link.parent().unwrap_or(Path::new("")).join(target).to_string_lossy().into_owned()
}

fn walk_error(verb: &str, path: &Path, error: &std::io::Error) -> ArchiveError {
    ArchiveError::Walk(io_text(verb, &path.to_string_lossy(), error))
}

/// The root itself has the name `.`.
fn archive_name(name: &Path) -> Vec<u8> {
    if name.as_os_str().is_empty() { b".".to_vec() } else { path_bytes(name) }
}

/// The bytes of a path with slashes.
#[cfg(unix)]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

/// The bytes of a path with slashes.
#[cfg(not(unix))]
pub fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// The shortest form of a path with slashes, by its text alone.
pub fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}
