//! Being a plugin: puts a provider or a provisioner on a socket, says where, and serves until the caller is gone or
//! asks for the end. Works for Terraform, OpenTofu and this program alike.

use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fmt, io};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{Notify, mpsc};
use tokio_rustls::TlsAcceptor;
use tonic::Status;

use super::grpc::server::{Messages, serve_connection};
use super::grpc::{self, Reply, Service};
use super::handshake::{Address, COOKIE, Handshake};
use super::provider_server::ProviderServer;
use super::provisioner_server::ProvisionerServer;
use super::socket::{Connection, Socket, SocketError};
use super::tls::{Crypto, TlsError, TlsIdentity};
use super::wire::health::HealthCheckResponse;
use super::wire::health::health_check_response::ServingStatus;
use super::wire::v5::V5;
use super::wire::v6::V6;
use crate::provider::{Provider, Provisioner};

/// The variables by which a host says what it speaks: go-plugin's, and the last one of this program.
const PROTOCOL_VERSIONS: &str = "PLUGIN_PROTOCOL_VERSIONS";
const CLIENT_CERTIFICATE: &str = "PLUGIN_CLIENT_CERT";
const SOCKET_FOLDER: &str = "PLUGIN_UNIX_SOCKET_DIR";
const PEER: &str = "TERRANE_PLUGIN_PEER";

/// A plugin without a connection ends after this time: the process that started it is gone.
const FIRST_CONNECTION_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a plugin that waits for its one caller looks whether that is still there.
const PEER_CHECK: Duration = Duration::from_millis(500);

/// Why a plugin is not served, or not any more.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The runtime or the handler of signals does not start.
    Start(io::Error),
    Socket(SocketError),
    Tls(TlsError),
    /// The host does not get the handshake.
    Handshake(io::Error),
    /// The developer does not get the address.
    Announce(io::Error),
    Accept(io::Error),
    /// The process that started the plugin is gone, or silent.
    NoClient,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Start(error) => write!(f, "cannot start: {error}"),
            ServeError::Socket(error) => error.fmt(f),
            ServeError::Tls(error) => error.fmt(f),
            ServeError::Handshake(error) => write!(f, "cannot write the handshake: {error}"),
            ServeError::Announce(error) => write!(f, "cannot print: {error}"),
            ServeError::Accept(error) => write!(f, "cannot accept a connection: {error}"),
            ServeError::NoClient => f.write_str("no client has connected"),
        }
    }
}

impl std::error::Error for ServeError {}

/// What is served.
#[derive(Clone)]
pub enum Plugin {
    Provider(Arc<dyn Provider>),
    Provisioner(Arc<dyn Provisioner>),
}

/// What the caller has told through the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The protocol versions that it speaks.
    pub versions: Vec<u16>,
    /// Its certificate, if the connection is to be encrypted.
    pub certificate: Option<String>,
    /// Where the socket is to be; otherwise among the system's temporary files.
    pub socket_folder: Option<PathBuf>,
    /// The one process that may connect.
    pub peer: Option<u32>,
    /// The TCP ports to listen on instead of a Unix socket.
    pub tcp_ports: Option<RangeInclusive<u16>>,
}

impl Caller {
    /// `None` if this program was not started as a plugin. `variable` reads an environment variable.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Caller> {
        if variable(COOKIE.0).as_deref() != Some(COOKIE.1) {
            return None;
        }
        let non_empty = |name| variable(name).filter(|text| !text.is_empty());
        let versions = variable(PROTOCOL_VERSIONS).unwrap_or_default();
        Some(Caller {
            versions: versions.split(',').filter_map(|version| version.trim().parse().ok()).collect(),
            certificate: non_empty(CLIENT_CERTIFICATE),
            socket_folder: non_empty(SOCKET_FOLDER).map(PathBuf::from),
            peer: non_empty(PEER).and_then(|pid| pid.parse().ok()),
            tcp_ports: None,
        })
    }

    /// The plugin's version if the caller speaks it; 5 otherwise. A caller that does not say speaks the oldest.
    pub fn version(&self, protocol: u16) -> u16 {
        if self.versions.contains(&protocol) { protocol } else { 5 }
    }
}

/// Serves until the end, on a separate runtime with one thread: the work of a built-in plugin is small, and handing
/// it between threads would cost more. `protocol` is the preferred version; provisioners have
/// only 5; `crypto` is for TLS. The error is for standard error.
pub fn run(plugin: Plugin, protocol: u16, caller: Caller, crypto: Crypto) -> Result<(), ServeError> {
    end_with_the_first_panic();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Start)?;
    let result = runtime.block_on(serve(plugin, protocol, caller, crypto, |line| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush())
    }));
    // Remaining background work is abandoned.
    runtime.shutdown_background();
    result
}

