//! Why an archive cannot be written. Texts are those of the reference.

use std::fmt;

use super::glob::BAD_PATTERN;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveError {
    /// The type is not one of archives.
    Type(String),
    /// What failed for a directory, a file, or given content.
    OfDirectory(Box<ArchiveError>),
    OfFile(Box<ArchiveError>),
    OfContent(Box<ArchiveError>),
    MissingDirectory(String),
    MissingFile(String),
    /// The directory is a file.
    NotADirectory(String),
    /// No file is left for the archive.
    Empty,
    /// The system refuses something: what, and why.
    System(String),
    /// A file of a directory cannot be found or listed.
    Walk(String),
    Excludes,
    /// A symbolic link leads to a directory that contains it.
    Cycle(String),
    /// A file for the archive cannot be read.
    Read(String),
    Open {
        path: String,
        why: String,
    },
    Header {
        path: String,
        why: String,
    },
    /// The header of given content.
    ContentHeader(String),
    /// Given content cannot be written.
    Content(String),
    /// `output_file_mode` is not a mode.
    Mode(String),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Type(name) => write!(f, "archive type not supported: {name}"),
            ArchiveError::OfDirectory(why) => write!(f, "error archiving directory: {why}"),
            ArchiveError::OfFile(why) => write!(f, "error archiving file: {why}"),
            ArchiveError::OfContent(why) => write!(f, "error archiving content: {why}"),
            ArchiveError::MissingDirectory(path) => write!(f, "could not archive missing directory: {path}"),
            ArchiveError::MissingFile(path) => write!(f, "could not archive missing file: {path}"),
            ArchiveError::NotADirectory(path) => {
                write!(f, "could not archive directory that is a file: {path}")
            }
            ArchiveError::Empty => f.write_str("archive has not been created as it would be empty"),
            ArchiveError::System(text) => f.write_str(text),
            ArchiveError::Walk(why) => write!(f, "error encountered during file walk: {why}"),
            ArchiveError::Excludes => write!(f, "error checking excludes matches: {BAD_PATTERN}"),
            ArchiveError::Cycle(path) => {
                write!(f, "symbolic link {path} leads to a directory that contains it")
            }
            ArchiveError::Read(why) => write!(f, "error reading file for archival: {why}"),
            ArchiveError::Open { path, why } => write!(f, "could not open file '{path}', got error '{why}'"),
            ArchiveError::Header { path, why } => {
                write!(f, "could not write header for file '{path}', got error '{why}'")
            }
            ArchiveError::ContentHeader(why) => write!(f, "could not write header, got error '{why}'"),
            ArchiveError::Content(why) => write!(f, "could not copy data to the tarball, got error '{why}'"),
            ArchiveError::Mode(text) => write!(f, "error parsing output_file_mode value: {text}"),
        }
    }
}

impl std::error::Error for ArchiveError {}
