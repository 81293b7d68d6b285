//! One provider package on disk: its files, their hash, and its installation to a folder.
//!
//! Owns the content of package folders and of the folders that contain them. Never knows the source of a package, or
//! whether it is required. From an archive to its final path: [`archive::stage`], the caller checks the hash,
//! [`archive::Staged::finish`]; through a cache that several processes share, [`cache::Cache`].

pub mod archive;
pub mod cache;
pub mod contents;
pub mod hash;
pub mod link;
pub mod lock;
pub mod names;
pub mod stamp;
pub mod temporary;

use std::path::{Path, PathBuf};
use std::{fmt, io};

use base::files::named;
use model::addr::Provider;
use model::deps::Version;

/// Why a package is not where it should be.
#[derive(Debug)]
pub enum PackageError {
    /// The archive is damaged, or not one for a provider.
    BadArchive { archive: PathBuf, why: String },
    /// Nothing in the package could be the provider.
    NoExecutable { provider: Provider },
    /// The folder of the cache cannot be one.
    Cache { dir: PathBuf, why: String },
    /// The machine failed; the text names the file.
    Disk(io::Error),
    /// The run was asked to stop. Nothing half-done is left.
    Stopped,
}

impl PackageError {
    fn bad_archive(archive: &Path, why: String) -> PackageError {
        PackageError::BadArchive { archive: archive.to_owned(), why }
    }
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackageError::BadArchive { archive, why } => write!(f, "cannot unpack {}: {why}", archive.display()),
            PackageError::NoExecutable { provider } => {
                write!(f, "provider binary not found: {}", no_executable(provider))
            }
            PackageError::Cache { dir, why } => write!(f, "cannot use the plugin cache in {}: {why}", dir.display()),
            PackageError::Disk(e) => write!(f, "{e}"),
            PackageError::Stopped => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for PackageError {}

impl From<io::Error> for PackageError {
    fn from(error: io::Error) -> PackageError {
        PackageError::Disk(error)
    }
}

/// The operating system and architecture of this program, as packages name them: `linux_amd64`.
pub fn platform() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        arch => arch,
    };
    format!("{os}_{arch}")
}

/// Where a package lies below a folder of unpacked packages.
pub fn relative_dir(provider: &Provider, version: &Version) -> PathBuf {
    let mut path = PathBuf::from(&*provider.host);
    path.extend([&*provider.namespace, &*provider.kind, &version.to_string(), &platform()]);
    path
}

/// The executable of an unpacked package: the first file in the folder itself by its name that is called
/// `terraform-provider-TYPE`, with nothing or a `_` or `.` and anything behind it. One that can be run comes before others.
pub fn executable(dir: &Path, provider: &Provider) -> io::Result<PathBuf> {
    let mut found: Vec<(bool, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| named(e, "open", dir))? {
        let entry = entry.map_err(|e| named(e, "read", dir))?;
        let path = entry.path();
        if is_executable_name(&entry.file_name().to_string_lossy(), provider) && !path.is_dir() {
            found.push((!runs(&path), path));
        }
    }
    let first = found.into_iter().min();
    first.map(|(_, path)| path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, no_executable(provider)))
}

/// As [`executable`]; a file that is not executable is an error too.
pub fn runnable(dir: &Path, provider: &Provider) -> io::Result<PathBuf> {
    let path = executable(dir, provider)?;
    match runs(&path) {
        true => Ok(path),
        false => {
            let why = io::Error::new(io::ErrorKind::PermissionDenied, "the file is not executable");
            Err(named(why, "run", &path))
        }
    }
}

fn no_executable(provider: &Provider) -> String {
    format!("could not find executable file starting with terraform-provider-{}", provider.kind)
}

fn is_executable_name(name: &str, provider: &Provider) -> bool {
    let rest = name.strip_prefix("terraform-provider-").and_then(|rest| rest.strip_prefix(&*provider.kind));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

#[cfg(unix)]
fn runs(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn runs(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the reference: which of a package's files it runs.
    #[test]
    fn executables_by_name() {
        let foo = Provider::default_for("foo");
        let cases: &[(&[&str], Option<&str>)] = &[
            (&["terraform-provider-foo"], Some("terraform-provider-foo")),
            (&["terraform-provider-foo.exe"], Some("terraform-provider-foo.exe")),
            (&["terraform-provider-foo_v1.0.0_x5", "README.md"], Some("terraform-provider-foo_v1.0.0_x5")),
            (&["terraform-provider-foo_v2", "terraform-provider-foo_v1"], Some("terraform-provider-foo_v1")),
            (&["terraform-provider-foobar"], None),
            (&["terraform-provider-foo-bar"], None),
            (&["terraform-provider-foov1"], None),
            (&["terraform-provider-bar"], None),
            (&["terraform-provider-foo_v1/x"], None),
            (&["bin/terraform-provider-foo"], None),
            (&[], None),
        ];
        for (files, expected) in cases {
            let dir = tempfile::tempdir().unwrap();
            for file in *files {
                let path = dir.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let found = executable(dir.path(), &foo).ok();
            assert_eq!(found, expected.map(|name| dir.path().join(name)), "{files:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn executable_files_have_priority() {
        use std::os::unix::fs::PermissionsExt;
        let (foo, dir) = (Provider::default_for("foo"), tempfile::tempdir().unwrap());
        let (license, program) =
            (dir.path().join("terraform-provider-foo.LICENSE"), dir.path().join("terraform-provider-foo_v1"));
        std::fs::write(&license, "").unwrap();
        std::fs::write(&program, "").unwrap();
        assert_eq!(executable(dir.path(), &foo).unwrap(), license);
        let error = runnable(dir.path(), &foo).unwrap_err().to_string();
        assert_eq!(error, format!("run {}: the file is not executable", license.display()));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(runnable(dir.path(), &foo).unwrap(), program);
    }
}