/// A provider that panics is a provider that crashed: its caller learns of it by the end of the process.
fn end_with_the_first_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::exit(101);
    }));
}

/// Listens, tells the handshake line, and serves until the end.
pub async fn serve(
    plugin: Plugin,
    protocol: u16,
    caller: Caller,
    crypto: Crypto,
    tell: impl FnOnce(&str) -> io::Result<()>,
) -> Result<(), ServeError> {
    ignore_interrupts()?;
    let socket = match caller.tcp_ports.clone() {
        Some(ports) => Socket::create_on_tcp(ports).await,
        None => Socket::create(caller.socket_folder.as_deref(), caller.peer.is_some()).await,
    };
    let socket = socket.map_err(ServeError::Socket)?;
    // Only Unix sockets tell which process is at the other end.
    let checked_peer = caller.peer.filter(|_| matches!(socket.address, Address::Unix(_)));
    let identity = match (&caller.certificate, checked_peer) {
        (Some(_), None) => Some(TlsIdentity::generate(crypto).map_err(ServeError::Tls)?),
        _ => None,
    };
    let acceptor = match (&identity, &caller.certificate) {
        (Some(identity), Some(client)) => {
            Some(TlsAcceptor::from(identity.server_config(client).map_err(ServeError::Tls)?))
        }
        _ => None,
    };
    let version = caller.version(protocol);
    let handshake = Handshake {
        version,
        address: socket.address.clone(),
        certificate: identity.as_ref().map(|identity| identity.der().to_vec()),
    };
    let services = Arc::new(Services::new(plugin, version));
    tell(&handshake.line()).map_err(ServeError::Handshake)?;
    tokio::select! {
        () = services.shutdown.notified() => Ok(()),
        result = accept(&socket, acceptor, caller.peer, services.clone()) => result,
    }
}

/// Serves any number of hosts until `interrupt` completes: a provider that its developer runs. `tell` gets the address;
/// `provider` is called for each connection.
///
/// Connections have no TLS: the variable by which hosts find such a provider (TF_REATTACH_PROVIDERS) has no place for a
/// certificate, and hosts expect none. Where there are no Unix sockets, every process of the machine can connect.
pub async fn serve_for_developer(
    provider: impl Fn() -> Arc<dyn Provider>,
    protocol: u16,
    interrupt: impl Future<Output = ()>,
    tell: impl FnOnce(&Address) -> io::Result<()>,
) -> Result<(), ServeError> {
    let socket = Socket::create(None, false).await.map_err(ServeError::Socket)?;
    tell(&socket.address).map_err(ServeError::Announce)?;
    let mut interrupt = std::pin::pin!(interrupt);
    loop {
        tokio::select! {
            () = &mut interrupt => return Ok(()),
            accepted = socket.accept(None) => match accepted {
                Ok(Some(stream)) => {
                    let services = Services::new(Plugin::Provider(provider()), protocol);
                    tokio::spawn(serve_stream(stream, None, Arc::new(services)));
                }
                Ok(None) => {}
                Err(error) => return Err(ServeError::Accept(error)),
            },
        }
    }
}

/// Serves connections until the last one has closed. Others than the client, who cannot prove who they are, do not count.
async fn accept(
    socket: &Socket,
    acceptor: Option<TlsAcceptor>,
    peer: Option<u32>,
    services: Arc<Services>,
) -> Result<(), ServeError> {
    let open = Arc::new(AtomicUsize::new(0));
    let has_served = Arc::new(AtomicBool::new(false));
    let closed = Arc::new(Notify::new());
    loop {
        let waiting = open.load(Ordering::Acquire) == 0;
        let stream = tokio::select! {
            accepted = socket.accept(peer) => match accepted {
                Ok(Some(stream)) => stream,
                Ok(None) => continue,
                Err(error) => return Err(ServeError::Accept(error)),
            },
            () = closed.notified() => {
                let is_last = open.load(Ordering::Acquire) == 0 && has_served.load(Ordering::Acquire);
                if is_last { return Ok(()) } else { continue }
            }
            () = no_client_comes(peer), if waiting => {
                return Err(ServeError::NoClient);
            }
        };
        if peer.is_some() {
            // The only one who may connect has done so: even if we are killed, nothing stays behind.
            socket.remove();
        }
        open.fetch_add(1, Ordering::AcqRel);
        let (acceptor, services, open, closed) = (acceptor.clone(), services.clone(), open.clone(), closed.clone());
        let has_served = has_served.clone();
        tokio::spawn(async move {
            if serve_stream(stream, acceptor, services).await {
                has_served.store(true, Ordering::Release);
            }
            open.fetch_sub(1, Ordering::AcqRel);
            closed.notify_one();
        });
    }
}

