//! The selections of the lock file, for commands that only show them.

use std::path::Path;

use base::source::SourceFile;
use model::addr;
use model::deps::lock::{LOCK_FILE, Lock};

/// Providers with the versions selected, sorted; nothing where there is no lock file, or one with errors.
pub fn selections() -> Vec<(addr::Provider, String)> {
    std::fs::read_to_string(Path::new(LOCK_FILE)).map_or_else(|_| Vec::new(), |text| selected_by(&text))
}

fn selected_by(lock_file: &str) -> Vec<(addr::Provider, String)> {
    let (lock, found) = Lock::parse(SourceFile::new(LOCK_FILE, lock_file));
    if found.has_errors() {
        return Vec::new();
    }
    let mut all: Vec<_> = lock.providers.into_iter().map(|(p, locked)| (p, locked.version.to_string())).collect();
    all.sort_by_key(|(provider, _)| provider.to_string());
    all
}

/// This machine as providers' packages name it: `linux_amd64`.
pub fn platform() -> String {
    install::package::platform()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_with_errors_selects_nothing() {
        let lock = "provider \"this/one/okay\" {\n  version = \"1.0.0\"\n}\n";
        let selected: Vec<String> =
            selected_by(lock).into_iter().map(|(provider, version)| format!("{provider} {version}")).collect();
        assert_eq!(selected, ["this/one/okay 1.0.0"]);
        assert!(selected_by(&format!("{lock}nothing {{}}\n")).is_empty());
    }
}
