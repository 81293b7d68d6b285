//! What a certificate that is to be issued says.

use crate::providers::tls::alternative_names::AlternativeNames;
use crate::providers::tls::keys::PublicKey;
use crate::providers::tls::name::Name;
use crate::providers::tls::validity::Validity;

/// What a configuration says about a certificate beside its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub allowed_uses: Vec<String>,
    pub is_ca: bool,
    pub max_path_length: Option<i64>,
    pub has_subject_key_id: bool,
    pub has_authority_key_id: bool,
}

impl Options {
    /// The path length that is written. Zero is taken for none, as in the reference.
    pub fn path_length(&self) -> Option<u64> {
        self.max_path_length.and_then(|length| u64::try_from(length).ok()).filter(|length| *length > 0)
    }
}

/// A certificate that is to be issued.
#[derive(Clone, Copy)]
pub struct Template<'a> {
    pub subject: &'a Name,
    pub names: &'a AlternativeNames,
    pub key: &'a PublicKey,
    pub validity: Validity,
    pub serial: u128,
    pub options: &'a Options,
}
