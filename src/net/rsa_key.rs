//! RSA keys that requests and tokens are signed with, as they stand in PEM files.
//!
//! Owns the forms of keys: PKCS #1 and PKCS #8, each of them also encrypted. Never knows what is signed.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::cipher::{AES_128, AES_192, AES_256, DecryptionContext, PaddedBlockDecryptingKey, UnboundCipherKey};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};

const PEM_FORMS: &str = "it must be an RSA key of 2048 to 8192 bits, as PEM";

/// A private key. Cheap to clone, never shown.
#[derive(Clone)]
pub struct RsaKey(Arc<RsaKeyPair>);

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RsaKey")
    }
}

/// A block of a PEM file.
struct Pem {
    kind: String,
    /// The method and the initialization vector, if the block is encrypted in the way of old OpenSSL.
    encryption: Option<String>,
    content: Vec<u8>,
}

impl RsaKey {
    /// The first private key of a PEM file. The password counts only for encrypted keys. The error never shows the key.
    pub fn from_pem(text: &str, password: &str) -> Result<RsaKey, String> {
        let block = private_key_block(text).ok_or_else(|| format!("no private key was found: {PEM_FORMS}"))?;
        if let Some(method) = &block.encryption {
            return RsaKey::from_pkcs1(&decrypted(&block.content, method, password)?);
        }
        match block.kind.as_str() {
            "RSA PRIVATE KEY" => RsaKey::from_pkcs1(&block.content),
            "PRIVATE KEY" => RsaKey::from_pkcs8(&block.content),
            "ENCRYPTED PRIVATE KEY" => {
                if password.is_empty() {
                    return Err("the private key is encrypted, and there is no password for it".to_owned());
                }
                let key = pkcs8::EncryptedPrivateKeyInfoRef::try_from(&*block.content);
                let key = key.map_err(|_| "the encrypted private key is damaged".to_owned())?;
                let plain = key.decrypt(password).map_err(
                    |_| "the private key was not decrypted: the password is wrong, or the method is not supported",
                )?;
                RsaKey::from_pkcs8(plain.as_bytes())
            }
            kind => Err(format!("keys of the form {kind:?} are not supported: {PEM_FORMS}")),
        }
    }

    /// DER of PKCS #8.
    pub fn from_pkcs8(der: &[u8]) -> Result<RsaKey, String> {
        let key = RsaKeyPair::from_pkcs8(der);
        key.map(|key| RsaKey(Arc::new(key))).map_err(|e| format!("the private key is not valid ({e}): {PEM_FORMS}"))
    }

    fn from_pkcs1(der: &[u8]) -> Result<RsaKey, String> {
        let key = RsaKeyPair::from_der(der);
        key.map(|key| RsaKey(Arc::new(key))).map_err(|e| format!("the private key is not valid ({e}): {PEM_FORMS}"))
    }

    /// A new key of 2048 bits.
    pub fn generate() -> Result<RsaKey, String> {
        let key = RsaKeyPair::generate(KeySize::Rsa2048);
        key.map(|key| RsaKey(Arc::new(key))).map_err(|_| "a key was not created".to_owned())
    }

    /// DER of the public key, as X.509 has it.
    pub fn public_der(&self) -> Result<Vec<u8>, String> {
        let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(self.0.public_key());
        der.map(|der| der.as_ref().to_vec()).map_err(|_| "the public key was not encoded".to_owned())
    }

    /// The signature of a message: RSASSA-PKCS1-v1_5 with SHA-256.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        let signed = self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.map(|()| signature).map_err(|_| "the signature was not made".to_owned())
    }
}

/// DER of the first certificate of a PEM file.
pub fn certificate_der(text: &str) -> Option<Vec<u8>> {
    blocks(text).find(|block| block.kind == "CERTIFICATE").map(|block| block.content)
}

fn private_key_block(text: &str) -> Option<Pem> {
    blocks(text).find(|block| block.kind.ends_with("PRIVATE KEY"))
}

fn blocks(mut rest: &str) -> impl Iterator<Item = Pem> + '_ {
    std::iter::from_fn(move || {
        loop {
            let (_, body) = rest.split_once("-----BEGIN ")?;
            rest = body;
            let Some((kind, body)) = body.split_once("-----") else { continue };
            let Some((body, after)) = body.split_once(&format!("-----END {kind}-----")) else { continue };
            rest = after;
            let (headers, lines): (Vec<&str>, Vec<&str>) = body.lines().partition(|line| line.contains(':'));
            let encryption = headers.iter().find_map(|line| line.strip_prefix("DEK-Info:"));
            let digits: String = lines.iter().flat_map(|line| line.chars()).filter(|c| !c.is_whitespace()).collect();
            if let Ok(content) = STANDARD.decode(digits) {
                let encryption = encryption.map(|method| method.trim().to_owned());
                return Some(Pem { kind: kind.to_owned(), encryption, content });
            }
        }
    })
}

/// The content of a block that old OpenSSL encrypted: the key is made of MD5 hashes of the password and the vector.
fn decrypted(content: &[u8], method: &str, password: &str) -> Result<Vec<u8>, String> {
    if password.is_empty() {
        return Err("the private key is encrypted, and there is no password for it".to_owned());
    }
    let unsupported = || {
        format!("the private key is encrypted with {method:?}, which is not supported: convert it to PKCS #8 with AES")
    };
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
    let failed = |_| "the private key was not decrypted: the password is wrong".to_owned();
    let key = UnboundCipherKey::new(algorithm, &key[..length]).and_then(PaddedBlockDecryptingKey::cbc_pkcs7);
    let mut content = content.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(vector));
    let plain = key.map_err(failed)?.decrypt(&mut content, context).map_err(failed)?;
    Ok(plain.to_vec())
}

#[cfg(test)]
mod tests;
