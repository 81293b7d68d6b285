//! What is known of a package's origin.

use std::fmt;

/// Follows a list of packages if one of them has another signer than HashiCorp.
pub const THIRD_PARTY_SIGNERS: &str = "Partner and community providers are signed by their developers.
If you'd like to know more about provider signing, you can read about it here:
https://developer.hashicorp.com/terraform/cli/plugins/signing";

/// What is known of a package's origin; the later the better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authentication {
    /// Nothing vouches for it.
    Unauthenticated,
    /// It is what its source said it would be.
    VerifiedChecksum,
    /// Signed by a key that only the registry vouches for.
    Community { key_id: String },
    /// Signed by a key that the makers of the language vouch for.
    Partner { key_id: String },
    /// Signed by the makers of the language.
    Official { key_id: String },
}

/// As people read it behind a package's name.
impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Authentication::Unauthenticated => "unauthenticated",
            Authentication::VerifiedChecksum => "verified checksum",
            Authentication::Community { .. } => "self-signed",
            Authentication::Partner { .. } => "signed by a HashiCorp partner",
            Authentication::Official { .. } => "signed by HashiCorp",
        })
    }
}

impl Authentication {
    /// The key of those who are not the makers of the language: [`THIRD_PARTY_SIGNERS`] is for people who install such packages.
    pub fn stranger(&self) -> Option<&str> {
        self.key_id().filter(|_| !matches!(self, Authentication::Official { .. }))
    }

    /// The text after a package that was just installed: with the key, unless HashiCorp signed it.
    pub fn with_key(&self) -> String {
        match self {
            Authentication::Community { key_id } | Authentication::Partner { key_id } => {
                format!("{self}, key ID {key_id}")
            }
            _ => self.to_string(),
        }
    }

    /// Has a signature: its acceptable hashes may be locked.
    pub fn is_signed(&self) -> bool {
        self.key_id().is_some()
    }

    /// The key that made the signature: 16 hexadecimal digits.
    pub fn key_id(&self) -> Option<&str> {
        match self {
            Authentication::Unauthenticated | Authentication::VerifiedChecksum => None,
            Authentication::Community { key_id }
            | Authentication::Partner { key_id }
            | Authentication::Official { key_id } => Some(key_id),
        }
    }
}
