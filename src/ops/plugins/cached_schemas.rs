//! The cache of provider schemas of a command.
//!
//! A schema depends on the package, perhaps on the environment, and rarely on files. Entries are kept per package and
//! environment; `outdated_schemas` handles those that are outdated nevertheless.

use base::env::{self, Environment};
use gotext::hex::hex;
use plugin::schema_cache::SchemaCache;
use sha2::{Digest, Sha256};

use crate::setup::user_data;

/// Variables on which no schema depends and which differ from one shell, folder or run to the next.
const NEUTRAL: &[&str] = &[
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    env::TERM,
    env::TERM_PROGRAM,
    env::TERM_FEATURES,
    env::WT_SESSION,
    env::VTE_VERSION,
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "TMUX",
    "TMUX_PANE",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    env::SSH_AUTH_SOCK,
    env::NO_COLOR,
    env::FORCE_COLOR,
    env::CLICOLOR_FORCE,
    env::TF_INPUT,
    env::TF_IN_AUTOMATION,
    env::TF_DATA_DIR,
    env::TF_WORKSPACE,
    env::CHECKPOINT_DISABLE,
    env::XDG_DATA_HOME,
    env::XDG_STATE_HOME,
];
const NEUTRAL_PREFIXES: &[&str] = &["TF_LOG", "TF_CLI_", env::TF_VAR_, "TERRANE_"];

/// The user's cache, for this environment; none if it is switched off or has no place.
pub fn cache(environment: &Environment) -> Option<SchemaCache> {
    if environment.get(env::TERRANE_SCHEMA_CACHE) == Some("off") {
        return None;
    }
    Some(SchemaCache::new(user_data::folder(environment)?.join("schemas"), &fingerprint(environment)))
}

/// A hash of all variables but the neutral ones.
fn fingerprint(environment: &Environment) -> String {
    let is_neutral =
        |name: &str| NEUTRAL.contains(&name) || NEUTRAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut hash = Sha256::new();
    for (name, value) in environment.iter().filter(|(name, _)| !is_neutral(name)) {
        hash.update(format!("{}:{name}{}:{value}", name.len(), value.len()));
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_leave_out_neutral_variables_only() {
        let of = |pairs: &[(&str, &str)]| fingerprint(&Environment::of(pairs.iter().copied()));
        let base = of(&[("A", "1")]);
        for neutral in ["PWD", "_", "TF_LOG", "TF_LOG_PROVIDER_AWS", "TF_VAR_x", "TERRANE_NAME"] {
            assert_eq!(of(&[("A", "1"), (neutral, "x")]), base, "{neutral}");
        }
        for other in [&[("A", "2")][..], &[("A", "1"), ("PATH", "")], &[("A1", "")], &[("", "A1")]] {
            assert_ne!(of(other), base, "{other:?}");
        }
        assert!(cache(&Environment::of([("HOME", "/h"), ("TERRANE_SCHEMA_CACHE", "off")])).is_none());
        assert!(cache(&Environment::of([("HOME", "/h")])).is_some());
    }
}
