//! The signatures that the user requires of packages.

use std::fmt;

use super::trust::Authentication;

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

/// A text that is not the name of a demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDemand(String);

impl fmt::Display for UnknownDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is none of \"signed\", \"partner\" and \"official\"", self.0)
    }
}

impl std::error::Error for UnknownDemand {}

/// What is known of a package is less than what the user requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    demanded: Demand,
    found: Authentication,
}

impl std::error::Error for Unmet {}

impl Demand {
    /// From a setting: `signed`, `partner`, `official`.
    pub fn parse(text: &str) -> Result<Demand, UnknownDemand> {
        match text {
            "signed" => Ok(Demand::Signed),
            "partner" => Ok(Demand::Partner),
            "official" => Ok(Demand::Official),
            other => Err(UnknownDemand(other.to_owned())),
        }
    }

    /// Whether what was found is enough.
    pub fn check(self, found: &Authentication) -> Result<(), Unmet> {
        let enough = match found {
            Authentication::Unauthenticated | Authentication::VerifiedChecksum => Demand::None,
            Authentication::Community { .. } => Demand::Signed,
            Authentication::Partner { .. } => Demand::Partner,
            Authentication::Official { .. } => Demand::Official,
        };
        match self <= enough {
            true => Ok(()),
            false => Err(Unmet { demanded: self, found: found.clone() }),
        }
    }
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Authentication::Unauthenticated => f.write_str("the provider is not signed, and nothing vouches for it")?,
            Authentication::VerifiedChecksum => {
                f.write_str("the provider is not signed, only its checksum is known")?
            }
            signed => write!(f, "the provider is {}", signed.with_key())?,
        }
        let wanted = match self.demanded {
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
        assert!(Demand::parse("Signed").unwrap_err().to_string().contains("none of"));
    }
}
