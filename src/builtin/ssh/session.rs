//! One SSH connection, with the bastion that carries it, and commands run over it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, Handle, Msg};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg, Preferred, Pty};

use super::auth::{self, Agent};
use super::error::SshError;
use super::keys::{self, HostKey, SshKeyError};
use super::proxy;
use super::settings::{Hop, Settings};

const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(2);
/// Unanswered keep-alives before the connection counts as lost: 120 seconds.
const KEEP_ALIVE_MAX: usize = 60;

/// How a remote command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Status(u32),
    Signal(String),
    /// The connection closed without a word.
    Lost,
}

/// Whether the keys and certificates of the settings can be read; asked before the first attempt.
pub fn check(settings: &Settings) -> Result<(), SshKeyError> {
    for hop in [Some(&settings.target), settings.bastion.as_ref()].into_iter().flatten() {
        if let Some(key) = &hop.private_key {
            keys::private_key(key.expose())?;
            hop.certificate.as_deref().map(keys::certificate).transpose()?;
        }
        hop.host_key.as_deref().map(HostKey::parse).transpose()?;
    }
    Ok(())
}

/// An open connection. Dropping it closes it, then its bastion.
pub struct Session {
    handle: Handle<Peer>,
    _bastion: Option<Handle<Peer>>,
}

impl Session {
    /// One attempt: dial, check the host key, log in; through the bastion if there is one.
    pub async fn open(settings: &Settings) -> Result<Session, SshError> {
        let agent =
            settings.agent.as_deref().map(|socket| Agent { socket, identity: settings.agent_identity.as_deref() });
        let target = &settings.target;
        let first = settings.bastion.as_ref().unwrap_or(target);
        let stream = proxy::dial(&first.host, first.port, settings.proxy.as_ref()).await.map_err(SshError::Dial);
        let by_bastion = |error| SshError::Bastion(Box::new(error));
        let Some(bastion) = &settings.bastion else {
            let handle = handshake(target, stream?).await?;
            return Ok(Session { handle: authenticated(handle, target, agent).await?, _bastion: None });
        };
        let stream = stream.map_err(by_bastion)?;
        let carrier = handshake(bastion, stream).await.map_err(by_bastion)?;
        let carrier = authenticated(carrier, bastion, agent).await.map_err(by_bastion)?;
        let tunnel = carrier
            .channel_open_direct_tcpip(target.host.as_str(), u32::from(target.port), "127.0.0.1", 0)
            .await
            .map_err(|error| SshError::Tunnel(error.to_string()))?;
        let handle = handshake(target, tunnel.into_stream()).await?;
        Ok(Session { handle: authenticated(handle, target, agent).await?, _bastion: Some(carrier) })
    }

    pub fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// A channel on which `command` starts without a terminal.
    pub async fn start(&self, command: &str) -> Result<Channel<Msg>, SshError> {
        let channel = self.handle.channel_open_session().await.map_err(SshError::library)?;
        channel.exec(true, command).await.map_err(SshError::library)?;
        Ok(channel)
    }

    /// Runs `command` on a terminal and hands its output over as it comes.
    pub async fn run(&self, command: &str, output: &mut (dyn FnMut(&[u8]) + Send)) -> Result<Exit, SshError> {
        let mut channel = self.handle.channel_open_session().await.map_err(SshError::library)?;
        let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14400), (Pty::TTY_OP_OSPEED, 14400)];
        channel.request_pty(true, "xterm", 40, 80, 0, 0, &modes).await.map_err(SshError::library)?;
        let command = format!("{}\n", command.trim());
        channel.exec(true, command).await.map_err(SshError::library)?;
        let mut exit = Exit::Lost;
        while let Some(message) = channel.wait().await {
            match message {
                ChannelMsg::Data { data } | ChannelMsg::ExtendedData { data, .. } => output(&data),
                ChannelMsg::ExitStatus { exit_status } => exit = Exit::Status(exit_status),
                ChannelMsg::ExitSignal { signal_name, .. } => exit = Exit::Signal(format!("{signal_name:?}")),
                _ => {}
            }
        }
        Ok(exit)
    }
}

async fn handshake<S>(hop: &Hop, stream: S) -> Result<Handle<Peer>, SshError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let host_key = hop.host_key.as_deref().map(HostKey::parse).transpose()?;
    let mut preferred = Preferred::default();
    if let Some(host_key) = &host_key {
        preferred.key = Cow::Owned(host_key.preferred(&preferred.key));
    }
    let config = client::Config {
        keepalive_interval: Some(KEEP_ALIVE_INTERVAL),
        keepalive_max: KEEP_ALIVE_MAX,
        preferred,
        ..client::Config::default()
    };
    client::connect_stream(Arc::new(config), stream, Peer { host_key })
        .await
        .map_err(|error| refused(hop, SshError::Protocol(handshake_text(&error))))
}

async fn authenticated(
    mut handle: Handle<Peer>,
    hop: &Hop,
    agent: Option<Agent<'_>>,
) -> Result<Handle<Peer>, SshError> {
    match auth::log_in(&mut handle, hop, agent).await {
        Ok(()) => Ok(handle),
        Err(error) => Err(refused(hop, error)),
    }
}

fn refused(hop: &Hop, why: SshError) -> SshError {
    SshError::Handshake { server: format!("{}@{}:{}", hop.user, hop.host, hop.port), why: Box::new(why) }
}

fn handshake_text(error: &russh::Error) -> String {
    match error {
        russh::Error::UnknownKey => "knownhosts: key mismatch".into(),
        russh::Error::Disconnect | russh::Error::HUP => "EOF".into(),
        other => other.to_string(),
    }
}

struct Peer {
    host_key: Option<HostKey>,
}

impl client::Handler for Peer {
    type Error = russh::Error;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, russh::Error> {
        Ok(self.host_key.as_ref().is_none_or(|expected| expected.accepts(key)))
    }
}
