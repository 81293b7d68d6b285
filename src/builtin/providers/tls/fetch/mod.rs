//! The certificates of servers, for `data.tls_certificate` with `url`.
//!
//! `https` asks over HTTP, perhaps through a proxy that `proxy` chooses; `tls` connects to a port; `verify` verifies
//! chains and keeps them. Never reads the environment itself.

mod cause;
mod error;
mod https;
mod no_proxy;
pub mod proxy;
#[cfg(test)]
mod tests;
mod tls;
mod verify;

use error::FetchError;
use proxy::Proxy;
use terrane_value::text::go_quoted;

use crate::providers::failure::Failure;
use crate::providers::tls::certificate::describe::{Description, describe_chain};
use crate::providers::tls::uri::Uri;

/// The certificates of a server, the root first. Each call connects again, without a timeout.
pub async fn fetch(url: &str, verifies_chain: bool, proxy: &Proxy) -> Result<Vec<Description>, Failure> {
    let failure = |detail: FetchError| Failure::new("Failed to identify fetch peer certificates", detail);
    let uri = Uri::parse(url).map_err(|error| Failure::new("Failed to parse URL", error))?;
    let chain = match uri.scheme() {
        "https" => {
            let uri = if uri.port().is_none() { uri.with_port(443) } else { uri };
            https::fetch(&uri, verifies_chain, proxy).await
        }
        "tls" if uri.port().is_none() => {
            return Err(Failure::new("URL malformed", format!("Port missing from URL: {uri}")));
        }
        "tls" => tls::fetch(&uri.host(), verifies_chain).await,
        _ => {
            let detail = format!("Scheme {} not supported", go_quoted(&uri.to_string()));
            return Err(Failure::new("Unsupported scheme", detail));
        }
    };
    chain.and_then(|chain| describe_chain(&chain).map_err(FetchError::Certificate)).map_err(failure)
}

/// Fails unless a text is a URL with a host and one of the schemes, as the provider validates its URLs.
pub fn check_url(text: &str, schemes: &[&str]) -> Result<(), Failure> {
    let invalid = |detail: String| Failure::new("Invalid URL", detail);
    let uri = Uri::parse(text).map_err(|error| invalid(format!("Parsing URL {} failed: {error}", go_quoted(text))))?;
    let url = go_quoted(&uri.to_string());
    if uri.host().is_empty() {
        return Err(invalid(format!("URL {url} contains no host")));
    }
    if schemes.contains(&uri.scheme()) {
        return Ok(());
    }
    let listed: Vec<_> = schemes.iter().map(|scheme| go_quoted(scheme)).collect();
    let scheme = go_quoted(uri.scheme());
    let detail = format!("URL {url} expected to use scheme from [{}], got: {scheme}", listed.join(" "));
    Err(Failure::new("Invalid URL scheme", detail))
}
