//! Settings and variables of the `oci` backend: `OCI_name` and `name` stand in for a setting of that name.

use std::path::PathBuf;

use base::env;
use net::cloud::home;

use crate::contract::settings::Settings;

pub const DEFAULT_KEY: &str = "terraform.tfstate";
pub const DEFAULT_PREFIX: &str = "tf-state-env";
pub const AUTH_METHODS: &str = "auth must be one of 'ApiKey' or 'InstancePrincipal' or 'InstancePrincipalWithCerts' or 'SecurityToken' or 'ResourcePrincipal' or 'OKEWorkloadIdentity'";

/// How requests are authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    ApiKey,
    InstancePrincipal,
    InstancePrincipalWithCerts,
    SecurityToken,
    ResourcePrincipal,
    OkeWorkloadIdentity,
}

impl Auth {
    /// Letter case does not matter.
    pub fn parse(text: &str) -> Option<Auth> {
        Some(match text.to_ascii_lowercase().as_str() {
            "apikey" => Auth::ApiKey,
            "instanceprincipal" => Auth::InstancePrincipal,
            "instanceprincipalwithcerts" => Auth::InstancePrincipalWithCerts,
            "securitytoken" => Auth::SecurityToken,
            "resourceprincipal" => Auth::ResourcePrincipal,
            "okeworkloadidentity" => Auth::OkeWorkloadIdentity,
            _ => return None,
        })
    }
}

/// A setting; without it the variable `OCI_name`, then `name`. None if all of them are empty.
pub fn text_or_variable<'a>(settings: &Settings<'a>, name: &str) -> Option<&'a str> {
    settings.text(name, &[&format!("{}{name}", env::OCI_), name])
}

/// A variable that has no setting: `OCI_name`, then `name`.
pub fn variable<'a>(settings: &Settings<'a>, name: &str) -> Option<&'a str> {
    let environment = settings.environment;
    environment.non_empty(&format!("{}{name}", env::OCI_)).or_else(|| environment.non_empty(name))
}

/// The home folder in which `.oci` is.
pub fn home_folder(settings: &Settings<'_>) -> Option<PathBuf> {
    let set = settings.environment.non_empty(env::OCI_HOME_OVERRIDE).map(PathBuf::from);
    set.or_else(|| home(settings.environment))
}

/// A path in which `~/` is the home folder.
pub fn expanded(path: &str, settings: &Settings<'_>) -> PathBuf {
    match (path.strip_prefix("~/"), home_folder(settings)) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
