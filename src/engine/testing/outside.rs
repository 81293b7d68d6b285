//! What a mock needs of the outside, by the ports of the engine. Made-up values use nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use base::diag::Diagnostics;
use model::addr;
use terrane_protocol::provider::Provider;

use crate::mock::{Random, RealProvider};
use crate::ports::{Host, Providers};

/// The random bytes of a machine.
pub fn random_of(host: Arc<dyn Host>) -> Random {
    Arc::new(move |bytes: &mut [u8]| host.random(bytes))
}

/// The provider of an address, as the ports of the engine have it.
pub struct Unconfigured {
    pub providers: Arc<dyn Providers>,
    pub addr: addr::Provider,
}

#[async_trait]
impl RealProvider for Unconfigured {
    async fn provider(&self) -> Result<Arc<dyn Provider>, Diagnostics> {
        self.providers.unconfigured(&self.addr).await
    }
}
