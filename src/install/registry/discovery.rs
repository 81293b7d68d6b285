//! Asking a host what it offers, once per command.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::ACCEPT;
use model::service::{Host, HostServices, discovery};
use net::http::{Client, FailureKind, Request};
use url::Url;

use super::credentials::Credentials;

/// A document is no larger.
const MOST_BYTES: usize = 1 << 20;

/// Why a host does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiscoveryError {
    Interrupted,
    /// For people.
    Failed(String),
}

/// The hosts of a command.
pub struct Hosts {
    pub http: Client,
    pub credentials: Credentials,
    /// Keys that registries name for signatures count only as long as they say.
    pub refuse_expired_keys: bool,
    known: Mutex<HashMap<Host, Arc<tokio::sync::OnceCell<Result<Arc<HostServices>, DiscoveryError>>>>>,
}

impl Hosts {
    /// `forced`: what the settings say of hosts, which then are not asked.
    pub fn new(http: Client, credentials: Credentials, forced: Vec<HostServices>) -> Hosts {
        let known = forced.into_iter().map(|services| {
            let host = services.host().clone();
            (host, Arc::new(tokio::sync::OnceCell::new_with(Some(Ok(Arc::new(services))))))
        });
        Hosts { http, credentials, refuse_expired_keys: false, known: Mutex::new(known.collect()) }
    }

    /// Where a service of a host is: an address that ends in a slash.
    pub async fn service(&self, host: &Host, id: &str) -> Result<Url, DiscoveryError> {
        self.services(host).await?.url(id).map_err(|why| DiscoveryError::Failed(why.to_string()))
    }

    /// What a host offers.
    pub async fn services(&self, host: &Host) -> Result<Arc<HostServices>, DiscoveryError> {
        let cell = self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(host.clone()).or_default().clone();
        cell.get_or_init(|| self.ask(host)).await.clone()
    }

    async fn ask(&self, host: &Host) -> Result<Arc<HostServices>, DiscoveryError> {
        let failed = |why: String| DiscoveryError::Failed(why);
        let url = discovery::document_url(host).map_err(|why| failed(why.to_string()))?;
        let token = self.credentials.of(host).await;
        let request = Request::get(url).header(ACCEPT, "application/json").token(token.as_ref());
        let answer = self.http.send(&request).await.map_err(|e| match e.kind {
            FailureKind::Stopped => DiscoveryError::Interrupted,
            _ => failed(format!("failed to request discovery document: {e}")),
        })?;
        if answer.status.as_u16() == 404 {
            return Ok(Arc::new(HostServices::new(host.clone(), answer.url, None)));
        }
        if answer.status.as_u16() != 200 {
            return Err(failed(format!("failed to request discovery document: {}", answer.status)));
        }
        let kind = answer.header("content-type").unwrap_or_default();
        let media = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match media.as_str() {
            "application/json" => {}
            "" => return Err(failed(format!("discovery URL has a malformed Content-Type {kind:?}"))),
            _ => return Err(failed(format!("discovery URL returned an unsupported Content-Type {media:?}"))),
        }
        if answer.body.len() > MOST_BYTES {
            let (got, limit) = (answer.body.len(), MOST_BYTES);
            return Err(failed(format!("discovery doc response is too large (got {got} bytes; limit {limit})")));
        }
        let services = serde_json::from_slice(&answer.body)
            .map_err(|e| failed(format!("failed to decode discovery document as a JSON object: {e}")))?;
        Ok(Arc::new(HostServices::new(host.clone(), answer.url, Some(services))))
    }
}
