//! Certificates over a connection to a port, without a protocol above TLS.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::cause::cause;
use super::error::FetchError;
use super::verify::{Chain, ChainRecorder};

/// The chain of the server at `host:port`.
pub async fn fetch(address: &str, verifies_chain: bool) -> Result<Chain, FetchError> {
    let chain = handshake(address, verifies_chain).await;
    chain.map_err(|why| FetchError::Tls { address: address.to_owned(), why: Box::new(why) })
}

async fn handshake(address: &str, verifies_chain: bool) -> Result<Chain, FetchError> {
    let (recorder, config) = ChainRecorder::new(verifies_chain)?;
    let (host, _) = address.rsplit_once(':').unwrap_or((address, ""));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned()).map_err(|error| FetchError::ServerName(error.to_string()))?;
    let recorded_name = name.to_str().into_owned();
    let socket = TcpStream::connect(address).await;
    let socket = socket.map_err(|error| FetchError::Dial { address: address.to_owned(), why: cause(&error) })?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, socket).await;
    connected.map_err(|error| FetchError::Handshake(cause(&error)))?;
    recorder.chain_of(&recorded_name).ok_or(FetchError::NoChain)
}
