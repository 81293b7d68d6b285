//! `archive_file`: archives of files or given content, byte for byte as the reference writes them.
//!
//! `create` does the work; the data source and the resource call it in every read. Below it: the files of a directory
//! (`walk`, `glob`), the container (`writer`, `zip`, `tar`, `mode`) and the checksums of the result.
//!
//! Only `provider` knows schemas; the rest never does.

mod checksums;
mod error;
mod glob;
mod mode;
mod portions;
pub mod provider;
mod tar;
#[cfg(test)]
mod tests;
mod walk;
mod writer;
mod zip;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

pub use checksums::Output;
use error::ArchiveError;
use walk::{DirectoryWalk, path_bytes};
use writer::ArchiveWriter;

use super::failure::Failure;
use crate::wording::{io_text, reason};

/// Attributes of which at least one is required.
pub const SOURCES: [&str; 4] = ["source", "source_content_filename", "source_file", "source_dir"];

/// Attributes that conflict: each with the attributes that it excludes.
pub const CONFLICTS: [(&str, &[&str]); 6] = [
    ("source_content", &["source_file", "source_dir"]),
    ("source_content_filename", &["source_file", "source_dir"]),
    ("source_dir", &["source_file", "source_content", "source_content_filename"]),
    ("source_file", &["source_dir", "source_content", "source_content_filename"]),
    ("excludes", &["source_file", "source_content", "source_content_filename"]),
    ("source", &["source_file", "source_dir", "source_content", "source_content_filename"]),
];

/// The arguments that determine the archive.
#[derive(Clone, Debug)]
pub struct ArchiveRequest {
    /// `type`: `zip` or `tar.gz`.
    pub kind: String,
    pub output_path: String,
    /// `output_file_mode`. Empty means none.
    pub file_mode: Option<String>,
    pub source: ArchiveSource,
}

#[derive(Clone, Debug)]
pub enum ArchiveSource {
    Directory {
        path: String,
        excludes: Vec<String>,
        exclude_symlink_directories: bool,
    },
    File(String),
    /// Contents by file name. If two `source` blocks have the same name, the later one wins.
    Contents(BTreeMap<String, String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Zip,
    TarGz,
}

/// Writes the archive and returns its size and checksums. Missing folders of the output path are created.
///
/// The output file may exist after an error: the reference creates it before it reads most of the input.
pub fn create(request: &ArchiveRequest) -> Result<Output, Failure> {
    let output = Path::new(&request.output_path);
    create_parent(output)?;
    write(request)
        .map_err(|error| Failure::new("Archive creation error", format!("error creating archive: {error}")))?;
    fs::metadata(output).map_err(|error| {
        let reason = io_text("stat", &request.output_path, &error);
        Failure::new("Archive output error", format!("error reading output: {reason}"))
    })?;
    Output::of_file(output).map_err(|error| {
        let path = &request.output_path;
        let reason = format!("could not compute file '{path}' checksum: open {path}: {}", reason(&error));
        Failure::new("Hash generation error", format!("error generating checksums: {reason}"))
    })
}

fn create_parent(output: &Path) -> Result<(), Failure> {
    let Some(parent) = output.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
    if fs::metadata(parent).is_ok() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(parent).map_err(|error| {
        let reason = io_text("mkdir", &parent.to_string_lossy(), &error);
        Failure::new("Output path error", format!("error creating output path: {reason}"))
    })
}

fn write(request: &ArchiveRequest) -> Result<(), ArchiveError> {
    let format = match request.kind.as_str() {
        "zip" => Format::Zip,
        "tar.gz" => Format::TarGz,
        other => return Err(ArchiveError::Type(other.to_owned())),
    };
    let mode = request.file_mode.as_deref().filter(|mode| !mode.is_empty());
    let open = || ArchiveWriter::create(&request.output_path, format, mode);
    match &request.source {
        ArchiveSource::Directory { path, excludes, exclude_symlink_directories } => {
            let walk = DirectoryWalk::new(excludes, *exclude_symlink_directories);
            write_directory(path, &walk, open).map_err(|why| ArchiveError::OfDirectory(Box::new(why)))
        }
        ArchiveSource::File(path) => write_file(path, format, open).map_err(|why| ArchiveError::OfFile(Box::new(why))),
        ArchiveSource::Contents(contents) => {
            write_contents(contents, open).map_err(|why| ArchiveError::OfContent(Box::new(why)))
        }
    }
}

fn write_directory<'a>(
    path: &str,
    walk: &DirectoryWalk,
    open: impl FnOnce() -> Result<ArchiveWriter<'a>, ArchiveError>,
) -> Result<(), ArchiveError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ArchiveError::MissingDirectory(path.to_owned()));
        }
        Err(error) => return Err(ArchiveError::System(io_text("stat", path, &error))),
        Ok(metadata) if !metadata.is_dir() => {
            return Err(ArchiveError::NotADirectory(path.to_owned()));
        }
        Ok(_) => {}
    }
    // An archive without files is not created, nor one whose files cannot be found.
    let mut is_empty = true;
    walk.run(path, &mut |_| {
        is_empty = false;
        Ok(())
    })?;
    if is_empty {
        return Err(ArchiveError::Empty);
    }
    let mut writer = open()?;
    let written = walk.run(path, &mut |file| writer.add_file(&file.name, file.path, &file.metadata));
    written.and(writer.finish())
}

fn write_file<'a>(
    path: &str,
    format: Format,
    open: impl FnOnce() -> Result<ArchiveWriter<'a>, ArchiveError>,
) -> Result<(), ArchiveError> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ArchiveError::MissingFile(path.to_owned()),
        _ => ArchiveError::System(io_text("stat", path, &error)),
    })?;
    if format == Format::Zip {
        // What cannot be read leaves an earlier zip file as it is.
        writer::open(path)?.read(&mut [0]).map_err(|error| ArchiveError::System(error.to_string()))?;
    }
    let mut writer = open()?;
    let name =
        Path::new(path).file_name().map_or_else(|| path_bytes(Path::new(path)), |name| path_bytes(Path::new(name)));
    let written = writer.add_file(&name, Path::new(path), &metadata);
    written.and(writer.finish())
}

fn write_contents<'a>(
    contents: &BTreeMap<String, String>,
    open: impl FnOnce() -> Result<ArchiveWriter<'a>, ArchiveError>,
) -> Result<(), ArchiveError> {
    let mut writer = open()?;
    let written = contents.iter().try_for_each(|(name, content)| writer.add_content(name, content));
    written.and(writer.finish())
}
