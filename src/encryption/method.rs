//! Methods: encryption and decryption with given keys.

use std::fmt;

use super::aes::{self, AesError};
use super::external::{ProgramError, Programs};
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

/// Why a method cannot be used with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnusableMethod {
    /// A key for AES has a length that AES does not have. `key`: "encryption" or "decryption".
    KeyLength { length: usize, key: &'static str },
    /// A command is missing.
    NoCommand(&'static str),
    /// A command begins with an empty text.
    NoProgram(&'static str),
}

impl fmt::Display for UnusableMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnusableMethod::KeyLength { length, key } => write!(
                f,
                "AES-GCM requires the key length to be one of: 16, 24, 32, received {length} bytes in the {key} key"
            ),
            UnusableMethod::NoCommand(name) => write!(f, "the {name} option is required"),
            UnusableMethod::NoProgram(name) => write!(f, "the first entry of {name} must not be empty"),
        }
    }
}

impl std::error::Error for UnusableMethod {}

/// Why a method cannot encrypt or decrypt something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodError {
    NoDecryptionKey,
    Encryption(Cause),
    Decryption(Cause),
}

/// What failed within a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    NoEncryptionKey,
    Aes(AesError),
    Program(ProgramError),
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MethodError::NoDecryptionKey => f.write_str("no decryption key available"),
            MethodError::Encryption(cause) => write!(f, "encryption failed: {cause}"),
            MethodError::Decryption(cause) => write!(f, "decryption failed: {cause}"),
        }
    }
}

impl std::error::Error for MethodError {}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NoEncryptionKey => f.write_str("no encryption key available"),
            Cause::Aes(error) => error.fmt(f),
            Cause::Program(error) => error.fmt(f),
        }
    }
}

impl Method {
    pub fn is_unencrypted(&self) -> bool {
        matches!(self, Method::Unencrypted)
    }

    /// Checks the lengths of keys; of the encryption key only if it is `wanted`.
    pub fn check(&self, wanted: bool) -> Result<(), UnusableMethod> {
        let keys = match self {
            Method::External { programs, .. } => return check_commands(programs),
            Method::Unencrypted => return Ok(()),
            Method::AesGcm { keys, .. } => keys,
        };
        let check = |key: &Option<Key>, name: &'static str| {
            let length = key.as_ref().map_or(0, |key| key.bytes().len());
            match aes::KEY_LENGTHS.contains(&length) {
                true => Ok(()),
                false => Err(UnusableMethod::KeyLength { length, key: name }),
            }
        };
        if wanted {
            check(&keys.encryption, "encryption")?;
        }
        if keys.decryption.is_some() { check(&keys.decryption, "decryption") } else { Ok(()) }
    }

    pub async fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, MethodError> {
        let sealed = match self {
            Method::AesGcm { keys, aad } => match &keys.encryption {
                Some(key) => aes::seal(key, aad, plain).map_err(Cause::Aes),
                None => Err(Cause::NoEncryptionKey),
            },
            Method::External { keys, programs } => {
                let key = keys.as_ref().and_then(|keys| keys.encryption.as_ref());
                programs.seal(key, plain).await.map_err(Cause::Program)
            }
            Method::Unencrypted => Ok(plain.to_vec()),
        };
        sealed.map_err(MethodError::Encryption)
    }

    pub async fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, MethodError> {
        let plain = match self {
            Method::AesGcm { keys, aad } => match &keys.decryption {
                Some(key) => aes::open(key, aad, sealed.to_vec()).map_err(Cause::Aes),
                None => return Err(MethodError::NoDecryptionKey),
            },
            Method::External { keys: Some(keys), .. } if keys.decryption.is_none() => {
                return Err(MethodError::NoDecryptionKey);
            }
            Method::External { keys, programs } => {
                let key = keys.as_ref().and_then(|keys| keys.decryption.as_ref());
                programs.open(key, sealed).await.map_err(Cause::Program)
            }
            Method::Unencrypted => Ok(sealed.to_vec()),
        };
        plain.map_err(MethodError::Decryption)
    }
}

fn check_commands(programs: &Programs) -> Result<(), UnusableMethod> {
    for (name, command) in [("encrypt_command", &programs.encrypt), ("decrypt_command", &programs.decrypt)] {
        match command.first() {
            None => return Err(UnusableMethod::NoCommand(name)),
            Some(program) if program.is_empty() => return Err(UnusableMethod::NoProgram(name)),
            Some(_) => {}
        }
    }
    Ok(())
}
