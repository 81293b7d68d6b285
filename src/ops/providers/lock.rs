//! `providers lock`: adds hashes for several platforms to the lock file.

use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use install::event::{LockEvent, Tracked};
use install::package::platform;
use install::providers::platform_lock::{PlatformLockInput, lock_platforms};
use install::source::Source;
use install::source::demanding::Demanding;
use install::source::filesystem::Filesystem;
use install::source::network_mirror::NetworkMirror;
use install::source::oci_mirror::OciMirror;
use install::source::registry::Registry;
use model::addr::Provider;
use model::deps::Requirements;
use model::service::RepositoryTemplate;
use url::Url;

use super::install::unwritable_lock;
use crate::configuration::load;
use crate::plugins::{lock_file, packages};
use crate::setup::Setup;
use crate::setup::network::Network;

#[derive(Clone, Debug, Default)]
pub struct LockRequest {
    /// None: this machine's.
    pub platforms: Vec<String>,
    /// Look here instead of in registries.
    pub fs_mirror: Option<PathBuf>,
    pub net_mirror: Option<String>,
    /// A template of the addresses of repositories.
    pub oci_mirror: Option<String>,
    pub plugin_cache: bool,
    /// None: all that are required.
    pub providers: Vec<String>,
}

/// Locks; with what became of every package's hashes.
pub async fn run(
    setup: &Setup,
    request: &LockRequest,
    tell: &mut (dyn FnMut(LockEvent) + Send),
) -> (Option<Vec<Tracked>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let platforms = diagnostics.take(chosen_platforms(&request.platforms));
    let network = Network::new(setup);
    let source = match source(request, &network) {
        Ok(source) if !diagnostics.has_errors() => Demanding { source, demand: setup.settings.signatures },
        Ok(_) => return (None, diagnostics),
        Err(problem) => {
            diagnostics.push(problem);
            return (None, diagnostics);
        }
    };
    let requirements = diagnostics.take(required(setup));
    let requirements = diagnostics.take(only(&request.providers, requirements));
    let lock = diagnostics.take(packages::lock_file(&setup.root));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(e) => {
            let detail = format!("Failed to create a folder for downloads: {e}.");
            diagnostics.error("Could not create a temporary folder", detail);
            return (None, diagnostics);
        }
    };
    let input = PlatformLockInput {
        requirements: &requirements,
        lock: &lock,
        source: &source,
        http: &network.hosts.http,
        platforms: &platforms,
        folder: folder.path(),
        cache_dir: setup.settings.plugin_cache_dir.as_deref().filter(|_| request.plugin_cache),
    };
    let Some((locked, tracked)) = diagnostics.take(lock_platforms(&input, tell).await) else {
        return (None, diagnostics);
    };
    if lock.to_text(setup.dialect()) != locked.to_text(setup.dialect())
        && let Err(e) = lock_file::write(&locked, setup.dialect())
    {
        diagnostics.push(unwritable_lock(&e));
        return (None, diagnostics);
    }
    (Some(tracked), diagnostics)
}

/// The origin registry, unless a mirror is named: never what the settings say.
fn source(request: &LockRequest, network: &Network) -> Result<Box<dyn Source>, Diagnostic> {
    let LockRequest { fs_mirror, net_mirror, oci_mirror, .. } = request;
    let given = [
        ("-fs-mirror", fs_mirror.is_some()),
        ("-net-mirror", net_mirror.is_some()),
        ("-oci-mirror", oci_mirror.is_some()),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
    if given.len() > 1 {
        return Err(Diagnostic::error(
            "Invalid installation method options",
            format!("The {} command line options are mutually-exclusive.", given.join(" and ")),
        ));
    }
    match (fs_mirror, net_mirror, oci_mirror) {
        (Some(folder), ..) => Ok(Box::new(Filesystem::new(folder))),
        (_, _, Some(template)) => match RepositoryTemplate::parse_uri(template) {
            Ok(template) => Ok(Box::new(OciMirror::new(template, network.oci.clone()))),
            Err(why) => Err(Diagnostic::error(
                "Invalid OCI mirror URI template",
                format!("The -oci-mirror option has an invalid template: {why}."),
            )),
        },
        (_, Some(url), _) => match Url::parse(url) {
            Ok(parsed) if parsed.scheme() == "https" => Ok(Box::new(NetworkMirror::new(url, network.hosts.clone()))),
            _ => Err(Diagnostic::error(
                "Invalid network mirror URL",
                "The -net-mirror option requires a valid https: URL as the mirror base URL.",
            )),
        },
        (None, None, None) => Ok(Box::new(Registry::new(network.hosts.clone()))),
    }
}

/// The platforms that were asked for, or this machine's.
pub fn chosen_platforms(given: &[String]) -> (Vec<String>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    for text in given {
        if let Err(why) = check_platform(text) {
            let detail =
                format!("The string {text:?} given in the -platform option is not a valid target platform: {why}.");
            diagnostics.error("Invalid target platform", detail);
        }
    }
    let platforms = if given.is_empty() { vec![platform()] } else { given.to_vec() };
    (platforms, diagnostics)
}

fn check_platform(text: &str) -> Result<(), &'static str> {
    let parts: Vec<&str> = text.split('_').collect();
    let blank = |part: &str| part.contains(char::is_whitespace);
    match parts[..] {
        ["", ..] => Err("must be two words separated by an underscore"),
        [_, ""] => Err("must be two words separated by an underscore"),
        [os, _] if blank(os) => Err("OS portion must not contain whitespace"),
        [_, arch] if blank(arch) => Err("architecture portion must not contain whitespace"),
        [_, _] => Ok(()),
        _ => Err("must be two words separated by an underscore"),
    }
}

/// What the configuration needs.
pub fn required(setup: &Setup) -> (Requirements, Diagnostics) {
    if !load::has_configuration(setup) {
        return (Requirements::default(), Diagnostics::new());
    }
    let (loaded, mut diagnostics) = load::any_config(Path::new("."), setup, &setup.root);
    let Some(loaded) = loaded.filter(|_| !diagnostics.has_errors()) else {
        return (Requirements::default(), diagnostics);
    };
    let requirements = diagnostics.take(Requirements::of_config(&loaded.config));
    (requirements, diagnostics)
}

/// Those of the requirements that were asked for; all if none was.
fn only(given: &[String], mut all: Requirements) -> (Requirements, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut wanted = Vec::new();
    for text in given {
        match Provider::parse_source(text) {
            Ok(provider) if all.0.contains_key(&provider) => wanted.push(provider),
            Ok(provider) => {
                let detail = format!("The provider {provider} is not required by the current configuration.");
                diagnostics.error("Invalid provider argument", detail);
            }
            Err(problem) => diagnostics.push(problem),
        }
    }
    if !given.is_empty() {
        all.0.retain(|provider, _| wanted.contains(provider));
    }
    (all, diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_two_words() {
        let words = Err("must be two words separated by an underscore");
        let cases = [
            ("linux_amd64", Ok(())),
            ("linux", words),
            ("_amd64", words),
            ("linux_", words),
            ("a_b_c", words),
            ("li nux_amd64", Err("OS portion must not contain whitespace")),
            ("linux_amd 64", Err("architecture portion must not contain whitespace")),
        ];
        for (text, expected) in cases {
            assert_eq!(check_platform(text), expected, "{text}");
        }
    }
}
