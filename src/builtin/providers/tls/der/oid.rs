//! Object identifiers, as their components.

/// The components of an object identifier, two at least.
pub type Oid = [u32];

pub const RSA_ENCRYPTION: &Oid = &[1, 2, 840, 113549, 1, 1, 1];
pub const RSA_SHA1: &Oid = &[1, 2, 840, 113549, 1, 1, 5];
pub const RSA_PSS: &Oid = &[1, 2, 840, 113549, 1, 1, 10];
pub const RSA_SHA256: &Oid = &[1, 2, 840, 113549, 1, 1, 11];
pub const RSA_SHA384: &Oid = &[1, 2, 840, 113549, 1, 1, 12];
pub const RSA_SHA512: &Oid = &[1, 2, 840, 113549, 1, 1, 13];
pub const RSA_MD5: &Oid = &[1, 2, 840, 113549, 1, 1, 4];
pub const MGF1: &Oid = &[1, 2, 840, 113549, 1, 1, 8];
/// The other identifier of SHA-1 with RSA, that some old tools wrote.
pub const ISO_RSA_SHA1: &Oid = &[1, 3, 14, 3, 2, 29];

pub const EC_PUBLIC_KEY: &Oid = &[1, 2, 840, 10045, 2, 1];
pub const SECP224R1: &Oid = &[1, 3, 132, 0, 33];
pub const PRIME256V1: &Oid = &[1, 2, 840, 10045, 3, 1, 7];
pub const SECP384R1: &Oid = &[1, 3, 132, 0, 34];
pub const SECP521R1: &Oid = &[1, 3, 132, 0, 35];
pub const ECDSA_SHA1: &Oid = &[1, 2, 840, 10045, 4, 1];
pub const ECDSA_SHA256: &Oid = &[1, 2, 840, 10045, 4, 3, 2];
pub const ECDSA_SHA384: &Oid = &[1, 2, 840, 10045, 4, 3, 3];
pub const ECDSA_SHA512: &Oid = &[1, 2, 840, 10045, 4, 3, 4];

pub const X25519: &Oid = &[1, 3, 101, 110];
pub const ED25519: &Oid = &[1, 3, 101, 112];
pub const DSA: &Oid = &[1, 2, 840, 10040, 4, 1];
pub const DSA_SHA1: &Oid = &[1, 2, 840, 10040, 4, 3];
pub const DSA_SHA256: &Oid = &[2, 16, 840, 1, 101, 3, 4, 3, 2];

pub const SHA256: &Oid = &[2, 16, 840, 1, 101, 3, 4, 2, 1];
pub const SHA384: &Oid = &[2, 16, 840, 1, 101, 3, 4, 2, 2];
pub const SHA512: &Oid = &[2, 16, 840, 1, 101, 3, 4, 2, 3];

pub const COMMON_NAME: &Oid = &[2, 5, 4, 3];
pub const SERIAL_NUMBER: &Oid = &[2, 5, 4, 5];
pub const COUNTRY: &Oid = &[2, 5, 4, 6];
pub const LOCALITY: &Oid = &[2, 5, 4, 7];
pub const PROVINCE: &Oid = &[2, 5, 4, 8];
pub const STREET_ADDRESS: &Oid = &[2, 5, 4, 9];
pub const ORGANIZATION: &Oid = &[2, 5, 4, 10];
pub const ORGANIZATIONAL_UNIT: &Oid = &[2, 5, 4, 11];
pub const POSTAL_CODE: &Oid = &[2, 5, 4, 17];
pub const EMAIL_ADDRESS: &Oid = &[1, 2, 840, 113549, 1, 9, 1];
pub const EXTENSION_REQUEST: &Oid = &[1, 2, 840, 113549, 1, 9, 14];

pub const SUBJECT_KEY_ID: &Oid = &[2, 5, 29, 14];
pub const KEY_USAGE: &Oid = &[2, 5, 29, 15];
pub const SUBJECT_ALT_NAME: &Oid = &[2, 5, 29, 17];
pub const BASIC_CONSTRAINTS: &Oid = &[2, 5, 29, 19];
pub const NAME_CONSTRAINTS: &Oid = &[2, 5, 29, 30];
pub const CRL_DISTRIBUTION_POINTS: &Oid = &[2, 5, 29, 31];
pub const CERTIFICATE_POLICIES: &Oid = &[2, 5, 29, 32];
pub const AUTHORITY_KEY_ID: &Oid = &[2, 5, 29, 35];
pub const EXTENDED_KEY_USAGE: &Oid = &[2, 5, 29, 37];
pub const AUTHORITY_INFO_ACCESS: &Oid = &[1, 3, 6, 1, 5, 5, 7, 1, 1];

/// The usual notation, with dots.
pub fn dotted(oid: &Oid) -> String {
    oid.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}
