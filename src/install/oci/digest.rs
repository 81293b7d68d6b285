//! Digests of manifests and blobs: `sha256:` and the digits of the sum.

use std::fmt;

use gotext::hex::{self, hex};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The sum of a content, of one of the algorithms that registries use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    algorithm: Algorithm,
    sum: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Sha256,
    Sha384,
    Sha512,
}

const ALGORITHMS: [(&str, Algorithm, usize); 3] =
    [("sha256", Algorithm::Sha256, 32), ("sha384", Algorithm::Sha384, 48), ("sha512", Algorithm::Sha512, 64)];

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = ALGORITHMS.iter().find(|(_, algorithm, _)| *algorithm == self.algorithm);
        write!(f, "{}:{}", named.map_or("", |(name, ..)| name), hex(&self.sum))
    }
}

/// Why a text is not a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigestError {
    Form(String),
    Algorithm(String),
    /// `length`: how many digits the algorithm has.
    Digits {
        digest: String,
        length: usize,
    },
}

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DigestError::Form(text) => {
                write!(f, "{text:?} is not a digest: it must be an algorithm, a colon and hexadecimal digits")
            }
            DigestError::Algorithm(text) => {
                write!(f, "the digest {text:?} has an unknown algorithm; known are sha256, sha384 and sha512")
            }
            DigestError::Digits { digest, length } => {
                write!(f, "the digest {digest:?} must have {length} lower-case hexadecimal digits")
            }
        }
    }
}

impl std::error::Error for DigestError {}

impl Digest {
    /// Reads `ALGORITHM:DIGITS`.
    pub fn parse(text: &str) -> Result<Digest, DigestError> {
        let Some((name, digits)) = text.split_once(':') else {
            return Err(DigestError::Form(text.to_owned()));
        };
        let Some((_, algorithm, length)) = ALGORITHMS.iter().find(|(known, ..)| *known == name) else {
            return Err(DigestError::Algorithm(text.to_owned()));
        };
        // Two texts of one digest would be two packages.
        let lower = !digits.bytes().any(|byte| byte.is_ascii_uppercase());
        match hex::bytes(digits).filter(|sum| lower && sum.len() == *length) {
            Some(sum) => Ok(Digest { algorithm: *algorithm, sum }),
            None => Err(DigestError::Digits { digest: text.to_owned(), length: 2 * length }),
        }
    }

    /// The digest of a content by the same algorithm.
    pub fn of_same_kind(&self, content: &[u8]) -> Digest {
        let mut sum = self.start();
        sum.update(content);
        sum.finish()
    }

    /// For content that comes in pieces.
    pub fn start(&self) -> Summing {
        match self.algorithm {
            Algorithm::Sha256 => Summing::Sha256(Sha256::new()),
            Algorithm::Sha384 => Summing::Sha384(Sha384::new()),
            Algorithm::Sha512 => Summing::Sha512(Sha512::new()),
        }
    }
}

/// A digest in the making.
pub enum Summing {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Summing {
    pub fn update(&mut self, piece: &[u8]) {
        match self {
            Summing::Sha256(sum) => sum.update(piece),
            Summing::Sha384(sum) => sum.update(piece),
            Summing::Sha512(sum) => sum.update(piece),
        }
    }

    pub fn finish(self) -> Digest {
        let (algorithm, sum) = match self {
            Summing::Sha256(sum) => (Algorithm::Sha256, sum.finalize().to_vec()),
            Summing::Sha384(sum) => (Algorithm::Sha384, sum.finalize().to_vec()),
            Summing::Sha512(sum) => (Algorithm::Sha512, sum.finalize().to_vec()),
        };
        Digest { algorithm, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_name_their_algorithm() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let digest = Digest::parse(empty).unwrap();
        assert_eq!((digest.to_string(), digest.of_same_kind(b"")), (empty.to_owned(), digest.clone()));
        assert_ne!(digest.of_same_kind(b"x"), digest);
        for length in [("sha384", 96), ("sha512", 128)] {
            let text = format!("{}:{}", length.0, "0".repeat(length.1));
            assert_eq!(Digest::parse(&text).unwrap().to_string(), text);
        }
        for (bad, expected) in [
            ("latest", "is not a digest"),
            ("md5:00", "unknown algorithm"),
            ("sha256:00", "must have 64 lower-case hexadecimal digits"),
            (empty.to_uppercase().replace("SHA", "sha").as_str(), "must have 64 lower-case"),
        ] {
            assert!(Digest::parse(bad).unwrap_err().to_string().contains(expected), "{bad}");
        }
    }
}
