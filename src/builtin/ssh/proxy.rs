//! The TCP connection to the first hop: direct, through an HTTP proxy or through a SOCKS5 proxy.

use std::net::SocketAddr;
use std::{fmt, io};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::settings::{ProxyScheme, SshProxy};

const MAX_RESPONSE: usize = 16 * 1024;

/// Why the first server cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialError {
    NoSuchHost(String),
    Connect {
        address: SocketAddr,
        why: String,
    },
    /// The HTTP proxy does not answer as it should.
    Http(String),
    /// The HTTP proxy refuses with this status.
    HttpStatus(String),
    /// The SOCKS5 proxy refuses, or does not answer as it should.
    Socks(String),
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialError::NoSuchHost(host) => write!(f, "dial tcp: lookup {host}: no such host"),
            DialError::Connect { address, why } => write!(f, "dial tcp {address}: connect: {why}"),
            DialError::Http(why) => write!(f, "proxy: {why}"),
            DialError::HttpStatus(status) => write!(f, "Connection Error: StatusCode: {status}"),
            DialError::Socks(why) => write!(f, "socks connect: {why}"),
        }
    }
}

impl std::error::Error for DialError {}

impl DialError {
    fn socks(error: io::Error) -> DialError {
        DialError::Socks(error.to_string())
    }
}

/// Connects to `host:port`; errors read as Go's dialer writes them.
pub async fn dial(host: &str, port: u16, proxy: Option<&SshProxy>) -> Result<TcpStream, DialError> {
    let Some(proxy) = proxy else { return tcp(host, port).await };
    let mut stream = tcp(&proxy.host, proxy.port).await?;
    match proxy.scheme {
        ProxyScheme::Http => http_connect(&mut stream, host, port, proxy).await?,
        ProxyScheme::Socks5 => socks5_connect(&mut stream, host, port, proxy).await?,
    }
    Ok(stream)
}

async fn tcp(host: &str, port: u16) -> Result<TcpStream, DialError> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let addresses = match tokio::net::lookup_host((host, port)).await {
        Ok(addresses) => addresses.collect::<Vec<_>>(),
        Err(_) => return Err(DialError::NoSuchHost(host.to_owned())),
    };
    let mut last = DialError::NoSuchHost(host.to_owned());
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Small packets in both directions: waiting to fill one only costs time. An error is harmless.
                stream.set_nodelay(true).ok();
                return Ok(stream);
            }
            Err(error) => last = DialError::Connect { address, why: plain(&error) },
        }
    }
    Err(last)
}

/// The system's text without Rust's suffix, in lower case as Go has it.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    text.to_lowercase()
}

async fn http_connect<S>(stream: &mut S, host: &str, port: u16, proxy: &SshProxy) -> Result<(), DialError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(user) = &proxy.user {
        let password = proxy.password.as_ref().map_or("", |secret| secret.expose());
        request += &format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(format!("{user}:{password}")));
    }
    request += "\r\n";
    stream.write_all(request.as_bytes()).await.map_err(|error| DialError::Http(error.to_string()))?;
    let mut response = Vec::new();
    while !response.ends_with(b"\r\n\r\n") {
        // Byte by byte: what follows the blank line belongs to SSH.
        let byte = stream.read_u8().await.map_err(|error| DialError::Http(error.to_string()))?;
        response.push(byte);
        if response.len() > MAX_RESPONSE {
            return Err(DialError::Http("the response's header is too long".into()));
        }
    }
    let text = String::from_utf8_lossy(&response);
    let status = text.split_whitespace().nth(1).unwrap_or_default();
    if status == "200" { Ok(()) } else { Err(DialError::HttpStatus(status.to_owned())) }
}

