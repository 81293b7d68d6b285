//! The network clients of a command, created once from the settings and the environment.

use std::sync::Arc;

use crate::base::http::{Client, Options};
use crate::base::name::TERRANE;
use crate::install::modules::Fetcher;
use crate::install::package::platform;
use crate::install::registry::credentials::{Credentials, Places};
use crate::install::registry::discovery::Hosts;
use crate::model::version::PROGRAM_VERSION;

use super::Setup;

/// The file of tokens that `login` writes, among the user's own files.
pub const CREDENTIALS_FILE: &str = "credentials.tfrc.json";

/// The clients for packages. They are created on first use.
#[derive(Clone)]
pub struct Network {
    pub hosts: Arc<Hosts>,
    pub fetcher: Arc<Fetcher>,
}

impl Network {
    pub fn new(setup: &Setup) -> Network {
        let program = format!("{TERRANE}/{PROGRAM_VERSION}");
        let http = Client::new(Options::of(&setup.environment, &program), setup.stop.clone());
        let plugins = setup.settings.config_dir.as_ref().map(|dir| dir.join("plugins"));
        let places = Places {
            helpers: plugins.into_iter().flat_map(|dir| [dir.join(platform()), dir]).collect(),
            file: setup.settings.config_dir.as_ref().map(|dir| dir.join(CREDENTIALS_FILE)),
        };
        let credentials = Credentials::new(setup.settings.credentials.clone(), places, setup.stop.clone());
        let mut hosts = Hosts::new(http.clone(), credentials, setup.settings.hosts.clone());
        hosts.refuse_expired_keys = setup.settings.refuse_expired_keys;
        Network { hosts: Arc::new(hosts), fetcher: Arc::new(Fetcher::new(http, setup.environment.clone())) }
    }
}
