//! Hosts and credentials for backends, read and asked when the first backend needs them.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use backend::StoreError;
use backend::contract::services::{Services, SharedServices};
use base::env::Environment;
use base::secret::Secret;
use base::stop::Stop;
use install::registry::discovery::{DiscoveryError, Hosts};
use model::service::Host;
use url::Url;

use super::Setup;
use super::network::Network;
use super::settings::{self, Settings};

struct OnDemand {
    environment: Environment,
    /// None: they are read when they are needed.
    settings: Option<Arc<Settings>>,
    stop: Stop,
    hosts: OnceLock<Arc<Hosts>>,
}

/// The hosts of a command.
pub fn of_setup(setup: &Setup) -> SharedServices {
    let (environment, settings, stop) = (setup.environment.clone(), setup.settings.clone(), setup.stop.clone());
    SharedServices(Arc::new(OnDemand { environment, settings: Some(settings), stop, hosts: OnceLock::new() }))
}

/// The hosts of a process that has read no settings yet.
pub fn of_environment(environment: &Environment) -> SharedServices {
    let (environment, stop) = (environment.clone(), Stop::new());
    SharedServices(Arc::new(OnDemand { environment, settings: None, stop, hosts: OnceLock::new() }))
}

impl OnDemand {
    fn hosts(&self) -> &Arc<Hosts> {
        self.hosts.get_or_init(|| {
            let network = match &self.settings {
                Some(settings) => Network::of(settings, &self.environment, &self.stop),
                // What is wrong with them was reported by the command.
                None => Network::of(&settings::load(&self.environment).0, &self.environment, &self.stop),
            };
            network.hosts
        })
    }
}

#[async_trait]
impl Services for OnDemand {
    async fn find(&self, host: &Host, id: &str) -> Result<Url, StoreError> {
        self.hosts().service(host, id).await.map_err(|error| match error {
            DiscoveryError::Interrupted => "interrupted".into(),
            DiscoveryError::Failed(why) => why.into(),
        })
    }

    async fn token(&self, host: &Host) -> Option<Secret> {
        self.hosts().credentials.of(host).await
    }
}
