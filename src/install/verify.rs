//! Before any provider starts: does the lock file fit the configuration, and are the locked packages in place?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::base::diag::Diagnostic;
use crate::model::addr::Provider;
use crate::model::deps::{Hash, Lock, Requirements, Version};

use super::package::{executable, relative_dir, stamp::Stamps};
use super::providers::PACKAGES_DIR;

/// A package that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPackage {
    pub version: Version,
    pub dir: PathBuf,
    pub executable: PathBuf,
    /// What caches of the package's schema are keyed by.
    pub hash: Hash,
}

/// Reports requirements that the lock file does not meet. `unmanaged` are not locked.
pub fn check_lock(requirements: &Requirements, lock: &Lock, unmanaged: &BTreeSet<Provider>) -> Option<Diagnostic> {
    let mut problems = Vec::new();
    let mut required: Vec<_> =
        requirements.0.iter().map(|(provider, all)| (provider.to_string(), provider, all)).collect();
    required.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, provider, constraints) in required {
        if provider.is_builtin() || unmanaged.contains(provider) {
            continue;
        }
        let problem = match lock.get(provider) {
            None => "required by this configuration but no version is selected".to_owned(),
            Some(locked) if !constraints.allows(&locked.version) => format!(
                "locked version selection {} doesn't match the updated version constraints \"{constraints}\"",
                locked.version
            ),
            Some(_) => continue,
        };
        problems.push(format!("\n  - provider {name}: {problem}"));
    }
    if problems.is_empty() {
        return None;
    }
    let advice = match lock.is_empty() {
        true => {
            "To make the initial dependency selections that will initialize the dependency lock file, run:\n  terrane init"
        }
        false => {
            "To update the locked dependency selections to match a changed configuration, run:\n  terrane init -upgrade"
        }
    };
    Some(Diagnostic::error(
        "Inconsistent dependency lock file",
        format!(
            "The following dependency selections recorded in the lock file are inconsistent with the current \
             configuration:{}\n\n{advice}",
            problems.concat()
        ),
    ))
}

/// The packages of the required providers, and what is wrong with those that cannot be run: one text per provider.
/// Packages are hashed only if their files changed since they last were.
pub fn find_packages(
    requirements: &Requirements,
    lock: &Lock,
    data_dir: &Path,
) -> (BTreeMap<Provider, InstalledPackage>, BTreeMap<Provider, String>) {
    let mut packages = BTreeMap::new();
    let mut problems = BTreeMap::new();
    let stamps = Stamps::load(data_dir);
    for provider in requirements.0.keys().filter(|p| !p.is_builtin()) {
        let Some(locked) = lock.get(provider) else { continue };
        match find_package(provider, &locked.version, &locked.hashes, data_dir, &stamps) {
            Ok(package) => {
                packages.insert(provider.clone(), package);
            }
            Err(problem) => {
                problems.insert(provider.clone(), problem);
            }
        }
    }
    stamps.save();
    (packages, problems)
}

fn find_package(
    provider: &Provider,
    version: &Version,
    hashes: &BTreeSet<Hash>,
    data_dir: &Path,
    stamps: &Stamps,
) -> Result<InstalledPackage, String> {
    let base = data_dir.join(PACKAGES_DIR);
    let dir = base.join(relative_dir(provider, version));
    if !dir.is_dir() {
        return Err(format!("there is no package for {provider} {version} cached in {}", base.display()));
    }
    let failed = |e: std::io::Error| {
        format!("failed to verify checksum of {provider} {version} package cached in {}: {e}", base.display())
    };
    let hash = stamps.hash_of(&dir).map_err(failed)?;
    if !hashes.is_empty() && !hashes.contains(&hash) {
        return Err(format!(
            "the cached package for {provider} {version} (in {}) does not match any of the checksums recorded in the \
             dependency lock file",
            base.display()
        ));
    }
    let executable = executable(&dir, provider).map_err(|e| e.to_string())?;
    Ok(InstalledPackage { version: version.clone(), dir, executable, hash })
}

/// The locked packages that cannot be run, in the words of `validate`.
pub fn corrupted(problems: &BTreeMap<Provider, String>) -> Diagnostic {
    let texts: Vec<String> = problems.iter().map(|(provider, problem)| format!("{provider}: {problem}")).collect();
    let summary = match &texts[..] {
        [one] => one.clone(),
        all => format!("missing or corrupted provider plugins:\n  - {}", all.join("\n  - ")),
    };
    Diagnostic::error(summary, "")
}

/// The packages that cannot be run, as one mistake.
pub fn not_installed(problems: &BTreeMap<Provider, String>) -> Diagnostic {
    let lines: Vec<String> =
        problems.iter().map(|(provider, problem)| format!("\n  - {provider}: {problem}")).collect();
    Diagnostic::error(
        "Required plugins are not installed",
        format!(
            "The installed provider plugins are not consistent with the packages selected in the dependency lock \
             file:{}\n\nTerrane uses external plugins to integrate with a variety of different infrastructure services. To \
             download the plugins required for this configuration, run:\n  terrane init",
            lines.concat()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_broken_package_needs_no_list() {
        let of = |names: &[&str]| {
            let problems = names.iter().map(|name| (Provider::default_for(name), "gone".to_owned())).collect();
            corrupted(&problems).summary
        };
        assert_eq!(of(&["a"]), "registry.terraform.io/hashicorp/a: gone");
        let list = "missing or corrupted provider plugins:\n  - registry.terraform.io/hashicorp/a: gone\n  - \
                    registry.terraform.io/hashicorp/b: gone";
        assert_eq!(of(&["b", "a"]), list);
    }
}
