//! The sockets of plugins: files, names without a file (Linux, written "@NAME"), or TCP ports of this machine.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use super::handshake::Address;
use super::private_folder::PrivateFolder;
#[cfg(unix)]
use super::private_folder::random_name;

/// The ports of go-plugin.
#[cfg(not(unix))]
const TCP_PORTS: RangeInclusive<u16> = 10_000..=25_000;

/// Why there is no socket.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// It cannot be made in the folder.
    Folder { folder: PathBuf, error: io::Error },
    /// None of these TCP ports is free.
    NoPort(RangeInclusive<u16>),
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot make a socket: ")?;
        match self {
            SocketError::Folder { folder, error } => write!(f, "{}: {error}", folder.display()),
            SocketError::NoPort(ports) => write!(f, "no TCP port from {} to {} is free", ports.start(), ports.end()),
        }
    }
}

impl std::error::Error for SocketError {}

/// Why the other end of a connection is not trusted.
#[cfg(unix)]
#[derive(Debug)]
pub enum PeerError {
    /// The system does not say what is there.
    Unknown(io::Error),
    /// Another process than the one expected, or one of another user.
    Other { pid: Option<i32>, user: u32 },
}

#[cfg(unix)]
impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerError::Unknown(error) => error.fmt(f),
            PeerError::Other { pid, user } => {
                write!(f, "process {pid:?} of user {user} is at the other end of the socket")
            }
        }
    }
}

#[cfg(unix)]
impl std::error::Error for PeerError {}

/// A connection of either kind.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Connection for S {}

enum Listener {
    #[cfg(unix)]
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Where a plugin listens.
pub struct Socket {
    listener: Listener,
    /// As the handshake names it.
    pub address: Address,
    /// A folder that only we may enter, with the socket in it; both are removed at the end. None: there is no file.
    folder: Option<PrivateFolder>,
}

impl Socket {
    /// A socket in a folder, by default the one for temporary files. If the caller's credentials are checked and no
    /// folder is wanted, it needs no file where the system can do without: nothing stays behind even if both are killed.
    #[cfg(unix)]
    pub async fn create(folder: Option<&Path>, checked: bool) -> Result<Socket, SocketError> {
        if checked
            && folder.is_none()
            && let Ok(socket) = Socket::without_file()
        {
            return Ok(socket);
        }
        match Socket::create_in(folder.unwrap_or(&std::env::temp_dir())) {
            // The path of a socket may have about a hundred bytes, and some systems have long temporary folders.
            Err(_) if folder.is_none() => Socket::create_in(Path::new("/tmp")),
            found => found,
        }
    }

    /// There are no such sockets here: a port of this machine.
    #[cfg(not(unix))]
    pub async fn create(_folder: Option<&Path>, _checked: bool) -> Result<Socket, SocketError> {
        Socket::create_on_tcp(TCP_PORTS).await
    }

    #[cfg(unix)]
    fn without_file() -> io::Result<Socket> {
        let name = format!("plugin{}", random_name()?);
        let listener = listen_without_file(&name)?;
        listener.set_nonblocking(true)?;
        let listener = Listener::Unix(UnixListener::from_std(listener)?);
        Ok(Socket { listener, address: Address::Unix(format!("@{name}").into()), folder: None })
    }

    #[cfg(unix)]
    fn create_in(parent: &Path) -> Result<Socket, SocketError> {
        let in_parent = |error| SocketError::Folder { folder: parent.to_owned(), error };
        let folder = PrivateFolder::create(parent, "plugin").map_err(in_parent)?;
        let address = folder.path().join("socket");
        let listener = Listener::Unix(UnixListener::bind(&address).map_err(in_parent)?);
        Ok(Socket { listener, address: Address::Unix(address), folder: Some(folder) })
    }

    /// The first free port of these. Any process of this machine can connect, so callers ask for certificates.
    pub async fn create_on_tcp(ports: RangeInclusive<u16>) -> Result<Socket, SocketError> {
        for port in ports.clone() {
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                let address = Address::Tcp(format!("{}:{port}", Ipv4Addr::LOCALHOST));
                return Ok(Socket { listener: Listener::Tcp(listener), address, folder: None });
            }
        }
        Err(SocketError::NoPort(ports))
    }

    /// The next connection. `peer`: the one process that may connect; others are closed and not returned.
    pub async fn accept(
        &self,
        #[cfg_attr(not(unix), allow(unused_variables))] peer: Option<u32>,
    ) -> io::Result<Option<Box<dyn Connection>>> {
        match &self.listener {
            #[cfg(unix)]
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let is_welcome = peer.is_none_or(|peer| check_peer(&stream, peer).is_ok());
                Ok(is_welcome.then(|| Box::new(stream) as Box<dyn Connection>))
            }
            // A TCP connection does not say which process made it.
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Some(Box::new(stream)))
            }
        }
    }

    /// Removes its file. Connections stay.
    pub fn remove(&self) {
        if let (Some(folder), Address::Unix(path)) = (&self.folder, &self.address) {
            let _ = std::fs::remove_file(path);
            let _ = std::fs::remove_dir(folder.path());
        }
    }
}

/// Connects to a plugin's socket as its handshake names it.
#[cfg(unix)]
pub async fn connect(address: &Path) -> io::Result<UnixStream> {
    match address.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(name) => {
            let stream = connect_without_file(name)?;
            stream.set_nonblocking(true)?;
            UnixStream::from_std(stream)
        }
        None => UnixStream::connect(address).await,
    }
}

/// Makes sure that the process at the other end is the one expected, of the same user.
#[cfg(unix)]
pub fn check_peer(stream: &UnixStream, expected: u32) -> Result<(), PeerError> {
    let peer = stream.peer_cred().map_err(PeerError::Unknown)?;
    // SAFETY: the call has no preconditions and cannot fail.
    let own = unsafe { libc::geteuid() };
    let known = peer.pid().is_none_or(|pid| u32::try_from(pid) == Ok(expected));
    if peer.uid() == own && known { Ok(()) } else { Err(PeerError::Other { pid: peer.pid(), user: peer.uid() }) }
}

#[cfg(target_os = "linux")]
fn listen_without_file(name: &str) -> io::Result<std::os::unix::net::UnixListener> {
    std::os::unix::net::UnixListener::bind_addr(&without_file(name)?)
}

#[cfg(target_os = "linux")]
fn connect_without_file(name: &str) -> io::Result<std::os::unix::net::UnixStream> {
    std::os::unix::net::UnixStream::connect_addr(&without_file(name)?)
}

#[cfg(target_os = "linux")]
fn without_file(name: &str) -> io::Result<std::os::unix::net::SocketAddr> {
    <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn listen_without_file(_name: &str) -> io::Result<std::os::unix::net::UnixListener> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn connect_without_file(_name: &str) -> io::Result<std::os::unix::net::UnixStream> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sockets_take_connections_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let checked = Socket::create(None, true).await.unwrap();
        let wanted = Socket::create(Some(folder.path()), true).await.unwrap();
        assert_eq!(checked.folder.is_none(), cfg!(target_os = "linux"));
        for socket in [checked, wanted] {
            let Address::Unix(address) = &socket.address else { panic!("{:?}", socket.address) };
            let (ours, theirs) = tokio::join!(connect(address), socket.accept(Some(std::process::id())));
            assert!(ours.is_ok() && theirs.unwrap().is_some(), "{}", address.display());
            let (_ours, theirs) = tokio::join!(connect(address), socket.accept(Some(1)));
            assert!(theirs.unwrap().is_none(), "another process");
            socket.remove();
            assert!(connect(address).await.is_err() || socket.folder.is_none());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
