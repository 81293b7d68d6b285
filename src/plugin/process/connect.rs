//! The connection to a plugin: its socket or port, TLS, HTTP/2.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use terrane_protocol::grpc::Channel;
use terrane_protocol::handshake::{Address, Handshake};
use terrane_protocol::tls::{self, TlsIdentity};
use tokio::net::TcpStream;

use super::diagnose::os_error_text;
use super::small_rsa;
use crate::status::status_text;

/// Why there is no connection to a plugin that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    Timeout,
    /// The plugin announced no certificate, but the connection has to be encrypted.
    NoCertificate,
    /// The certificate that the plugin announced cannot be used.
    Certificate(String),
    /// Its socket or port cannot be reached.
    Unreachable {
        address: String,
        why: String,
    },
    /// Another process listens at its socket.
    Peer(String),
    /// TLS or HTTP/2 failed: how.
    Protocol(String),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            ConnectError::Timeout => return f.write_str("timeout while connecting to the plugin"),
            ConnectError::Certificate(why) => return f.write_str(why),
            ConnectError::NoCertificate => NO_CERTIFICATE,
            ConnectError::Unreachable { address, why } => {
                return write!(f, "cannot connect to the plugin: {address}: {why}");
            }
            ConnectError::Peer(why) | ConnectError::Protocol(why) => why,
        };
        write!(f, "cannot connect to the plugin: {why}")
    }
}

impl std::error::Error for ConnectError {}

/// Connects to the address in the handshake and authenticates the server. `peer`: the process that has to listen there.
pub async fn connect(
    handshake: &Handshake,
    identity: Option<&TlsIdentity>,
    peer: Option<u32>,
    timeout: Duration,
) -> Result<Channel, ConnectError> {
    let connected = tokio::time::timeout(timeout, connect_in_time(handshake, identity, peer)).await;
    connected.unwrap_or(Err(ConnectError::Timeout))
}

const NO_CERTIFICATE: &str = "it announced no certificate, so the connection would not be encrypted; a plugin that knows \
                              no mutual TLS can be used with TF_DISABLE_PLUGIN_TLS=1";

async fn connect_in_time(
    handshake: &Handshake,
    identity: Option<&TlsIdentity>,
    peer: Option<u32>,
) -> Result<Channel, ConnectError> {
    let tls = || match (&handshake.certificate, identity) {
        (Some(server), Some(identity)) => match identity.client_config(server, Some(small_rsa::verify)) {
            Ok(config) => Ok(Some(config)),
            Err(why) => Err(ConnectError::Certificate(why.to_string())),
        },
        (None, Some(_)) => Err(ConnectError::NoCertificate),
        (_, None) => Ok(None),
    };
    match &handshake.address {
        Address::Unix(path) => over(connect_to_file(path, peer).await?, tls()?).await,
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address)
                .await
                .map_err(|error| ConnectError::Unreachable { address: address.clone(), why: error.to_string() })?;
            let _ = stream.set_nodelay(true);
            over(stream, tls()?).await
        }
    }
}

/// Connects to a Unix socket. `peer`: the process that has to listen there.
#[cfg(unix)]
async fn connect_to_file(path: &Path, peer: Option<u32>) -> Result<tokio::net::UnixStream, ConnectError> {
    let unreachable = |why: std::io::Error| ConnectError::Unreachable {
        address: path.display().to_string(),
        why: os_error_text(&why),
    };
    let stream = terrane_protocol::socket::connect(path).await.map_err(unreachable)?;
    if let Some(pid) = peer {
        let checked = terrane_protocol::socket::check_peer(&stream, pid);
        checked.map_err(|error| ConnectError::Peer(error.to_string()))?;
    }
    Ok(stream)
}

/// Fails: plugins listen on TCP ports where the runtime has no Unix sockets.
#[cfg(not(unix))]
async fn connect_to_file(path: &Path, _peer: Option<u32>) -> Result<TcpStream, ConnectError> {
    let why = std::io::Error::from(std::io::ErrorKind::Unsupported);
    Err(ConnectError::Unreachable { address: path.display().to_string(), why: os_error_text(&why) })
}

async fn over(
    stream: impl terrane_protocol::grpc::Transport,
    tls: Option<Arc<rustls::ClientConfig>>,
) -> Result<Channel, ConnectError> {
    let channel = match tls {
        Some(config) => {
            let connector = tokio_rustls::TlsConnector::from(config);
            let stream = connector.connect(tls::server_name(), stream).await;
            let stream = stream.map_err(|error| ConnectError::Protocol(error.to_string()))?;
            Channel::connect(stream).await
        }
        None => Channel::connect(stream).await,
    };
    channel.map_err(|status| ConnectError::Protocol(status_text(&status)))
}
