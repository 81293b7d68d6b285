//! The network clients of a command, created once from the settings and the environment.

use std::sync::Arc;

use base::env::Environment;
use base::name::TERRANE;
use base::stop::Stop;
use install::modules::Fetcher;
use install::oci::{Logins, OciClient};
use install::package::platform;
use install::registry::credentials::{Credentials, Places};
use install::registry::discovery::Hosts;
use model::version::PROGRAM_VERSION;
use net::http::{Client, Settings as HttpSettings};

use super::Setup;
use super::settings::Settings;

/// The file of tokens that `login` writes, among the user's own files.
pub const CREDENTIALS_FILE: &str = "credentials.tfrc.json";

/// The clients for packages. They are created on first use.
#[derive(Clone)]
pub struct Network {
    pub hosts: Arc<Hosts>,
    pub oci: Arc<OciClient>,
    pub fetcher: Arc<Fetcher>,
}

impl Network {
    pub fn new(setup: &Setup) -> Network {
        Network::of(&setup.settings, &setup.environment, &setup.stop)
    }

    /// As `new`, where there is no working directory.
    pub fn of(settings: &Settings, environment: &Environment, stop: &Stop) -> Network {
        let program = format!("{TERRANE}/{PROGRAM_VERSION}");
        let http = Client::new(HttpSettings::for_packages(environment, &program), stop.clone());
        let plugins = settings.config_dir.as_ref().map(|dir| dir.join("plugins"));
        let places = Places {
            helpers: plugins.into_iter().flat_map(|dir| [dir.join(platform()), dir]).collect(),
            file: settings.config_dir.as_ref().map(|dir| dir.join(CREDENTIALS_FILE)),
        };
        let credentials = Credentials::new(settings.credentials.clone(), places, stop.clone());
        let mut hosts = Hosts::new(http.clone(), credentials, settings.hosts.clone());
        hosts.refuse_expired_keys = settings.refuse_expired_keys;
        let logins = Logins::new(settings.oci_credentials.clone(), environment);
        let oci = Arc::new(OciClient::new(http.clone(), logins));
        let fetcher = Fetcher::new(http, environment.clone(), oci.clone());
        Network { hosts: Arc::new(hosts), oci, fetcher: Arc::new(fetcher) }
    }
}
