//! Registry modules: which version, and where its package is. A registry is asked once per module and version.

use std::sync::{Arc, PoisonError};

use base::diag::Diagnostic;
use base::name::PROGRAM;
use base::secret::redacted;
use model::config::module_source::{self, ModuleSource, RegistrySource, RemoteSource, SourceError};
use model::deps::{ModuleConstraints, Version};

use super::context::{Item, Task};
use crate::registry::modules::RegistryError;

impl Task {
    /// The newest version that the call allows.
    pub async fn select(&self, module: &RegistrySource) -> Result<Version, Diagnostic> {
        let host = &module.host;
        let (shown, name) = (self.label(), &*self.call.name);
        let versions = self.versions(module).await.map_err(|e| match e {
            RegistryError::NotFound => self.problem(
                "Module not found",
                format!("Module {name:?} (from {}) cannot be found in the module registry at {host}.", self.spot()),
            ),
            RegistryError::Interrupted => self.problem(
                "Module installation was interrupted",
                format!("Received interrupt signal while retrieving available versions for module {name:?}."),
            ),
            RegistryError::Nothing => self.problem(
                "Invalid response from remote module registry",
                format!("The registry at {host} returned an invalid response when {PROGRAM} requested available versions for module {shown}."),
            ),
            RegistryError::Failed(why) => self.problem(
                "Error accessing remote module registry",
                format!("Failed to retrieve available versions for module {shown} from {host}: {why}."),
            ),
        })?;
        let constraints = self.constraints();
        let mut parsed = Vec::with_capacity(versions.len());
        for text in versions.iter() {
            match Version::parse(text) {
                Ok(version) if !constraints.considers(&version) => {}
                Ok(version) => parsed.push(version),
                Err(_) => self.send(Item::Problem(
                    Diagnostic::warning(
                        "Invalid response from remote module registry",
                        format!("The registry at {host} returned an invalid version string {text:?} for module {shown}, which {PROGRAM} ignored."),
                    )
                    .at(self.call.range.clone()),
                )),
            }
        }
        let (address, spot) = (module.to_string(), self.spot());
        let Some(newest) = parsed.iter().max() else {
            let detail = format!("Module {address:?} ({spot}) has no versions available on {host}.");
            return Err(self.problem("Module has no versions", detail));
        };
        constraints.newest(&parsed).cloned().ok_or_else(|| {
            let detail = format!(
                "There is no available version of module {address:?} ({spot}) which matches the given version constraint. The newest \
                 available version is {newest}."
            );
            self.problem("Unresolvable module version constraint", detail)
        })
    }

    /// The versions that the call allows.
    pub fn constraints(&self) -> ModuleConstraints {
        let written = self.call.version.as_ref();
        written.and_then(|(text, _)| ModuleConstraints::parse(text).ok()).unwrap_or_default()
    }

    /// Where a version's package is, with the folder that the registry and the call name together.
    pub async fn locate(&self, module: &RegistrySource, version: &Version) -> Result<RemoteSource, Diagnostic> {
        let host = &module.host;
        let location = self.location(module, &version.to_string()).await.map_err(|e| match e {
            RegistryError::Interrupted => self.interrupted(),
            RegistryError::NotFound | RegistryError::Nothing => self.no_location(module, version, "not found"),
            RegistryError::Failed(why) => self.no_location(module, version, &why),
        })?;
        let invalid = |why: &str| {
            let detail = format!(
                "Module registry {host} returned invalid source location {:?} for {module} {version}: {why}.",
                redacted(&location)
            );
            self.problem("Invalid package location from module registry", detail)
        };
        let mut remote = match module_source::parse(&location) {
            Ok(ModuleSource::Remote(remote)) => remote,
            Ok(_) => return Err(invalid("must be a direct remote package address")),
            Err(SourceError::MaybeRelative) => {
                let why = format!("{PROGRAM} cannot detect a supported external module source type for {location}");
                return Err(invalid(&why));
            }
            Err(SourceError::Invalid(why)) => return Err(invalid(&why)),
        };
        if !module.folder.is_empty() {
            remote.folder =
                module_source::clean(format!("{}/{}", remote.folder, module.folder).trim_start_matches('/'));
        }
        Ok(remote)
    }

    fn no_location(&self, module: &RegistrySource, version: &Version, why: &str) -> Diagnostic {
        let detail = format!("Failed to retrieve a download URL for {module} {version} from {}: {why}", module.host);
        self.problem("Error accessing remote module registry", detail)
    }

    async fn versions(&self, module: &RegistrySource) -> Result<Arc<Vec<String>>, RegistryError> {
        let cell = {
            let mut cells = self.context.resolutions.versions.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry(module.package()).or_default().clone()
        };
        cell.get_or_init(|| async { self.context.hosts.module_versions(module).await.map(Arc::new) }).await.clone()
    }

    async fn location(&self, module: &RegistrySource, version: &str) -> Result<String, RegistryError> {
        let cell = {
            let mut cells = self.context.resolutions.locations.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry((module.package(), version.to_owned())).or_default().clone()
        };
        cell.get_or_init(|| self.context.hosts.module_location(module, version)).await.clone()
    }
}
