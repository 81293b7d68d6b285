//! One provider package: its files, their hash, and how it gets to a folder.
//!
//! Owns what is in a package's folder. Never knows where it came from, or whether it was wanted.

pub mod archive;
pub mod hash;
pub mod link;
pub mod stamp;

use std::io;
use std::path::{Path, PathBuf};

use crate::base::files::named;
use crate::model::addr::Provider;
use crate::model::deps::Version;

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

/// The executable of an unpacked package: the file named `terraform-provider-TYPE`, whatever follows.
pub fn executable(dir: &Path, provider: &Provider) -> io::Result<PathBuf> {
    let wanted = format!("terraform-provider-{}", provider.kind);
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| named(e, "open", dir))? {
        let entry = entry.map_err(|e| named(e, "read", dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&wanted) && !entry.path().is_dir() {
            found.push(name);
        }
    }
    // Of several, the name alone or with a version wins over that of another provider with a longer name.
    found.sort_by_key(|name| (!matches!(name.as_bytes().get(wanted.len()), None | Some(b'_' | b'.')), name.clone()));
    let first = found.into_iter().next();
    first.map(|name| dir.join(name)).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("could not find executable file starting with {wanted} in {}", dir.display()),
        )
    })
}
