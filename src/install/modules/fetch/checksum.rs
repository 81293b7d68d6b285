//! The `checksum` parameter: what an archive must be, said in its address.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base::files::named;
use gotext::hex::{self, hex};
use sha1::Digest;

use super::FetchError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    kind: ChecksumKind,
    value: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChecksumKind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

impl Wanted {
    /// `sha256:HEX`, or digits alone, whose number tells the kind.
    pub fn parse(text: &str) -> Result<Wanted, FetchError> {
        let (kind, digits) = match text.split_once(':') {
            Some((kind, digits)) => {
                let known = match kind {
                    "md5" => ChecksumKind::Md5,
                    "sha1" => ChecksumKind::Sha1,
                    "sha256" => ChecksumKind::Sha256,
                    "sha512" => ChecksumKind::Sha512,
                    other => return Err(FetchError::new(format!("unsupported checksum type: {other}"))),
                };
                (Some(known), digits)
            }
            None => (None, text),
        };
        let value = hex::bytes(digits)
            .ok_or_else(|| FetchError::new(format!("invalid checksum: {digits:?} is not hexadecimal")))?;
        let kind = kind.or(match value.len() {
            16 => Some(ChecksumKind::Md5),
            20 => Some(ChecksumKind::Sha1),
            32 => Some(ChecksumKind::Sha256),
            64 => Some(ChecksumKind::Sha512),
            _ => None,
        });
        match kind {
            Some(kind) => Ok(Wanted { kind, value }),
            None => Err(FetchError::new(format!("Unknown type for checksum {digits}"))),
        }
    }

    /// Finds a file in a list in the format of checksum programs; a single checksum without a name applies to any file.
    pub fn in_list(list: &str, name: &str) -> Result<Wanted, FetchError> {
        for line in list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (file, sum) = match words.as_slice() {
                [kind, file, "=", sum] => {
                    let file = file.trim_start_matches('(').trim_end_matches(')');
                    (file, format!("{}:{sum}", kind.to_ascii_lowercase()))
                }
                [sum, file] => (file.trim_start_matches('*'), (*sum).to_owned()),
                [sum] => (name, (*sum).to_owned()),
                _ => continue,
            };
            if file.trim_start_matches("./") == name {
                return Wanted::parse(&sum);
            }
        }
        Err(FetchError::new(format!("no checksum found for {name:?} in the checksum file")))
    }

    pub fn check(&self, path: &Path) -> Result<(), FetchError> {
        let got = match self.kind {
            ChecksumKind::Md5 => digest::<md5::Md5>(path),
            ChecksumKind::Sha1 => digest::<sha1::Sha1>(path),
            ChecksumKind::Sha256 => digest::<sha2::Sha256>(path),
            ChecksumKind::Sha512 => digest::<sha2::Sha512>(path),
        }?;
        if got == self.value {
            return Ok(());
        }
        Err(FetchError::new(format!("Checksums did not match.\nExpected: {}\nGot: {}", hex(&self.value), hex(&got))))
    }
}

fn digest<D: Digest>(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path).map_err(|e| named(e, "open", path))?;
    let mut digest = D::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer).map_err(|e| named(e, "read", path))? {
            0 => return Ok(digest.finalize().to_vec()),
            n => digest.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "hello\n").unwrap();
        let md5 = "b1946ac92492d2347c6235b4d2611184";
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        for text in [format!("md5:{md5}"), md5.to_owned(), format!("sha256:{sha}"), sha.to_uppercase()] {
            Wanted::parse(&text).unwrap().check(&path).unwrap();
        }
        assert!(Wanted::parse(&format!("md5:{}", md5.replace('b', "c"))).unwrap().check(&path).is_err());
        for bad in ["crc:00", "sha256:zz", "abc", "abcd"] {
            assert!(Wanted::parse(bad).is_err(), "{bad}");
        }
        for list in [format!("{md5}  other\n{sha} *f\n"), format!("SHA256 (f) = {sha}\n"), sha.to_owned()] {
            assert_eq!(Wanted::in_list(&list, "f"), Wanted::parse(sha), "{list}");
        }
        assert!(Wanted::in_list("00 other", "f").is_err());
    }
}