/// RFC 1928, with RFC 1929 for user name and password.
async fn socks5_connect<S>(stream: &mut S, host: &str, port: u16, proxy: &SshProxy) -> Result<(), DialError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let greeting: &[u8] = if proxy.user.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
    stream.write_all(greeting).await.map_err(DialError::socks)?;
    let mut choice = [0; 2];
    stream.read_exact(&mut choice).await.map_err(DialError::socks)?;
    match choice[1] {
        0 => {}
        2 => socks5_login(stream, proxy).await?,
        _ => return Err(DialError::Socks("no acceptable authentication methods".into())),
    }
    let length = u8::try_from(host.len()).map_err(|_| DialError::Socks("FQDN too long".into()))?;
    let mut request = vec![5, 1, 0, 3, length];
    request.extend_from_slice(host.as_bytes());
    request.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&request).await.map_err(DialError::socks)?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).await.map_err(DialError::socks)?;
    if head[1] != 0 {
        return Err(DialError::Socks(socks5_error(head[1]).to_owned()));
    }
    let rest = match head[3] {
        1 => 4,
        4 => 16,
        3 => stream.read_u8().await.map_err(DialError::socks)?.into(),
        _ => return Err(DialError::Socks("unknown address type".into())),
    };
    let mut bound = vec![0; rest + 2];
    stream.read_exact(&mut bound).await.map_err(DialError::socks)?;
    Ok(())
}

async fn socks5_login<S>(stream: &mut S, proxy: &SshProxy) -> Result<(), DialError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let user = proxy.user.as_deref().unwrap_or_default();
    let password = proxy.password.as_ref().map_or("", |secret| secret.expose());
    let (Ok(user_length), Ok(password_length)) = (u8::try_from(user.len()), u8::try_from(password.len())) else {
        return Err(DialError::Socks("invalid username/password".into()));
    };
    let mut login = vec![1, user_length];
    login.extend_from_slice(user.as_bytes());
    login.push(password_length);
    login.extend_from_slice(password.as_bytes());
    stream.write_all(&login).await.map_err(DialError::socks)?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.map_err(DialError::socks)?;
    match answer[1] {
        0 => Ok(()),
        _ => Err(DialError::Socks("username/password authentication failed".into())),
    }
}

fn socks5_error(code: u8) -> &'static str {
    match code {
        1 => "general SOCKS server failure",
        2 => "connection not allowed by ruleset",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "unknown code",
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Secret;
    use super::*;

    fn proxy(scheme: ProxyScheme) -> SshProxy {
        let password = Some(Secret::new("pw"));
        SshProxy { scheme, host: "p".into(), port: 1, user: Some("me".into()), password }
    }

    #[tokio::test]
    async fn http() {
        for (answer, expected) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Ok(())),
            ("HTTP/1.1 407 Auth\r\nA: b\r\n\r\n", Err(DialError::HttpStatus("407".to_owned()))),
        ] {
            let (mut ours, mut theirs) = tokio::io::duplex(4096);
            theirs.write_all(answer.as_bytes()).await.unwrap();
            assert_eq!(http_connect(&mut ours, "h", 22, &proxy(ProxyScheme::Http)).await, expected);
            let mut sent = vec![0; 4096];
            let length = theirs.read(&mut sent).await.unwrap();
            let sent = String::from_utf8_lossy(&sent[..length]).into_owned();
            assert!(sent.starts_with("CONNECT h:22 HTTP/1.1\r\n") && sent.contains("Basic bWU6cHc="), "{sent}");
        }
    }

    #[tokio::test]
    async fn socks5() {
        let (mut ours, mut theirs) = tokio::io::duplex(4096);
        theirs.write_all(&[5, 2, 1, 0, 5, 0, 0, 1, 1, 2, 3, 4, 0, 22]).await.unwrap();
        socks5_connect(&mut ours, "h", 22, &proxy(ProxyScheme::Socks5)).await.unwrap();
        let (mut ours, mut theirs) = tokio::io::duplex(4096);
        theirs.write_all(&[5, 0, 5, 5, 0, 1]).await.unwrap();
        let error = socks5_connect(&mut ours, "h", 22, &proxy(ProxyScheme::Socks5)).await.unwrap_err();
        assert_eq!(error.to_string(), "socks connect: connection refused");
    }

    #[tokio::test]
    async fn refused_reads_as_users_know() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let error = dial("127.0.0.1", port, None).await.unwrap_err();
        assert_eq!(error.to_string(), format!("dial tcp 127.0.0.1:{port}: connect: connection refused"));
    }
}
