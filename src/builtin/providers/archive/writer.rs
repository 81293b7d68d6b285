//! Writes the entries of an archive in either format.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Read};
use std::path::Path;

use gotext::deflate::Gzip;

use super::Format;
use super::error::ArchiveError;
use super::mode::{FileMode, parse_integer};
use super::portions::Content;
use super::tar::{Header, TarWriter};
use super::zip::{Attributes, DATE_OF_FILES, ZipWriter};
use crate::wording::io_text;

pub struct ArchiveWriter<'a> {
    container: Container,
    /// `output_file_mode`, which is parsed for each entry.
    mode: Option<&'a str>,
}

enum Container {
    Zip(ZipWriter<BufWriter<File>>),
    TarGz(Box<TarWriter<Gzip<BufWriter<File>>>>),
}

impl<'a> ArchiveWriter<'a> {
    /// Creates the file, or empties it.
    pub fn create(path: &str, format: Format, mode: Option<&'a str>) -> Result<ArchiveWriter<'a>, ArchiveError> {
        let file = BufWriter::new(File::create(path).map_err(|error| system("open", path, &error))?);
        let container = match format {
            Format::Zip => Container::Zip(ZipWriter::new(file)),
            Format::TarGz => {
                let gzip = Gzip::new(file).map_err(|error| system("write", path, &error))?;
                Container::TarGz(Box::new(TarWriter::new(gzip)))
            }
        };
        Ok(ArchiveWriter { container, mode })
    }

    pub fn add_file(&mut self, name: &[u8], path: &Path, metadata: &Metadata) -> Result<(), ArchiveError> {
        let mode = FileMode::of(metadata);
        let shown = path.to_string_lossy();
        match &mut self.container {
            Container::Zip(zip) => {
                let mode = zip_mode(self.mode)?.unwrap_or(mode);
                let attributes = Attributes { mode: Some(mode), dos_date: DATE_OF_FILES };
                let mut file = open(&shown).map_err(|error| ArchiveError::Read(error.to_string()))?;
                zip.add(name, attributes, Content::Stream(&mut file))
                    .map_err(|error| ArchiveError::Read(error.to_string()))
            }
            Container::TarGz(tar) => {
                let path = || shown.clone().into_owned();
                let mut file =
                    open(&shown).map_err(|error| ArchiveError::Open { path: path(), why: error.to_string() })?;
                let mode = tar_mode(self.mode)?.unwrap_or(i64::from(mode.0));
                let header = Header { name, size: metadata.len(), mode };
                tar.write_header(header)
                    .map_err(|error| ArchiveError::Header { path: path(), why: error.to_string() })?;
                tar.write_content(header, Content::Stream(&mut file))
                    .map_err(|error| ArchiveError::Read(error.to_string()))
            }
        }
    }

    /// Adds an entry with a given content. In zip files it has neither mode nor date.
    pub fn add_content(&mut self, name: &str, content: &str) -> Result<(), ArchiveError> {
        match &mut self.container {
            Container::Zip(zip) => zip
                .add(name.as_bytes(), Attributes::default(), Content::Bytes(content.as_bytes()))
                .map_err(|error| ArchiveError::System(error.to_string())),
            Container::TarGz(tar) => {
                let mode = tar_mode(self.mode)?.unwrap_or(0);
                let header = Header { name: name.as_bytes(), size: content.len() as u64, mode };
                tar.write_header(header).map_err(|error| ArchiveError::ContentHeader(error.to_string()))?;
                tar.write_content(header, Content::Bytes(content.as_bytes()))
                    .map_err(|error| ArchiveError::Content(error.to_string()))
            }
        }
    }

    pub fn finish(self) -> Result<(), ArchiveError> {
        let finished = match self.container {
            Container::Zip(zip) => zip.finish(),
            Container::TarGz(tar) => tar.finish().and_then(Gzip::finish),
        };
        // An error of the last write is one of the file, not of the buffer.
        let file = finished.and_then(|buffer| buffer.into_inner().map_err(io::IntoInnerError::into_error));
        file.map(drop).map_err(|error| ArchiveError::System(error.to_string()))
    }
}

/// A file with its path, for error messages.
struct NamedFile<'a> {
    file: File,
    path: &'a str,
}

pub fn open(path: &str) -> Result<impl Read, ArchiveError> {
    let file = File::open(path).map_err(|error| system("open", path, &error))?;
    Ok(NamedFile { file, path })
}

impl Read for NamedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(io_text("read", self.path, &error)),
        })
    }
}

fn zip_mode(text: Option<&str>) -> Result<Option<FileMode>, ArchiveError> {
    let parse = |text: &str| {
        let is_signed = text.starts_with(['+', '-']);
        let bits = parse_integer(text).filter(|_| !is_signed).and_then(|value| u32::try_from(value).ok());
        bits.map(FileMode).ok_or_else(|| mode_error(text))
    };
    text.map(parse).transpose()
}

fn tar_mode(text: Option<&str>) -> Result<Option<i64>, ArchiveError> {
    let parse = |text: &str| {
        let value = parse_integer(text).and_then(|value| i32::try_from(value).ok());
        value.map(i64::from).ok_or_else(|| mode_error(text))
    };
    text.map(parse).transpose()
}

fn mode_error(text: &str) -> ArchiveError {
    ArchiveError::Mode(text.to_owned())
}

fn system(verb: &str, path: &str, error: &io::Error) -> ArchiveError {
    ArchiveError::System(io_text(verb, path, error))
}
