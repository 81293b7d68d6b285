//! Certificates over a connection to a port, without a protocol above TLS.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::cause;
use super::verify::{Chain, ChainRecorder};

/// The chain of the server at `host:port`.
pub async fn fetch(address: &str, verifies_chain: bool) -> Result<Chain, String> {
    let chain = handshake(address, verifies_chain).await;
    chain.map_err(|error| format!("unable to execute TLS connection towards {address}: {error}"))
}

async fn handshake(address: &str, verifies_chain: bool) -> Result<Chain, String> {
    let (recorder, config) = ChainRecorder::new(verifies_chain)?;
    let (host, _) = address.rsplit_once(':').unwrap_or((address, ""));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let recorded_name = name.to_str().into_owned();
    let socket = TcpStream::connect(address).await;
    let socket = socket.map_err(|error| format!("dial tcp {address}: {}", cause(&error)))?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, socket).await;
    connected.map_err(|error| cause(&error))?;
    recorder.chain_of(&recorded_name).ok_or_else(|| "the server sent no certificates".to_owned())
}
