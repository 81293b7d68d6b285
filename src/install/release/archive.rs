//! Archives that depend on nothing but the content of their files: no times, a fixed order, fixed permissions.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base::atomic;
use base::files::named;
use gotext::hex::hex;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipWriter};

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// Its name in the archive.
    pub name: String,
    /// Where its content is.
    pub content: PathBuf,
    /// Whether it may be run.
    pub runs: bool,
}

/// Writes an archive, and returns its SHA-256 in hexadecimal digits.
pub fn write(path: &Path, members: &[Member]) -> io::Result<String> {
    let mut members = members.to_vec();
    members.sort();
    atomic::write_with(path, atomic::DEFAULT_MODE, |file| {
        let mut zip = ZipWriter::new(file);
        for member in &members {
            let mode = if member.runs { 0o755 } else { 0o644 };
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(DateTime::DEFAULT)
                .system(System::Unix)
                .unix_permissions(mode)
                .large_file(false);
            zip.start_file(&*member.name, options)?;
            let mut content = File::open(&member.content).map_err(|e| named(e, "open", &member.content))?;
            io::copy(&mut content, &mut zip).map_err(|e| named(e, "read", &member.content))?;
        }
        zip.finish()?;
        Ok(())
    })?;
    sha256(path)
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let attempt = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let (mut sum, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hex(&sum.finalize())),
                count => sum.update(&buffer[..count]),
            }
        }
    };
    attempt().map_err(|e| named(e, "read", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_content_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let member = |name: &str, runs| Member { name: name.to_owned(), content: at(name), runs };
        std::fs::write(at("b"), "program".repeat(1000)).unwrap();
        std::fs::write(at("a"), "licence").unwrap();
        let first = write(&at("1.zip"), &[member("b", true), member("a", false)]).unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        File::options().write(true).open(at("b")).unwrap().set_modified(old).unwrap();
        let second = write(&at("2.zip"), &[member("a", false), member("b", true)]).unwrap();
        assert_eq!(first, second);
        let mut zip = zip::ZipArchive::new(File::open(at("1.zip")).unwrap()).unwrap();
        let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(zip.by_name("b").unwrap().unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let missing = write(&at("3.zip"), &[member("c", true)]).unwrap_err();
        assert!(missing.to_string().contains("/c"), "{missing}");
        assert!(!at("3.zip").exists());
    }
}