/// Ends when no client can connect any more: the process that started this one is gone, or silent for too long.
async fn no_client_comes(peer: Option<u32>) {
    let mut patience = FIRST_CONNECTION_TIMEOUT;
    while !patience.is_zero() {
        let pause = PEER_CHECK.min(patience);
        tokio::time::sleep(pause).await;
        patience -= pause;
        if peer.is_some_and(has_other_parent) {
            return;
        }
    }
}

/// Whether this process has another parent than the one that started it, which then has ended.
#[cfg(unix)]
fn has_other_parent(started_by: u32) -> bool {
    std::os::unix::process::parent_id() != started_by
}

/// Windows does not report the parent of a process: only the timeout for the first connection counts.
#[cfg(not(unix))]
fn has_other_parent(_started_by: u32) -> bool {
    false
}

/// A connection that fails is closed; its other end knows. False if it was not the client's.
async fn serve_stream(stream: Box<dyn Connection>, acceptor: Option<TlsAcceptor>, services: Arc<Services>) -> bool {
    let _ = match acceptor {
        None => serve_connection(stream, services).await,
        Some(acceptor) => match acceptor.accept(stream).await {
            Ok(stream) => serve_connection(stream, services).await,
            Err(_) => return false,
        },
    };
    true
}

/// The terminal's interrupt is for the caller, who decides what becomes of us. It is caught, not ignored, for ignoring
/// would be inherited by what we start.
fn ignore_interrupts() -> Result<(), ServeError> {
    #[cfg(unix)]
    let interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
    #[cfg(windows)]
    let interrupts = tokio::signal::windows::ctrl_c();
    let mut interrupts = interrupts.map_err(ServeError::Start)?;
    tokio::spawn(async move { while interrupts.recv().await.is_some() {} });
    Ok(())
}

/// All that can be called: the plugin itself, and what go-plugin wants of every plugin.
struct Services {
    main: Main,
    shutdown: Notify,
}

enum Main {
    Provider5(ProviderServer<V5>),
    Provider6(ProviderServer<V6>),
    Provisioner(ProvisionerServer),
}

impl Services {
    fn new(plugin: Plugin, version: u16) -> Services {
        let main = match plugin {
            Plugin::Provider(provider) if version == 6 => Main::Provider6(ProviderServer::new(provider)),
            Plugin::Provider(provider) => Main::Provider5(ProviderServer::new(provider)),
            Plugin::Provisioner(provisioner) => Main::Provisioner(ProvisionerServer::new(provisioner)),
        };
        Services { main, shutdown: Notify::new() }
    }

    async fn answer(&self, path: &str, messages: Messages) -> Option<Result<Reply, Status>> {
        if let Main::Provider6(provider) = &self.main
            && provider.is_upload(path)
        {
            return Some(provider.write_state(messages).await);
        }
        let request = match messages.single().await {
            Ok(request) => request,
            Err(status) => return Some(Err(status)),
        };
        match &self.main {
            Main::Provider5(provider) => provider.answer(path, request).await,
            Main::Provider6(provider) => provider.answer(path, request).await,
            Main::Provisioner(provisioner) => provisioner.answer(path, request).await,
        }
    }
}

#[async_trait]
impl Service for Services {
    async fn call(&self, path: &str, mut messages: Messages) -> Result<Reply, Status> {
        match path {
            "/plugin.GRPCController/Shutdown" => {
                self.shutdown.notify_one();
                // The end of the process is the answer.
                std::future::pending().await
            }
            "/plugin.GRPCStdio/StreamStdio" => Ok(Reply::Stream(silence(None))),
            "/plugin.GRPCBroker/StartStream" => {
                let stream = silence(None);
                // There are no other connections, so requests are ignored.
                tokio::spawn(async move { while let Ok(Some(_)) = messages.next().await {} });
                Ok(Reply::Stream(stream))
            }
            "/grpc.health.v1.Health/Check" => Ok(Reply::Message(serving())),
            "/grpc.health.v1.Health/Watch" => Ok(Reply::Stream(silence(Some(serving())))),
            path => self.answer(path, messages).await.unwrap_or_else(|| Err(grpc::unimplemented(path))),
        }
    }
}

fn serving() -> Bytes {
    grpc::encoded(&HealthCheckResponse { status: ServingStatus::Serving as i32 })
}

/// A stream that stays open, after one message perhaps, until the caller is done with it.
fn silence(message: Option<Bytes>) -> mpsc::Receiver<Result<Bytes, Status>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        if let Some(message) = message {
            let _ = sender.send(Ok(message)).await;
        }
        sender.closed().await;
    });
    receiver
}
