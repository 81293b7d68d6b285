//! Client certificates with their keys, as PKCS #12 archives.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use p12_keystore::Pkcs12Archive;

use super::rsa_key::RsaKey;

/// A certificate (DER) and its key.
#[derive(Clone, Debug)]
pub struct ClientCertificate {
    pub der: Vec<u8>,
    pub key: RsaKey,
}

/// Reads the archive that a base64 text or else a file has; None without both.
pub fn of_settings(
    encoded: Option<&str>,
    path: Option<&str>,
    password: &str,
) -> Result<Option<ClientCertificate>, String> {
    let archive = match (encoded, path) {
        (Some(text), _) => {
            let decoded = STANDARD.decode(text.trim());
            decoded.map_err(|e| format!("could not decode client certificate data: {e}"))?
        }
        (None, Some(path)) => {
            std::fs::read(path).map_err(|e| format!("could not read PKCS#12 archive at {path:?}: {e}"))?
        }
        (None, None) => return Ok(None),
    };
    read(&archive, password).map(Some)
}

/// Reads the key of an archive and the certificate that belongs to it: that with the ID of the key, or else the first one.
fn read(archive: &[u8], password: &str) -> Result<ClientCertificate, String> {
    let failed = |why: String| format!("could not decode PKCS#12 archive: {why}");
    let archive = Pkcs12Archive::from_pkcs12(archive, password).map_err(|e| failed(e.to_string()))?;
    let [bag] = archive.keys.as_slice() else {
        return Err(failed(format!("expected exactly one private key, found {}", archive.keys.len())));
    };
    let id = bag.local_key_id.as_ref().map(|id| id.0.as_slice());
    let own = archive.certs.iter().find(|cert| id.is_some() && cert.local_key_id.as_deref() == id);
    let certificate = own.or_else(|| archive.certs.first());
    let certificate = certificate.ok_or_else(|| failed("certificate missing".to_owned()))?;
    Ok(ClientCertificate {
        der: certificate.cert.as_der().to_vec(),
        key: RsaKey::from_pkcs8(bag.key.as_der()).map_err(failed)?,
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
            let why = read(&archive, password).unwrap_err();
            assert!(why.starts_with("could not decode PKCS#12 archive: "), "{why}");
        }
    }
}
