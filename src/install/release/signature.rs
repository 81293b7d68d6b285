//! Detached OpenPGP signatures with a key from a file.

use std::fmt;
use std::io::Write as _;

use sequoia_openpgp::cert::Cert;
use sequoia_openpgp::crypto::{KeyPair, Password};
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{SecretParts, UnspecifiedRole};
use sequoia_openpgp::parse::Parse as _;
use sequoia_openpgp::policy::StandardPolicy;
use sequoia_openpgp::serialize::stream::{Message, Signer};
use sequoia_openpgp::types::PublicKeyAlgorithm;

/// Why a key cannot sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigningError {
    NotAKey(String),
    PublicKey,
    NoUsableKey,
    Password,
    /// The library of OpenPGP failed: why.
    Library(String),
}

impl fmt::Display for SigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SigningError::NotAKey(why) => write!(f, "it is not an OpenPGP key: {why}"),
            SigningError::PublicKey => {
                f.write_str("it is a public key; signing needs the secret key (gpg --export-secret-keys)")
            }
            SigningError::NoUsableKey => {
                f.write_str("it has no secret key that may sign, is not revoked and has not expired")
            }
            SigningError::Password => f.write_str("the password is wrong"),
            SigningError::Library(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SigningError {}

/// A secret key that may sign; perhaps still encrypted with a password.
pub struct SigningKey {
    key: Key<SecretParts, UnspecifiedRole>,
    /// Of the primary key: 16 hexadecimal digits.
    pub id: String,
}

impl SigningKey {
    /// Reads a secret key, armored or not.
    pub fn read(bytes: &[u8]) -> Result<SigningKey, SigningError> {
        let cert = Cert::from_bytes(bytes).map_err(|e| SigningError::NotAKey(e.to_string()))?;
        if !cert.is_tsk() {
            return Err(SigningError::PublicKey);
        }
        let policy = StandardPolicy::new();
        let keys = cert.keys().with_policy(&policy, None).alive().revoked(false).for_signing().secret();
        let key = keys.map(|key| key.key().clone()).next();
        let key = key.ok_or(SigningError::NoUsableKey)?;
        Ok(SigningKey { key, id: cert.keyid().to_hex() })
    }

    /// Whether a password is needed.
    pub fn is_encrypted(&self) -> bool {
        self.key.secret().is_encrypted()
    }

    /// Decrypts the key with its password.
    pub fn decrypt(self, password: &str) -> Result<SigningKey, SigningError> {
        let key = self.key.decrypt_secret(&Password::from(password)).map_err(|_| SigningError::Password)?;
        Ok(SigningKey { key, id: self.id })
    }

    /// Whether the public Terraform registry takes signatures of this key.
    pub fn is_widely_accepted(&self) -> bool {
        #[allow(deprecated, reason = "registries still accept it")]
        let dsa = PublicKeyAlgorithm::DSA;
        let algorithm = self.key.pk_algo();
        algorithm == PublicKeyAlgorithm::RSAEncryptSign || algorithm == dsa
    }

    /// Signs a document: the signature is detached and not armored.
    pub fn sign(self, document: &[u8]) -> Result<Vec<u8>, SigningError> {
        let sign = || -> sequoia_openpgp::Result<Vec<u8>> {
            let pair: KeyPair = self.key.into_keypair()?;
            let mut signature = Vec::new();
            let mut signer = Signer::new(Message::new(&mut signature), pair)?.detached().build()?;
            signer.write_all(document)?;
            signer.finalize()?;
            Ok(signature)
        };
        sign().map_err(|e| SigningError::Library(e.to_string()))
    }
}
