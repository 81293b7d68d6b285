//! AES-GCM: a nonce of 12 bytes, the encrypted data, a tag of 16 bytes.

use std::fmt;

use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};

use super::key::Key;

/// The lengths that keys may have.
pub const KEY_LENGTHS: [usize; 3] = [16, 24, 32];

/// Why something cannot be encrypted or decrypted with a key. The texts are OpenTofu's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AesError {
    /// No key of AES has this number of bytes.
    KeyLength(usize),
    /// The key is refused for another reason.
    Key,
    Random(NoRandomBytes),
    Encryption,
    /// There is nothing to decrypt.
    Empty,
    /// There is less than a nonce to decrypt.
    TooShort,
    /// The data was encrypted with another key, or changed since.
    Authentication,
}

impl fmt::Display for AesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AesError::KeyLength(length) => {
                write!(f, "failed to create AES cypher block (crypto/aes: invalid key size {length})")
            }
            AesError::Key => f.write_str("failed to create AES GCM"),
            AesError::Random(error) => error.fmt(f),
            AesError::Encryption => f.write_str("unexpected error"),
            AesError::Empty => f.write_str("cannot decrypt empty data"),
            AesError::TooShort => f.write_str("cannot decrypt data because it is too small (likely data corruption)"),
            AesError::Authentication => f.write_str("cipher: message authentication failed"),
        }
    }
}

impl std::error::Error for AesError {}

impl From<NoRandomBytes> for AesError {
    fn from(error: NoRandomBytes) -> AesError {
        AesError::Random(error)
    }
}

/// The system gives no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomBytes;

impl fmt::Display for NoRandomBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("could not generate random bytes")
    }
}

impl std::error::Error for NoRandomBytes {}

fn cipher(key: &[u8]) -> Result<LessSafeKey, AesError> {
    let algorithm: &Algorithm = match key.len() {
        16 => &AES_128_GCM,
        24 => &AES_192_GCM,
        32 => &AES_256_GCM,
        length => return Err(AesError::KeyLength(length)),
    };
    let key = UnboundKey::new(algorithm, key).map_err(|_| AesError::Key)?;
    Ok(LessSafeKey::new(key))
}

/// Encrypts under a new nonce.
pub fn seal(key: &Key, aad: &[u8], plain: &[u8]) -> Result<Vec<u8>, AesError> {
    let cipher = cipher(key.bytes())?;
    let mut nonce = [0; NONCE_LEN];
    random(&mut nonce)?;
    let mut out = Vec::with_capacity(NONCE_LEN + plain.len() + cipher.algorithm().tag_len());
    out.extend_from_slice(&nonce);
    out.extend_from_slice(plain);
    let tag = cipher
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut out[NONCE_LEN..])
        .map_err(|_| AesError::Encryption)?;
    out.extend_from_slice(tag.as_ref());
    Ok(out)
}

/// Decrypts in place.
pub fn open(key: &Key, aad: &[u8], mut sealed: Vec<u8>) -> Result<Vec<u8>, AesError> {
    if sealed.is_empty() {
        return Err(AesError::Empty);
    }
    let cipher = cipher(key.bytes())?;
    if sealed.len() < NONCE_LEN {
        return Err(AesError::TooShort);
    }
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&sealed[..NONCE_LEN]);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let opened = cipher.open_in_place(nonce, Aad::from(aad), &mut sealed[NONCE_LEN..]);
    let length = opened.map(|plain| plain.len()).map_err(|_| AesError::Authentication)?;
    sealed.copy_within(NONCE_LEN..NONCE_LEN + length, 0);
    sealed.truncate(length);
    Ok(sealed)
}

/// Fills with random bytes.
pub fn random(bytes: &mut [u8]) -> Result<(), NoRandomBytes> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| NoRandomBytes)
}

/// Many small pieces under one key that is made for them, each bound to its place: what a journal is written with.
#[derive(Clone)]
pub struct SealedFrames(Key);

impl SealedFrames {
    /// With a new key.
    pub fn new() -> Result<SealedFrames, NoRandomBytes> {
        let mut key = [0; 32];
        random(&mut key)?;
        Ok(SealedFrames(Key::new(key)))
    }

    /// With the key of earlier frames.
    pub fn of_key(key: &[u8]) -> SealedFrames {
        SealedFrames(Key::new(key))
    }

    /// The key, to be kept encrypted.
    pub fn key(&self) -> &[u8] {
        self.0.bytes()
    }

    pub fn seal(&self, place: u64, plain: &[u8]) -> Result<Vec<u8>, AesError> {
        seal(&self.0, &place.to_be_bytes(), plain)
    }

    pub fn open(&self, place: u64, sealed: Vec<u8>) -> Result<Vec<u8>, AesError> {
        open(&self.0, &place.to_be_bytes(), sealed)
    }
}

impl std::fmt::Debug for SealedFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealedFrames(sensitive)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 3 of the GCM specification (McGrew, Viega), its nonce in front.
    #[test]
    fn the_layout_is_nonce_data_tag() {
        let bytes = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
        };
        let plain = bytes(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
        );
        let sealed = bytes(
            "cafebabefacedbaddecaf88842831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4",
        );
        let key = Key::new(bytes("feffe9928665731c6d6a8f9467308308"));
        assert_eq!(open(&key, b"", sealed).unwrap(), plain);
    }

    #[test]
    fn damage_is_noticed() {
        let key = Key::new([7; 16]);
        let sealed = seal(&key, b"a", b"text").unwrap();
        for i in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[i] ^= 1;
            assert_eq!(open(&key, b"a", damaged).unwrap_err(), AesError::Authentication);
        }
        for (sealed, why) in [
            (Vec::new(), "cannot decrypt empty data"),
            (vec![1; 11], "cannot decrypt data because it is too small (likely data corruption)"),
            (sealed[..20].to_vec(), "cipher: message authentication failed"),
        ] {
            assert_eq!(open(&key, b"a", sealed).unwrap_err().to_string(), why);
        }
        assert!(open(&key, b"b", sealed.clone()).is_err() && open(&Key::new([8; 16]), b"a", sealed).is_err());
    }

    proptest::proptest! {
        #[test]
        fn what_is_sealed_opens(plain: Vec<u8>, aad: Vec<u8>, length in 0usize..3) {
            let key = Key::new(vec![9; KEY_LENGTHS[length]]);
            let sealed = seal(&key, &aad, &plain).unwrap();
            proptest::prop_assert_eq!(open(&key, &aad, sealed).unwrap(), plain);
        }
    }

    #[test]
    fn frames_have_places() {
        let frames = SealedFrames::new().unwrap();
        let sealed = frames.seal(3, b"x").unwrap();
        assert_eq!(SealedFrames::of_key(frames.key()).open(3, sealed.clone()).unwrap(), b"x");
        assert!(frames.open(4, sealed).is_err());
    }
}
