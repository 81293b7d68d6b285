//! Built-in providers under public addresses: their versions when the working directory was initialized,
//! and the warning if this program has other versions.
//!
//! The lock file says nothing of them: other programs install the public provider, and choose its version themselves.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use install::providers::resolve::wrong_stand_in;
use model::addr;
use model::deps::{Requirements, Version};
use serde::{Deserialize, Serialize};

use super::origin::Origin;
use crate::setup::Setup;

/// Among the data of the working directory. It is ours alone: what cannot be read counts as nothing, and is written anew by
/// the next `init`. Members may be added; a change of what is there needs another name.
const FILE: &str = "builtin-providers.json";

/// By address, the version that was used last.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct VersionRecord {
    providers: BTreeMap<String, String>,
}

fn path(setup: &Setup) -> PathBuf {
    setup.workdir.data_dir.join(FILE)
}

fn read(setup: &Setup) -> VersionRecord {
    let text = std::fs::read(path(setup)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// For `init`: records the versions of those that are needed and not `unmanaged`. Warns of those that changed.
pub fn write(
    setup: &Setup,
    requirements: &Requirements,
    unmanaged: &BTreeMap<addr::Provider, bool>,
) -> Option<Diagnostic> {
    let mut used = setup.settings.built_in();
    used.retain(|provider, _| requirements.0.contains_key(provider) && !unmanaged.contains_key(provider));
    let before = read(setup);
    let warning = changed(&before, &used, "");
    let now =
        VersionRecord { providers: used.iter().map(|(p, version)| (p.to_string(), version.to_string())).collect() };
    if now == before {
        return warning;
    }
    let text = serde_json::to_vec_pretty(&now).unwrap_or_default();
    let written = std::fs::create_dir_all(&setup.workdir.data_dir).and_then(|()| atomic::write(&path(setup), &text));
    match written {
        Ok(()) => warning,
        Err(e) => {
            Some(Diagnostic::warning("Failed to record the versions of built-in providers", format!("Error: {e}.")))
        }
    }
}

/// For plan and apply: an error where the configuration asks for other versions; a warning where they changed since `init`.
pub fn check(
    setup: &Setup,
    requirements: &Requirements,
    origins: &BTreeMap<addr::Provider, Origin>,
) -> Result<Option<Diagnostic>, Diagnostics> {
    let mut used = setup.settings.built_in();
    used.retain(|provider, _| matches!(origins.get(provider), Some(Origin::BuiltIn)));
    let wrong = requirements.0.iter().filter_map(|(provider, constraints)| {
        let version = used.get(provider).filter(|version| !constraints.allows(version))?;
        Some(wrong_stand_in(provider, constraints, version))
    });
    let problems: Diagnostics = wrong.collect();
    if problems.has_errors() {
        return Err(problems);
    }
    used.retain(|provider, _| requirements.0.contains_key(provider));
    if used.is_empty() {
        return Ok(None);
    }
    Ok(changed(&read(setup), &used, &format!("\n\nTo accept this, run:\n  {COMMAND} init")))
}

fn changed(before: &VersionRecord, now: &BTreeMap<addr::Provider, Version>, advice: &str) -> Option<Diagnostic> {
    let lines: Vec<String> = now
        .iter()
        .filter_map(|(provider, version)| {
            let old = before.providers.get(&provider.to_string()).filter(|old| **old != version.to_string())?;
            Some(format!("\n  - {}: v{old} before, v{version} now", provider.for_display()))
        })
        .collect();
    (!lines.is_empty()).then(|| {
        let detail = format!(
            "This version of {PROGRAM} has other versions of these built-in providers than the one that was last used in this \
             working directory:{}{advice}",
            lines.concat()
        );
        Diagnostic::warning("Built-in providers changed", detail)
    })
}
