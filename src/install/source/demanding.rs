//! A source whose packages must be signed as the user demands, wherever they come from.

use async_trait::async_trait;
use model::addr::Provider;
use model::deps::{Hash, Version};

use super::{Available, Package, PackageLocation, Source, SourceError};
use crate::authenticate::demand::Demand;
use crate::authenticate::error::AuthenticationError;
use crate::authenticate::{Archive, Authentication, Step, Steps};

pub struct Demanding<S> {
    pub source: S,
    pub demand: Demand,
}

#[async_trait]
impl<S: Source> Source for Demanding<S> {
    async fn versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        self.source.versions(provider).await
    }

    async fn package(&self, provider: &Provider, version: &Version, platform: &str) -> Result<Package, SourceError> {
        let mut package = self.source.package(provider, version, platform).await?;
        if self.demand == Demand::None {
            return Ok(package);
        }
        if let PackageLocation::Unpacked(_) = package.location {
            // Folders have no signatures.
            let refused = self.demand.check(&Authentication::Unauthenticated);
            refused.map_err(|problem| SourceError::Failed(problem.to_string()))?;
        }
        let enough = Enough { steps: std::mem::take(&mut package.steps), demand: self.demand };
        package.steps = Steps(vec![Box::new(enough)]);
        Ok(package)
    }

    fn describe(&self, provider: &Provider) -> String {
        self.source.describe(provider)
    }
}

/// What the steps find is enough.
struct Enough {
    steps: Steps,
    demand: Demand,
}

impl Step for Enough {
    fn check(&self, archive: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
        let found = self.steps.check(archive)?;
        self.demand.check(&found)?;
        Ok(found)
    }

    fn acceptable_hashes(&self) -> Vec<Hash> {
        self.steps.acceptable_hashes()
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::authenticate::checksum::ArchiveChecksum;

    struct Shelf {
        unpacked: bool,
        steps: fn() -> Steps,
    }

    #[async_trait]
    impl Source for Shelf {
        async fn versions(&self, _: &Provider) -> Result<Available, SourceError> {
            Ok(Available::default())
        }

        async fn package(&self, _: &Provider, _: &Version, _: &str) -> Result<Package, SourceError> {
            let path = PathBuf::from("x");
            let location = if self.unpacked { PackageLocation::Unpacked(path) } else { PackageLocation::Archive(path) };
            Ok(Package { steps: (self.steps)(), ..Package::local(location) })
        }

        fn describe(&self, _: &Provider) -> String {
            String::new()
        }
    }

    struct By(Authentication);

    impl Step for By {
        fn check(&self, _: &Archive<'_>) -> Result<Authentication, AuthenticationError> {
            Ok(self.0.clone())
        }
    }

    fn outcome(unpacked: bool, steps: fn() -> Steps, demand: Demand) -> String {
        let source = Demanding { source: Shelf { unpacked, steps }, demand };
        let provider = Provider::default_for("thing");
        let version = Version::parse_exact("1.0.0").unwrap();
        let asked = source.package(&provider, &version, "linux_amd64");
        let package = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(asked);
        match package.map(|package| package.steps.check(&Archive { path: Path::new("x"), sha256: &[7; 32] })) {
            Ok(Ok(found)) => found.to_string(),
            Ok(Err(problem)) => problem.to_string(),
            Err(SourceError::Failed(why)) => why,
            Err(_) => unreachable!(),
        }
    }

    #[test]
    fn weaker_packages_are_refused_wherever_they_come_from() {
        let unsigned = || Steps(vec![Box::new(ArchiveChecksum { sha256: [7; 32] })]);
        let signed = || Steps(vec![Box::new(By(Authentication::Community { key_id: "0123456789ABCDEF".into() }))]);
        assert_eq!(outcome(true, Steps::default, Demand::None), "unauthenticated");
        assert_eq!(outcome(false, unsigned, Demand::None), "verified checksum");
        assert_eq!(outcome(false, signed, Demand::Signed), "self-signed");
        for (unpacked, steps, demand, start) in [
            (true, Steps::default as fn() -> Steps, Demand::Signed, "the provider is not signed, and nothing vouches"),
            (false, Steps::default, Demand::Signed, "the provider is not signed, and nothing vouches"),
            (false, unsigned, Demand::Signed, "the provider is not signed, only its checksum"),
            (false, signed, Demand::Partner, "the provider is self-signed, key ID 0123456789ABCDEF;"),
        ] {
            let said = outcome(unpacked, steps, demand);
            assert!(said.starts_with(start), "{said}");
        }
        let wrong = || Steps(vec![Box::new(ArchiveChecksum { sha256: [8; 32] })]);
        assert!(outcome(false, wrong, Demand::Signed).starts_with("archive has incorrect checksum"));
    }
}
