//! RSA keys that requests and tokens are signed with, as they stand in PEM files.
//!
//! Owns the forms of keys: PKCS #1 and PKCS #8, each of them also encrypted. Never knows what is signed.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::cipher::{AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::error::KeyRejected;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use gotext::pem::{Block, CERTIFICATE, PKCS8_KEY, RSA_KEY, loose_blocks};
use md5::{Digest, Md5};

const PEM_FORMS: &str = "it must be an RSA key of 2048 to 8192 bits, as PEM";

/// Why a key cannot be read or used. The texts never show the key.
#[derive(Debug)]
pub enum KeyError {
    /// There is no private key in the text.
    Missing,
    /// The key is of another form.
    Form(String),
    Invalid(KeyRejected),
    NoPassword,
    /// The encrypted key is not one.
    Damaged,
    /// The method of old OpenSSL that it is encrypted with is not known here.
    Method(String),
    WrongPassword,
    /// The password is wrong, or the method is not known here.
    Decryption,
    Generation,
    Encoding,
    Signature,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Missing => write!(f, "no private key was found: {PEM_FORMS}"),
            KeyError::Form(kind) => write!(f, "keys of the form {kind:?} are not supported: {PEM_FORMS}"),
            KeyError::Invalid(why) => write!(f, "the private key is not valid ({why}): {PEM_FORMS}"),
            KeyError::NoPassword => f.write_str("the private key is encrypted, and there is no password for it"),
            KeyError::Damaged => f.write_str("the encrypted private key is damaged"),
            KeyError::Method(method) => write!(
                f,
                "the private key is encrypted with {method:?}, which is not supported: convert it to PKCS #8 with AES"
            ),
            KeyError::WrongPassword => f.write_str("the private key was not decrypted: the password is wrong"),
            KeyError::Decryption => {
                f.write_str("the private key was not decrypted: the password is wrong, or the method is not supported")
            }
            KeyError::Generation => f.write_str("a key was not created"),
            KeyError::Encoding => f.write_str("the public key was not encoded"),
            KeyError::Signature => f.write_str("the signature was not made"),
        }
    }
}

/// For callers whose errors are texts.
impl From<KeyError> for String {
    fn from(error: KeyError) -> String {
        error.to_string()
    }
}

/// A private key. Cheap to clone, never shown.
#[derive(Clone)]
pub struct RsaKey(Arc<RsaKeyPair>);

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaKey")
    }
}

impl RsaKey {
    /// The first private key of a PEM file. The password counts only for encrypted keys.
    pub fn from_pem(text: &str, password: &str) -> Result<RsaKey, KeyError> {
        let block = private_key_block(text).ok_or(KeyError::Missing)?;
        // The method and the initialization vector, if the block is encrypted in the way of old OpenSSL.
        if let Some(method) = block.header("DEK-Info") {
            return RsaKey::from_pkcs1(&decrypted(&block.contents, method, password)?);
        }
        match block.kind.as_str() {
            RSA_KEY => RsaKey::from_pkcs1(&block.contents),
            PKCS8_KEY => RsaKey::from_pkcs8(&block.contents),
            "ENCRYPTED PRIVATE KEY" => {
                if password.is_empty() {
                    return Err(KeyError::NoPassword);
                }
                let key = pkcs8::EncryptedPrivateKeyInfoRef::try_from(&*block.contents);
                let key = key.map_err(|_| KeyError::Damaged)?;
                let plain = key.decrypt(password).map_err(|_| KeyError::Decryption)?;
                RsaKey::from_pkcs8(plain.as_bytes())
            }
            kind => Err(KeyError::Form(kind.to_owned())),
        }
    }

    /// DER of PKCS #8.
    pub fn from_pkcs8(der: &[u8]) -> Result<RsaKey, KeyError> {
        let key = RsaKeyPair::from_pkcs8(der);
        key.map(|key| RsaKey(Arc::new(key))).map_err(KeyError::Invalid)
    }

    fn from_pkcs1(der: &[u8]) -> Result<RsaKey, KeyError> {
        let key = RsaKeyPair::from_der(der);
        key.map(|key| RsaKey(Arc::new(key))).map_err(KeyError::Invalid)
    }

    /// A new key of 2048 bits.
    pub fn generate() -> Result<RsaKey, KeyError> {
        let key = RsaKeyPair::generate(KeySize::Rsa2048);
        key.map(|key| RsaKey(Arc::new(key))).map_err(|_| KeyError::Generation)
    }

    /// DER of the public key, as X.509 has it.
    pub fn public_der(&self) -> Result<Vec<u8>, KeyError> {
        let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(self.0.public_key());
        der.map(|der| der.as_ref().to_vec()).map_err(|_| KeyError::Encoding)
    }

    /// The signature of a message: RSASSA-PKCS1-v1_5 with SHA-256.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        let signed = self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.map(|()| signature).map_err(|_| KeyError::Signature)
    }
}

/// DER of the first certificate of a PEM file.
pub fn certificate_der(text: &str) -> Option<Vec<u8>> {
    loose_blocks(text).find(|block| block.kind == CERTIFICATE).map(|block| block.contents)
}

fn private_key_block(text: &str) -> Option<Block> {
    loose_blocks(text).find(|block| block.kind.ends_with("PRIVATE KEY"))
}

/// The content of a block that old OpenSSL encrypted: the key is made of MD5 hashes of the password and the vector.
fn decrypted(content: &[u8], method: &str, password: &str) -> Result<Vec<u8>, KeyError> {
    if password.is_empty() {
        return Err(KeyError::NoPassword);
    }
    let unsupported = || KeyError::Method(method.to_owned());
    let (name, vector) = method.split_once(',').ok_or_else(unsupported)?;
    let (algorithm, length) = match name {
        "AES-128-CBC" => (&AES_128, 16),
        "AES-192-CBC" => (&AES_192, 24),
        "AES-256-CBC" => (&AES_256, 32),
        _ => return Err(unsupported()),
    };
    let vector = u128::from_str_radix(vector.trim(), 16).map_err(|_| unsupported())?.to_be_bytes();
    let (mut key, mut last) = (Vec::new(), Vec::new());
    while key.len() < length {
        last = Md5::digest([&last, password.as_bytes(), &vector[..8]].concat()).to_vec();
        key.extend(&last);
    }
    let failed = |_| KeyError::WrongPassword;
    let key = UnboundCipherKey::new(algorithm, &key[..length]).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let mut content = content.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(vector));
    let plain = key.map_err(failed)?.decrypt(&mut content, context).map_err(failed)?;
    Ok(plain.to_vec())
}

#[cfg(test)]
mod tests;
