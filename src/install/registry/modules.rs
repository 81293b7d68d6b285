//! The registry protocol for modules: which versions there are, and where one of them is.

use model::config::module_source::RegistrySource;
use serde::Deserialize;
use url::Url;

use super::ask::{self, AskError};
use super::discovery::{DiscoveryError, Hosts};

const SERVICE: &str = "modules.v1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryError {
    Interrupted,
    /// The registry knows no such module.
    NotFound,
    /// It answered, but said nothing of the module.
    Nothing,
    /// For people.
    Failed(String),
}

impl From<DiscoveryError> for RegistryError {
    fn from(error: DiscoveryError) -> RegistryError {
        match error {
            DiscoveryError::Interrupted => RegistryError::Interrupted,
            DiscoveryError::Failed(why) => RegistryError::Failed(why),
        }
    }
}

impl From<AskError> for RegistryError {
    fn from(error: AskError) -> RegistryError {
        match error {
            AskError::Interrupted => RegistryError::Interrupted,
            AskError::Failed(why) => RegistryError::Failed(why),
        }
    }
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    #[serde(default)]
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

#[derive(Deserialize)]
struct LocationDocument {
    location: String,
}

impl Hosts {
    /// Every version that the registry has of a module, as it writes them.
    pub async fn module_versions(&self, module: &RegistrySource) -> Result<Vec<String>, RegistryError> {
        let url = self.module_url(module, &["versions"]).await?;
        let answer = self.ask_registry(&module.host, url, ask::address).await?;
        match answer.status.as_u16() {
            200 => {}
            404 => return Err(RegistryError::NotFound),
            _ => return Err(RegistryError::Failed(format!("error looking up module versions: {}", answer.status))),
        }
        let found: Versions = serde_json::from_slice(&answer.body).map_err(|e| {
            RegistryError::Failed(format!("the registry's answer is not what the protocol asks for: {e}"))
        })?;
        let first = found.modules.into_iter().next().ok_or(RegistryError::Nothing)?;
        Ok(first.versions.into_iter().map(|v| v.version).collect())
    }

    /// The source address from which to get a version of a module.
    pub async fn module_location(&self, module: &RegistrySource, version: &str) -> Result<String, RegistryError> {
        let url = self.module_url(module, &[version, "download"]).await?;
        let answer = self.ask_registry(&module.host, url.clone(), ask::address).await?;
        let path = module.path();
        let said = || format!("{} resp:{}", answer.status, answer.text().chars().take(2000).collect::<String>());
        match answer.status.as_u16() {
            200 | 204 => {}
            404 => return Err(RegistryError::Failed(format!("module {path:?} version {version:?} not found"))),
            _ => {
                return Err(RegistryError::Failed(format!("error getting download location for {path:?}: {}", said())));
            }
        }
        let in_body = || serde_json::from_slice::<LocationDocument>(&answer.body).ok().map(|body| body.location);
        let location = answer.header("x-terraform-get").map(str::to_owned).filter(|l| !l.is_empty()).or_else(in_body);
        let Some(location) = location.filter(|l| !l.is_empty()) else {
            return Err(RegistryError::Failed(format!("failed to get download URL for {path:?}: {}", said())));
        };
        if !["/", "./", "../"].iter().any(|start| location.starts_with(start)) {
            return Ok(location);
        }
        // Registries behind a proxy may not know their own address. The folder inside the package is no part of the URL.
        let joined = answer.url.join(&location);
        joined
            .map(|url| url.to_string())
            .map_err(|e| RegistryError::Failed(format!("invalid relative URL for {path:?}: {e}")))
    }

    async fn module_url(&self, module: &RegistrySource, rest: &[&str]) -> Result<Url, RegistryError> {
        let mut url = self.service(&module.host, SERVICE).await?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend([&*module.namespace, &*module.name, &*module.system]).extend(rest);
        }
        Ok(url)
    }
}
