//! Client certificates with their keys, as PKCS #12 archives.

use std::path::Path;
use std::{fmt, io};

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine};
use p12_keystore::Pkcs12Archive;

use super::rsa_key::{KeyError, RsaKey};

/// A certificate (DER) and its key.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub der: Vec<u8>,
    pub key: RsaKey,
}

/// Why an archive gives no certificate.
#[derive(Debug)]
pub enum ArchiveError {
    Encoding(DecodeError),
    File {
        path: String,
        error: io::Error,
    },
    /// The archive cannot be read, or the password is wrong.
    Archive(String),
    /// There is not exactly one key in it.
    Keys(usize),
    NoCertificate,
    Key(KeyError),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::Encoding(error) => return write!(f, "could not decode client certificate data: {error}"),
            ArchiveError::File { path, error } => {
                return write!(f, "could not read PKCS#12 archive at {path:?}: {error}");
            }
            _ => f.write_str("could not decode PKCS#12 archive: ")?,
        }
        match self {
            ArchiveError::Encoding(_) | ArchiveError::File { .. } => Ok(()),
            ArchiveError::Archive(why) => f.write_str(why),
            ArchiveError::Keys(count) => write!(f, "expected exactly one private key, found {count}"),
            ArchiveError::NoCertificate => f.write_str("certificate missing"),
            ArchiveError::Key(error) => error.fmt(f),
        }
    }
}

/// For callers whose errors are texts.
impl From<ArchiveError> for String {
    fn from(error: ArchiveError) -> String {
        error.to_string()
    }
}

/// Reads the archive that a base64 text or else a file has; None without both.
pub fn of_settings(
    encoded: Option<&str>,
    path: Option<&Path>,
    password: &str,
) -> Result<Option<ClientCertificate>, ArchiveError> {
    let archive = match (encoded, path) {
        (Some(text), _) => {
            let decoded = STANDARD.decode(text.trim());
            decoded.map_err(ArchiveError::Encoding)?
        }
        (None, Some(path)) => {
            std::fs::read(path).map_err(|error| ArchiveError::File { path: path.display().to_string(), error })?
        }
        (None, None) => return Ok(None),
    };
    read(&archive, password).map(Some)
}

/// Reads the key of an archive and the certificate that belongs to it: that with the ID of the key, or else the first one.
fn read(archive: &[u8], password: &str) -> Result<ClientCertificate, ArchiveError> {
    let archive = Pkcs12Archive::from_pkcs12(archive, password).map_err(|e| ArchiveError::Archive(e.to_string()))?;
    let [bag] = archive.keys.as_slice() else {
        return Err(ArchiveError::Keys(archive.keys.len()));
    };
    let id = bag.local_key_id.as_ref().map(|id| id.0.as_slice());
    let own = archive.certs.iter().find(|cert| id.is_some() && cert.local_key_id.as_deref() == id);
    let certificate = own.or_else(|| archive.certs.first());
    let certificate = certificate.ok_or(ArchiveError::NoCertificate)?;
    Ok(ClientCertificate {
        der: certificate.cert.as_der().to_vec(),
        key: RsaKey::from_pkcs8(bag.key.as_der()).map_err(ArchiveError::Key)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by OpenSSL 3, also with `-legacy` and an empty password.
    #[test]
    fn archives_of_old_and_new_programs_are_read() {
        let file = |name: &str| std::fs::read(format!("../../tests/fixtures/keys/{name}.pfx")).unwrap();
        let expected =
            RsaKey::from_pem(&std::fs::read_to_string("../../tests/fixtures/keys/pkcs8.pem").unwrap(), "").unwrap();
        for (name, password) in [("aes", "pw"), ("legacy", "")] {
            let read = read(&file(name), password).unwrap();
            assert_eq!(read.key.sign(b"m").unwrap(), expected.sign(b"m").unwrap(), "{name}");
            assert!(read.der.len() > 500);
        }
        for (archive, password) in [(file("aes"), "x"), (b"none".to_vec(), "")] {
            let why = read(&archive, password).unwrap_err().to_string();
            assert!(why.starts_with("could not decode PKCS#12 archive: "), "{why}");
        }
    }
}
