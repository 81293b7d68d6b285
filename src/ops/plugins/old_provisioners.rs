//! Legacy provisioner plugins, which have priority over built-in provisioners.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use base::name::PROGRAM;

use super::origin::ProvisionerPrograms;
use crate::setup::Setup;

/// Programs named `terraform-provisioner-NAME` in the folders where they used to live, with a warning for each that stands
/// in for a built-in one.
pub fn find(setup: &Setup) -> (ProvisionerPrograms, Diagnostics) {
    let mut programs: ProvisionerPrograms = BTreeMap::new();
    let mut warnings = Diagnostics::new();
    for dir in folders(setup) {
        for (name, path) in programs_in(&dir) {
            programs.entry(name).or_insert(path);
        }
    }
    for (name, path) in &programs {
        if builtin::table::find("provisioner", name).is_some() {
            warnings.push(Diagnostic::warning(
                "Built-in provisioner overridden",
                format!(
                    "The provisioner {name:?} that is built into {PROGRAM} is overridden by the program {}. To use the built-in one, \
                     remove that file.",
                    path.display(),
                ),
            ));
        }
    }
    (programs, warnings)
}

/// The working directory's own folder, those of this program, and the user's, in the order in which they win.
/// Where `init -plugin-dir` named some, only those.
fn folders(setup: &Setup) -> Vec<PathBuf> {
    let kept = std::fs::read(setup.workdir.plugin_path_file()).unwrap_or_default();
    let kept: Vec<PathBuf> = serde_json::from_slice(&kept).unwrap_or_default();
    if !kept.is_empty() {
        return kept;
    }
    let mut folders = vec![PathBuf::from("."), PathBuf::from("terraform.d/plugins").join(install::package::platform())];
    let program = std::env::current_exe().ok();
    folders.extend(program.as_deref().and_then(Path::parent).map(Path::to_path_buf));
    if let Some(dir) = &setup.settings.config_dir {
        folders.push(dir.join("plugins"));
        folders.push(dir.join("plugins").join(install::package::platform()));
    }
    folders
}

fn programs_in(dir: &Path) -> Vec<(String, PathBuf)> {
    let entries = Disk.list(dir).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries.into_iter().filter(|entry| !entry.is_dir) {
        let Some(rest) = entry.name.strip_prefix("terraform-provisioner-") else { continue };
        let name = rest.strip_suffix(".exe").unwrap_or(rest);
        let name = name.split("_v").next().unwrap_or(name);
        if let Ok(path) = std::path::absolute(dir.join(&entry.name)) {
            found.push((name.to_string(), path));
        }
    }
    found
}
