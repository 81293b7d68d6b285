//! The signatures that the user requires of packages.

use std::fmt;

use super::{Authentication, AuthenticationError};

/// The least that has to be known; the later the more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// The rules of the source.
    #[default]
    None,
    /// Signed by a key that its registry names.
    Signed,
    /// Signed by a partner, or better.
    Partner,
    /// Signed by the makers of the language.
    Official,
}

impl Demand {
    /// From a setting: `signed`, `partner`, `official`. The error is for people.
    pub fn parse(text: &str) -> Result<Demand, String> {
        match text {
            "signed" => Ok(Demand::Signed),
            "partner" => Ok(Demand::Partner),
            "official" => Ok(Demand::Official),
            other => Err(format!("{other:?} is none of \"signed\", \"partner\" and \"official\"")),
        }
    }

    /// Whether what was found is enough.
    pub fn check(self, found: &Authentication) -> Result<(), AuthenticationError> {
        let enough = match found {
            Authentication::Unauthenticated | Authentication::VerifiedChecksum => Demand::None,
            Authentication::Community { .. } => Demand::Signed,
            Authentication::Partner { .. } => Demand::Partner,
            Authentication::Official { .. } => Demand::Official,
        };
        match self <= enough {
            true => Ok(()),
            false => Err(AuthenticationError::Demanded { demanded: self, found: found.clone() }),
        }
    }

    /// What is said of a package that is not enough.
    pub(super) fn explain(self, found: &Authentication, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match found {
            Authentication::Unauthenticated => f.write_str("the provider is not signed, and nothing vouches for it")?,
            Authentication::VerifiedChecksum => {
                f.write_str("the provider is not signed, only its checksum is known")?
            }
            signed => write!(f, "the provider is {}", signed.with_key())?,
        }
        let wanted = match self {
            Demand::None => return Ok(()),
            Demand::Signed => "signed providers",
            Demand::Partner => "providers signed by HashiCorp or one of its partners",
            Demand::Official => "providers signed by HashiCorp",
        };
        write!(f, "; your settings (TERRANE_REQUIRE_SIGNATURES) allow only {wanted}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_compared_with_the_demand() {
        let key_id = || "0123456789ABCDEF".to_owned();
        let found = [
            Authentication::Unauthenticated,
            Authentication::VerifiedChecksum,
            Authentication::Community { key_id: key_id() },
            Authentication::Partner { key_id: key_id() },
            Authentication::Official { key_id: key_id() },
        ];
        for (demand, first) in [(Demand::None, 0), (Demand::Signed, 2), (Demand::Partner, 3), (Demand::Official, 4)] {
            let enough: Vec<bool> = found.iter().map(|f| demand.check(f).is_ok()).collect();
            assert_eq!(enough, (0..5).map(|i| i >= first).collect::<Vec<_>>(), "{demand:?}");
        }
    }

    #[test]
    fn refusals_name_the_signature_and_the_demand() {
        let said = |demand: Demand, found| demand.check(&found).unwrap_err().to_string();
        assert_eq!(
            said(Demand::Signed, Authentication::Unauthenticated),
            "the provider is not signed, and nothing vouches for it; your settings (TERRANE_REQUIRE_SIGNATURES) allow only \
             signed providers"
        );
        assert_eq!(
            said(Demand::Official, Authentication::Community { key_id: "0123456789ABCDEF".into() }),
            "the provider is self-signed, key ID 0123456789ABCDEF; your settings (TERRANE_REQUIRE_SIGNATURES) allow only \
             providers signed by HashiCorp"
        );
        assert!(Demand::parse("Signed").unwrap_err().contains("none of"));
    }
}
