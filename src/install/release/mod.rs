//! Releases of a provider, as registries take them: archives per platform, checksums, a signature.
//!
//! Owns the names and formats of the files. Never knows how the programs were built.

pub mod archive;
pub mod signature;
pub mod target;

use std::fmt;

use model::addr::provider::parse_part;
use model::deps::Version;

/// The name and version that all files of a release share.
#[derive(Clone, Debug)]
pub struct Release {
    kind: String,
    version: Version,
}

/// The operating system and the architecture of an archive: `linux_amd64`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    pub os: String,
    pub arch: String,
}

/// Why something cannot be a release, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseError {
    Name {
        name: String,
        why: String,
    },
    /// It is not three numbers.
    Version(String),
    BuildMetadata(String),
    Platform(String),
}

impl fmt::Display for ReleaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReleaseError::Name { name, why } => write!(f, "the name of the provider {name:?} {why}"),
            ReleaseError::Version(version) => {
                write!(f, "the version {version:?} must have three numbers and no \"v\", such as 1.2.3 or 1.2.3-beta1")
            }
            ReleaseError::BuildMetadata(version) => {
                write!(f, "the version {version:?} has build metadata, which registries do not accept")
            }
            ReleaseError::Platform(text) => {
                write!(f, "{text:?} is not a platform: write OS_ARCH, such as linux_amd64 or darwin_arm64")
            }
        }
    }
}

impl std::error::Error for ReleaseError {}

impl Release {
    /// `kind` is the last part of the source address.
    pub fn new(kind: &str, version: &str) -> Result<Release, ReleaseError> {
        let normal =
            parse_part(kind).map_err(|why| ReleaseError::Name { name: kind.to_owned(), why: why.to_string() })?;
        if normal != kind || !kind.is_ascii() {
            let why = "must have small ASCII letters, digits and dashes only".to_owned();
            return Err(ReleaseError::Name { name: kind.to_owned(), why });
        }
        let exact = Version::parse_exact(version).map_err(|_| ReleaseError::Version(version.to_owned()))?;
        if !exact.metadata().is_empty() {
            return Err(ReleaseError::BuildMetadata(version.to_owned()));
        }
        Ok(Release { kind: kind.to_owned(), version: exact })
    }

    fn prefix(&self) -> String {
        format!("terraform-provider-{}_{}", self.kind, self.version)
    }

    /// The file name of the program in an archive.
    pub fn program(&self, platform: &Platform) -> String {
        let end = if platform.os == "windows" { ".exe" } else { "" };
        format!("terraform-provider-{}_v{}{end}", self.kind, self.version)
    }

    pub fn archive(&self, platform: &Platform) -> String {
        format!("{}_{platform}.zip", self.prefix())
    }

    pub fn manifest(&self) -> String {
        format!("{}_manifest.json", self.prefix())
    }

    pub fn checksums(&self) -> String {
        format!("{}_SHA256SUMS", self.prefix())
    }

    pub fn signature(&self) -> String {
        format!("{}.sig", self.checksums())
    }
}

impl Platform {
    /// Reads `OS_ARCH`.
    pub fn parse(text: &str) -> Result<Platform, ReleaseError> {
        let is_word =
            |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        match text.split_once('_') {
            Some((os, arch)) if is_word(os) && is_word(arch) => {
                Ok(Platform { os: os.to_owned(), arch: arch.to_owned() })
            }
            _ => Err(ReleaseError::Platform(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

/// The list of checksums as `sha256sum` writes it, sorted by file name. `files`: name, and the checksum in hexadecimal digits.
pub fn checksum_list(files: &[(String, String)]) -> String {
    let mut files: Vec<_> = files.iter().collect();
    files.sort();
    files.into_iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_that_registries_expect() {
        let release = Release::new("todo", "1.2.0-beta1").unwrap();
        let (linux, windows) = (Platform::parse("linux_amd64").unwrap(), Platform::parse("windows_386").unwrap());
        assert_eq!(release.program(&linux), "terraform-provider-todo_v1.2.0-beta1");
        assert_eq!(release.program(&windows), "terraform-provider-todo_v1.2.0-beta1.exe");
        assert_eq!(release.archive(&linux), "terraform-provider-todo_1.2.0-beta1_linux_amd64.zip");
        assert_eq!(release.manifest(), "terraform-provider-todo_1.2.0-beta1_manifest.json");
        assert_eq!(release.signature(), "terraform-provider-todo_1.2.0-beta1_SHA256SUMS.sig");
        let sums = [("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())];
        assert_eq!(checksum_list(&sums), "1  a\n2  b\n");
    }

    #[test]
    fn wrong_names_and_versions_are_refused() {
        for (kind, version) in [
            ("Todo", "1.0.0"),
            ("to_do", "1.0.0"),
            ("../todo", "1.0.0"),
            ("", "1.0.0"),
            ("todo", "v1.0.0"),
            ("todo", "1.0"),
            ("todo", "01.0.0"),
            ("todo", "1.0.0+x"),
            ("todo", "1.0.0/.."),
        ] {
            assert!(Release::new(kind, version).is_err(), "{kind} {version}");
        }
        for platform in ["linux", "linux_", "Linux_amd64", "linux_amd64_musl", "../x_y"] {
            assert!(Platform::parse(platform).is_err(), "{platform}");
        }
    }
}
