//! Checksums of archives: one that is known beforehand, and one that a list of checksums must hold.

use crate::install::package::hash::hex;
use crate::model::deps::hash::{Hash, Scheme};

use super::{Archive, Authentication, AuthenticationError, Step};

/// The archive has these bytes.
pub struct ArchiveChecksum {
    pub sha256: [u8; 32],
}

impl Step for ArchiveChecksum {
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        if *archive.sha256 == self.sha256 {
            return Ok(Authentication::VerifiedChecksum);
        }
        Err(AuthenticationError(format!(
            "archive has incorrect checksum {} (expected {})",
            hash_text(archive.sha256),
            hash_text(&self.sha256)
        )))
    }

    fn acceptable_hashes(&self) -> Vec<Hash> {
        vec![Hash::new(Scheme::Zh, &hex(&self.sha256))]
    }
}

/// The list that comes with a release names this very checksum for the archive's file.
pub struct ListedChecksum {
    /// Lines of a checksum, two blanks and a file's name.
    pub list: std::sync::Arc<[u8]>,
    pub file_name: String,
    pub sha256: [u8; 32],
}

impl Step for ListedChecksum {
    fn check(&self, _archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        let wanted = self.file_name.as_str();
        let Some((sum, _)) = entries(&self.list).find(|(_, name)| *name == wanted) else {
            return Err(AuthenticationError(format!("checksum list has no SHA-256 hash for {wanted:?}")));
        };
        let listed = parse(sum).ok_or_else(|| {
            AuthenticationError(format!(
                "checksum list has invalid SHA256 hash {sum:?}: it must have 64 hexadecimal digits"
            ))
        })?;
        if listed != self.sha256 {
            return Err(AuthenticationError(format!(
                "checksum list has unexpected SHA-256 hash {} (expected {})",
                hex(&listed),
                hex(&self.sha256)
            )));
        }
        Ok(Authentication::VerifiedChecksum)
    }

    /// The archives of every platform.
    fn acceptable_hashes(&self) -> Vec<Hash> {
        let archives = entries(&self.list).filter(|(sum, name)| name.ends_with(".zip") && parse(sum).is_some());
        archives.map(|(sum, _)| Hash::new(Scheme::Zh, &sum.to_ascii_lowercase())).collect()
    }
}

fn entries(list: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    list.split(|b| *b == b'\n').filter_map(|line| {
        let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

/// A checksum in hexadecimal digits.
pub fn parse(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut sum = [0; 32];
    for (byte, pair) in sum.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |b: u8| char::from(b).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
    }
    Some(sum)
}

fn hash_text(sum: &[u8; 32]) -> String {
    Hash::new(Scheme::Zh, &hex(sum)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::path::Path;

    #[test]
    fn archives_are_held_to_their_checksums() {
        let (good, bad) = ([1; 32], [2; 32]);
        let archive = Archive { path: Path::new("x.zip"), sha256: &good };
        assert_eq!(ArchiveChecksum { sha256: good }.check(&archive), Ok(Authentication::VerifiedChecksum));
        assert!(ArchiveChecksum { sha256: bad }.check(&archive).unwrap_err().0.contains("incorrect checksum zh:0101"));
        let list: std::sync::Arc<[u8]> =
            format!("{}  a.zip\n{}  b.zip\nxx  c.zip\n{0}  readme\n", hex(&good), hex(&bad)).into_bytes().into();
        let step = |name: &str, sha256| ListedChecksum { list: list.clone(), file_name: name.to_owned(), sha256 };
        assert_eq!(step("a.zip", good).check(&archive), Ok(Authentication::VerifiedChecksum));
        for (name, part) in [("b.zip", "unexpected"), ("c.zip", "invalid"), ("d.zip", "has no SHA-256 hash")] {
            assert!(step(name, good).check(&archive).unwrap_err().0.contains(part), "{name}");
        }
        assert_eq!(step("a.zip", good).acceptable_hashes().len(), 2);
    }
}
