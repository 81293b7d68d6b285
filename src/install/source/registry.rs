//! A provider's own registry. Not reachable yet: it says so in the way in which an unreachable registry is reported.

use crate::model::addr::Provider;
use crate::model::deps::Version;

use super::{PackageLocation, Source, SourceError};

pub struct Registry;

impl Registry {
    fn unreachable<T>(provider: &Provider) -> Result<T, SourceError> {
        Err(SourceError::Failed(format!(
            "could not connect to {host}: this version of Terrane does not install from registries yet. Put the package \
             into a folder that mirrors the registry, at {host}/{}/{}/VERSION/{}, and name the folder in a \
             provider_installation block of the CLI configuration or with -plugin-dir",
            provider.namespace,
            provider.kind,
            super::super::package::platform(),
            host = provider.host,
        )))
    }
}

impl Source for Registry {
    fn versions(&self, provider: &Provider) -> Result<Vec<Version>, SourceError> {
        Registry::unreachable(provider)
    }

    fn package(&self, provider: &Provider, _version: &Version) -> Result<PackageLocation, SourceError> {
        Registry::unreachable(provider)
    }

    fn describe(&self, provider: &Provider) -> String {
        format!("provider registry {}", provider.host)
    }
}

/// A mirror that is asked over the network; not supported yet.
pub struct NetworkMirror(pub String);

impl NetworkMirror {
    fn unsupported<T>(&self) -> Result<T, SourceError> {
        Err(SourceError::Failed(format!(
            "the network mirror {} is needed, and this version of Terrane does not support network mirrors yet",
            self.0
        )))
    }
}

impl Source for NetworkMirror {
    fn versions(&self, _provider: &Provider) -> Result<Vec<Version>, SourceError> {
        self.unsupported()
    }

    fn package(&self, _provider: &Provider, _version: &Version) -> Result<PackageLocation, SourceError> {
        self.unsupported()
    }

    fn describe(&self, _provider: &Provider) -> String {
        format!("provider mirror at {}", self.0)
    }
}
