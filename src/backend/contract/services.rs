//! What backends ask of the world of hosts: where a service is, and the user's token for a host.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use base::secret::Secret;
use model::service::Host;
use url::Url;

use super::error::StoreError;

/// Hosts and the user's credentials for them.
#[async_trait]
pub trait Services: Send + Sync {
    /// Returns where a service of a host is, `tfe.v2` for example: an address that ends in a slash.
    async fn find(&self, host: &Host, id: &str) -> Result<Url, StoreError>;

    /// Returns the user's token for a host.
    async fn token(&self, host: &Host) -> Option<Secret>;
}

/// Shared services, as a part of values that can be printed for debugging.
#[derive(Clone)]
pub struct SharedServices(pub Arc<dyn Services>);

impl fmt::Debug for SharedServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedServices")
    }
}

impl Default for SharedServices {
    fn default() -> SharedServices {
        SharedServices(Arc::new(NoServices))
    }
}

/// No host is known.
struct NoServices;

#[async_trait]
impl Services for NoServices {
    async fn find(&self, host: &Host, _id: &str) -> Result<Url, StoreError> {
        Err(StoreError::new(format!("host {} is not known", host.for_display())))
    }

    async fn token(&self, _host: &Host) -> Option<Secret> {
        None
    }
}
