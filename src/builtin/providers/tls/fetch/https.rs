//! Certificates of a web server: of the one that answers after all redirects.

use reqwest::{Client, ClientBuilder, Method, Response};

use super::cause::{cause, is_refused};
use super::error::FetchError;
use super::proxy::Proxy;
use super::verify::{Chain, ChainRecorder};
use crate::providers::tls::uri::Uri;

/// The chain of the server that answers a HEAD request, or a GET request if that fails.
pub async fn fetch(uri: &Uri, verifies_chain: bool, proxy: &Proxy) -> Result<Chain, FetchError> {
    let url = uri.to_string();
    let context = |error| FetchError::Https(Box::new(error));
    let (recorder, config) = ChainRecorder::new(verifies_chain).map_err(context)?;
    // Go speaks HTTP/1.1 if its TLS is configured.
    let builder = Client::builder().tls_backend_preconfigured(config).http1_only().user_agent("Go-http-client/1.1");
    let built = |builder: ClientBuilder| builder.build().map_err(|error| FetchError::Client(cause(&error)));
    let client = proxy.apply(builder).and_then(built);
    let client = client.map_err(context)?;
    if let Ok(response) = client.request(Method::HEAD, &url).send().await
        && let Some(chain) = chain_of(&response, &recorder)
    {
        return Ok(chain);
    }
    let response = client.request(Method::GET, &url).send().await;
    let response = response.map_err(|error| {
        let why = failure(&error, proxy);
        context(FetchError::Get { url: url.clone(), why })
    })?;
    let status = response.status();
    chain_of(&response, &recorder).ok_or_else(|| FetchError::NoCertificates { status: status.to_string() })
}

/// Why a request failed. Go says which connection was refused.
fn failure(error: &reqwest::Error, proxy: &Proxy) -> String {
    let cause = cause(error);
    let Some(url) = error.url().filter(|_| is_refused(error)) else { return cause };
    let (context, peer) = match proxy.of(url) {
        Some(proxy) => ("proxyconnect tcp: dial tcp", proxy),
        None => ("dial tcp", url),
    };
    let (host, port) = (peer.host_str().unwrap_or_default(), peer.port_or_known_default().unwrap_or_default());
    format!("{context} {host}:{port}: {cause}")
}

/// What the server sent that gave this response; none without TLS.
fn chain_of(response: &Response, recorder: &ChainRecorder) -> Option<Chain> {
    let url = response.url();
    let host = url.host_str().filter(|_| url.scheme() == "https")?;
    recorder.chain_of(host.trim_start_matches('[').trim_end_matches(']'))
}
