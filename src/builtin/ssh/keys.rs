//! Keys as users paste them: private keys, certificates, host keys.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use russh::keys::{Algorithm, Certificate, HashAlg, PrivateKey, PublicKey, PublicKeyOrCertificate, decode_secret_key};

/// Why a key of the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SshKeyError {
    /// There is no key in the text.
    NoKey,
    /// The key has a passphrase, for which there is no prompt.
    Encrypted,
    PrivateKey(String),
    Certificate(String),
    HostKey(String),
}

impl fmt::Display for SshKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SshKeyError::NoKey => f.write_str("Failed to read ssh private key: no key found"),
            SshKeyError::Encrypted => f.write_str(
                "Failed to read ssh private key: password protected keys are\nnot supported. Please decrypt the key prior to use.",
            ),
            SshKeyError::PrivateKey(why) => write!(f, "Failed to parse ssh private key: {why}"),
            SshKeyError::Certificate(why) => write!(f, "failed to parse certificate: {why}"),
            SshKeyError::HostKey(why) => write!(f, "error parsing the host key: {why}"),
        }
    }
}

impl std::error::Error for SshKeyError {}

/// A private key in PEM or OpenSSH form. Encrypted keys are refused, because there is no prompt for the passphrase.
pub fn private_key(text: &str) -> Result<PrivateKey, SshKeyError> {
    if !text.contains("-----BEGIN ") {
        return Err(SshKeyError::NoKey);
    }
    let encrypted = text.contains("Proc-Type: 4,ENCRYPTED") || text.contains("BEGIN ENCRYPTED PRIVATE KEY");
    if encrypted {
        return Err(SshKeyError::Encrypted);
    }
    match decode_secret_key(text, None) {
        Ok(key) if key.is_encrypted() => Err(SshKeyError::Encrypted),
        Ok(key) => Ok(key),
        Err(russh::keys::Error::KeyIsEncrypted) => Err(SshKeyError::Encrypted),
        Err(error) => Err(SshKeyError::PrivateKey(error.to_string())),
    }
}

/// A signed certificate in OpenSSH form (the content of a `-cert.pub` file).
pub fn certificate(text: &str) -> Result<Certificate, SshKeyError> {
    Certificate::from_openssh(text.trim()).map_err(|error| SshKeyError::Certificate(error.to_string()))
}

/// What the server must prove to be.
#[derive(Clone, Debug)]
pub struct HostKey(PublicKey);

impl HostKey {
    /// From `ssh-ed25519 AAAA...`: the server's own key, or that of the authority that signed it.
    pub fn parse(text: &str) -> Result<HostKey, SshKeyError> {
        PublicKey::from_openssh(text.trim()).map(HostKey).map_err(|error| SshKeyError::HostKey(error.to_string()))
    }

    pub fn accepts(&self, server: &PublicKeyOrCertificate) -> bool {
        match server {
            PublicKeyOrCertificate::PublicKey { key, .. } => key.key_data() == self.0.key_data(),
            PublicKeyOrCertificate::Certificate(certificate) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
                certificate.public_key() == self.0.key_data()
                    || certificate.validate_at(now, [&self.0.fingerprint(HashAlg::Sha256)]).is_ok()
            }
        }
    }

    /// The algorithms to ask the server for first, so that a server with several keys shows the one that we know.
    pub fn preferred(&self, known: &[Algorithm]) -> Vec<Algorithm> {
        let own = |algorithm: &&Algorithm| match (algorithm, self.0.algorithm()) {
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (one, other) => **one == other,
        };
        let first = known.iter().filter(own);
        let rest = known.iter().filter(|algorithm| !own(algorithm));
        first.chain(rest).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_keys_say_why() {
        assert_eq!(private_key("nothing").unwrap_err(), SshKeyError::NoKey);
        let encrypted =
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----";
        assert_eq!(private_key(encrypted).unwrap_err(), SshKeyError::Encrypted);
        assert!(
            private_key("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----")
                .unwrap_err()
                .to_string()
                .starts_with("Failed to parse ssh private key: ")
        );
        assert!(HostKey::parse("x").is_err());
        assert!(certificate("x").is_err());
    }
}
