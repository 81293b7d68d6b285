//! `modules`: the called modules and their installed versions.

use std::path::Path;
use std::sync::Arc;

use base::diag::Diagnostics;
use model::config::Module;
use model::deps::module_manifest::ModuleManifest;

use crate::configuration::load;
use crate::setup::Setup;

/// A module as it is called.
pub struct Called {
    pub name: Arc<str>,
    /// Its address in the normal form, which is what the manifest holds.
    pub source: String,
    /// The version that is installed, of modules that have versions.
    pub version: Option<String>,
    /// The versions that the call allows, as written.
    pub constraint: Option<String>,
    /// By name.
    pub calls: Vec<Called>,
}

/// What the root module calls, by name. Without configuration: nothing.
pub fn run(setup: &Setup) -> (Vec<Called>, Diagnostics) {
    if !load::has_configuration(setup) {
        return (Vec::new(), Diagnostics::new());
    }
    let (loaded, mut diagnostics) = load::config(Path::new("."), setup, &setup.root);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else { return (Vec::new(), diagnostics) };
    match load::manifest(&setup.workdir, &setup.root) {
        Ok(manifest) => (calls(&loaded.config.root, &manifest), diagnostics),
        Err(problems) => {
            diagnostics.extend(problems);
            (Vec::new(), diagnostics)
        }
    }
}

fn calls(module: &Module, manifest: &ModuleManifest) -> Vec<Called> {
    let called = module.children.iter().map(|(name, child)| {
        let record = manifest.get(&child.path);
        Called {
            name: name.clone(),
            source: record.map_or_else(|| child.source.clone(), |record| record.source.clone()),
            version: child.version.as_ref().map(ToString::to_string),
            constraint: module.calls.get(name).and_then(|call| Some(call.version.as_ref()?.0.clone())),
            calls: calls(child, manifest),
        }
    });
    called.collect()
}
