//! Checksums of archives: one that is known beforehand, one that a list of checksums must hold, and any of several hashes.

use std::sync::Arc;

use gotext::hex::{self, hex};
use model::deps::hash::{Hash, Scheme};

use super::error::AuthenticationError;
use super::step::{Archive, Step};
use super::trust::Authentication;
use crate::package::archive::hashes_of;

/// The archive has these bytes.
pub struct ArchiveChecksum {
    pub sha256: [u8; 32],
}

impl Step for ArchiveChecksum {
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        if *archive.sha256 == self.sha256 {
            return Ok(Authentication::VerifiedChecksum);
        }
        Err(AuthenticationError::Checksum { found: zip_hash(archive.sha256), expected: zip_hash(&self.sha256) })
    }

    fn acceptable_hashes(&self) -> Vec<Hash> {
        vec![zip_hash(&self.sha256)]
    }
}

/// The list that comes with a release names this very checksum for the archive's file.
pub struct ListedChecksum {
    /// Lines of a checksum, two blanks and a file's name.
    pub list: Arc<[u8]>,
    pub file_name: String,
    pub sha256: [u8; 32],
}

impl Step for ListedChecksum {
    fn check(&self, _archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        let mut entries = self.list.split(|b| *b == b'\n').filter_map(entry);
        let Some((sum, _)) = entries.find(|(_, name)| *name == self.file_name) else {
            return Err(AuthenticationError::NotListed { file_name: self.file_name.clone() });
        };
        let Some(listed) = parse(sum) else {
            return Err(AuthenticationError::InvalidEntry { checksum: sum.to_owned() });
        };
        match listed == self.sha256 {
            true => Ok(Authentication::VerifiedChecksum),
            false => Err(AuthenticationError::ListedOtherwise { listed: hex(&listed), expected: hex(&self.sha256) }),
        }
    }
}

/// The archive has one of the hashes that a mirror accepts, of any scheme.
pub struct AcceptableHash {
    hashes: Vec<Hash>,
}

impl AcceptableHash {
    /// Hashes of schemes of the future are left out: nothing can be compared with them.
    pub fn new(hashes: impl IntoIterator<Item = Hash>) -> AcceptableHash {
        AcceptableHash { hashes: hashes.into_iter().filter(|hash| hash.scheme().is_some()).collect() }
    }

    fn has(&self, hash: &Hash) -> bool {
        self.hashes.contains(hash)
    }
}

impl Step for AcceptableHash {
    /// Over the archive's bytes first, which is known; over its files only if there are such hashes.
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        if self.hashes.is_empty() {
            return Err(AuthenticationError::NoKnownHashes);
        }
        if self.has(&zip_hash(archive.sha256)) {
            return Ok(Authentication::VerifiedChecksum);
        }
        if self.hashes.iter().any(|hash| hash.scheme() == Some(Scheme::H1)) {
            let found = hashes_of(archive.path).map_err(|e| AuthenticationError::Unreadable(e.to_string()))?;
            // Mirrors take it over the archive's entries; it differs only if some of them are folders.
            if self.has(&found.archive) || self.has(&found.unpacked) {
                return Ok(Authentication::VerifiedChecksum);
            }
        }
        Err(AuthenticationError::Unacceptable { expected: self.hashes.clone() })
    }

    fn acceptable_hashes(&self) -> Vec<Hash> {
        self.hashes.clone()
    }
}

/// A checksum and a file's name, of a line.
pub(super) fn entry(line: &[u8]) -> Option<(&str, &str)> {
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    Some((words.next()?, words.next()?))
}

/// A checksum in hexadecimal digits.
pub fn parse(text: &str) -> Option<[u8; 32]> {
    hex::bytes(text)?.try_into().ok()
}

fn zip_hash(sum: &[u8; 32]) -> Hash {
    Hash::new(Scheme::Zh, &hex(sum))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const GOOD: [u8; 32] = [1; 32];
    const BAD: [u8; 32] = [2; 32];

    fn archive() -> Archive<'static> {
        Archive { path: Path::new("x.zip"), sha256: &GOOD }
    }

    fn outcome_text(step: &dyn Step) -> String {
        match step.check(&archive()) {
            Ok(found) => found.to_string(),
            Err(problem) => problem.to_string(),
        }
    }

    #[test]
    fn mirrors_may_count_the_entries_of_folders() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.zip");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        zip.add_directory("docs/", options).unwrap();
        zip.start_file("terraform-provider-x", options).unwrap();
        zip.finish().unwrap();
        let hashes = hashes_of(&path).unwrap();
        assert_ne!(hashes.archive, hashes.unpacked);
        let archive = Archive { path: &path, sha256: &GOOD };
        for good in [hashes.archive, hashes.unpacked] {
            assert_eq!(AcceptableHash::new([good]).check(&archive), Ok(Authentication::VerifiedChecksum));
        }
        let other = Hash::new(Scheme::H1, "x");
        assert!(AcceptableHash::new([other]).check(&archive).is_err());
    }

    #[test]
    fn archives_are_held_to_their_checksums() {
        assert_eq!(outcome_text(&ArchiveChecksum { sha256: GOOD }), "verified checksum");
        let (found, expected) = (zip_hash(&GOOD), zip_hash(&BAD));
        assert_eq!(
            outcome_text(&ArchiveChecksum { sha256: BAD }),
            format!("archive has incorrect checksum {found} (expected {expected})")
        );
    }

    #[test]
    fn lists_have_the_checksum_of_the_archive() {
        let text = format!("{}  a.zip\n{}  b.zip\nxx  c.zip\n\n{0}  readme\n", hex(&GOOD), hex(&BAD));
        let list: Arc<[u8]> = text.into_bytes().into();
        for (name, expected) in [
            ("a.zip", "verified checksum".to_owned()),
            ("b.zip", format!("checksum list has unexpected SHA-256 hash {} (expected {})", hex(&BAD), hex(&GOOD))),
            ("c.zip", "checksum list has invalid SHA256 hash \"xx\": it must have 64 hexadecimal digits".to_owned()),
            ("d.zip", "checksum list has no SHA-256 hash for \"d.zip\"".to_owned()),
        ] {
            let step = ListedChecksum { list: list.clone(), file_name: name.to_owned(), sha256: GOOD };
            assert_eq!(outcome_text(&step), expected, "{name}");
        }
    }

    #[test]
    fn mirrors_accept_any_of_their_hashes() {
        let hash = |text: &str| Hash::parse(text).unwrap();
        let (good, bad, future) = (zip_hash(&GOOD), zip_hash(&BAD), hash("h9:x"));
        for (hashes, expected) in [
            (vec![bad.clone(), good], "verified checksum".to_owned()),
            (vec![future.clone()], AuthenticationError::NoKnownHashes.to_string()),
            (vec![bad.clone(), future], format!("provider package doesn't match the expected checksum \"{bad}\"")),
            (vec![bad.clone(), bad], "provider package doesn't match the any of the expected checksums".to_owned()),
        ] {
            assert_eq!(outcome_text(&AcceptableHash::new(hashes.clone())), expected, "{hashes:?}");
        }
        let unreadable = outcome_text(&AcceptableHash::new([hash("h1:x")]));
        assert!(unreadable.starts_with("failed to verify provider package checksums: "), "{unreadable}");
    }
}
