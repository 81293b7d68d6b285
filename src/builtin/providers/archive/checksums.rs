//! The size and the checksums of an archive file.

use std::fs::File;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gotext::hex::hex;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::portions::copy;

/// The computed attributes: `output_size` in bytes, and the checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub size: u64,
    pub md5: String,
    /// Also the `id`.
    pub sha1: String,
    pub sha256: String,
    pub base64_sha256: String,
    pub sha512: String,
    pub base64_sha512: String,
}

impl Output {
    /// Reads the file in portions.
    pub fn of_file(path: &Path) -> io::Result<Output> {
        let (mut md5, mut sha1, mut sha256, mut sha512) = (Md5::new(), Sha1::new(), Sha256::new(), Sha512::new());
        let mut size = 0;
        copy(&mut File::open(path)?, |part| {
            size += part.len() as u64;
            md5.update(part);
            sha1.update(part);
            sha256.update(part);
            sha512.update(part);
            Ok(())
        })?;
        let (sha256, sha512) = (sha256.finalize(), sha512.finalize());
        Ok(Output {
            size,
            md5: hex(&md5.finalize()),
            sha1: hex(&sha1.finalize()),
            sha256: hex(&sha256),
            base64_sha256: STANDARD.encode(sha256),
            sha512: hex(&sha512),
            base64_sha512: STANDARD.encode(sha512),
        })
    }
}
