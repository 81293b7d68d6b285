//! Methods: encryption and decryption with given keys.

use super::aes;
use super::external::Programs;
use super::key::{Key, Keys};

/// A method with its keys.
#[derive(Clone, Debug)]
pub enum Method {
    AesGcm {
        keys: Keys,
        aad: Vec<u8>,
    },
    External {
        keys: Option<Keys>,
        programs: Programs,
    },
    /// Data stays as it is.
    Unencrypted,
}

const NO_KEY: &str = "no decryption key available";

impl Method {
    pub fn is_unencrypted(&self) -> bool {
        matches!(self, Method::Unencrypted)
    }

    /// Checks the lengths of keys; of the encryption key only if it is `wanted`.
    pub fn check(&self, wanted: bool) -> Result<(), String> {
        let (keys, check) = match self {
            Method::External { programs, .. } => return programs.check(),
            Method::Unencrypted => return Ok(()),
            Method::AesGcm { keys, .. } => (keys, |key: &Option<Key>, what: &str| {
                let length = key.as_ref().map_or(0, |key| key.bytes().len());
                if aes::KEY_LENGTHS.contains(&length) {
                    return Ok(());
                }
                Err(format!(
                    "AES-GCM requires the key length to be one of: 16, 24, 32, received {length} bytes in the {what} key"
                ))
            }),
        };
        if wanted {
            check(&keys.encryption, "encryption")?;
        }
        if keys.decryption.is_some() { check(&keys.decryption, "decryption") } else { Ok(()) }
    }

    pub async fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let sealed = match self {
            Method::AesGcm { keys, aad } => match &keys.encryption {
                Some(key) => aes::seal(key, aad, plain),
                None => Err("no encryption key available".into()),
            },
            Method::External { keys, programs } => {
                programs.seal(keys.as_ref().and_then(|keys| keys.encryption.as_ref()), plain).await
            }
            Method::Unencrypted => Ok(plain.to_vec()),
        };
        sealed.map_err(|why| format!("encryption failed: {why}"))
    }

    pub async fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, String> {
        let plain = match self {
            Method::AesGcm { keys, aad } => match &keys.decryption {
                Some(key) => aes::open(key, aad, sealed.to_vec()),
                None => return Err(NO_KEY.into()),
            },
            Method::External { keys: Some(keys), .. } if keys.decryption.is_none() => return Err(NO_KEY.into()),
            Method::External { keys, programs } => {
                programs.open(keys.as_ref().and_then(|keys| keys.decryption.as_ref()), sealed).await
            }
            Method::Unencrypted => Ok(sealed.to_vec()),
        };
        plain.map_err(|why| format!("decryption failed: {why}"))
    }
}
