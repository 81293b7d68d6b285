//! One connection: to the server or through a proxy, with or without TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::client::proxy::matcher::Intercept;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;
use url::Url;

use super::proxy::Proxies;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const LONGEST_PROXY_ANSWER: usize = 16 << 10;

/// A bidirectional byte stream: TCP, TLS or a tunnel.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

pub struct Connection {
    pub stream: Box<dyn Stream>,
    /// The server chose HTTP/2.
    pub is_http2: bool,
    /// A proxy forwards the request, which therefore needs an absolute URL.
    pub is_forwarded: bool,
    /// `Proxy-Authorization` of forwarded requests.
    pub proxy_authorization: Option<HeaderValue>,
}

/// Connects to the server of a URL, through a proxy if one is configured.
pub async fn connect(url: &Url, tls: &Arc<ClientConfig>, proxies: &Proxies) -> io::Result<Connection> {
    let timeout = || io::Error::new(io::ErrorKind::TimedOut, format!("dial tcp {}: i/o timeout", authority(url)));
    tokio::time::timeout(CONNECT_TIMEOUT, open(url, tls, proxies)).await.map_err(|_| timeout())?
}

async fn open(url: &Url, tls: &Arc<ClientConfig>, proxies: &Proxies) -> io::Result<Connection> {
    let is_secure = url.scheme() == "https";
    let proxy = proxies.find(url);
    let stream: Box<dyn Stream> = match &proxy {
        None => Box::new(dial(&authority(url)).await?),
        Some(proxy) if proxy.uri().scheme_str().is_some_and(|scheme| scheme.starts_with("socks5")) => {
            open_socks(url, proxy).await?
        }
        Some(proxy) => {
            let mut stream = open_proxy(proxy, tls).await?;
            if !is_secure {
                let proxy_authorization = proxy.basic_auth().cloned();
                return Ok(Connection { stream, is_http2: false, is_forwarded: true, proxy_authorization });
            }
            open_tunnel(&mut stream, &authority(url), proxy.basic_auth()).await?;
            stream
        }
    };
    let plain = |stream| Connection { stream, is_http2: false, is_forwarded: false, proxy_authorization: None };
    if !is_secure {
        return Ok(plain(stream));
    }
    let secured = secure(stream, url.host_str().unwrap_or_default(), tls.clone()).await?;
    let is_http2 = secured.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok(Connection { is_http2, ..plain(Box::new(secured)) })
}

/// Host and port.
fn authority(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80))
}

async fn dial(address: &str) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host(address).await.map_err(|error| {
        let (host, _) = address.rsplit_once(':').unwrap_or((address, ""));
        io::Error::new(error.kind(), format!("dial tcp: lookup {host}: {}", lookup_text(&error)))
    })?;
    let found: Vec<_> = found.collect();
    TcpStream::connect(&*found).await.map_err(|error| {
        let reason = crate::wording::reason(&error);
        io::Error::new(error.kind(), format!("dial tcp {address}: connect: {reason}"))
    })
}

/// Why a name has no address, as Go says it.
fn lookup_text(error: &io::Error) -> String {
    let text = crate::wording::reason(error);
    let reason = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    match reason {
        "name or service not known" | "no address associated with hostname" => "no such host".to_owned(),
        other => other.to_owned(),
    }
}

async fn secure<S: Stream>(
    stream: S,
    host: &str,
    config: Arc<ClientConfig>,
) -> io::Result<tokio_rustls::client::TlsStream<S>> {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    TlsConnector::from(config).connect(name, stream).await
}

async fn open_proxy(proxy: &Intercept, tls: &Arc<ClientConfig>) -> io::Result<Box<dyn Stream>> {
    let uri = proxy.uri();
    let host = uri.host().unwrap_or_default();
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let stream = dial(&format!("{host}:{port}")).await?;
    if !is_secure {
        return Ok(Box::new(stream));
    }
    // A tunnel's ends speak HTTP/1.1.
    let mut config = ClientConfig::clone(tls);
    config.alpn_protocols = Vec::new();
    Ok(Box::new(secure(stream, host, Arc::new(config)).await?))
}

async fn open_tunnel(stream: &mut dyn Stream, server: &str, authorization: Option<&HeaderValue>) -> io::Result<()> {
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend([b"Proxy-Authorization: ", value.as_bytes(), b"\r\n"].concat());
    }
    request.extend(b"\r\n");
    stream.write_all(&request).await?;
    let mut answer = Vec::new();
    // What follows the answer is the server's, and must stay unread.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == LONGEST_PROXY_ANSWER {
            return Err(io::Error::other("the proxy's answer is too long"));
        }
        answer.push(stream.read_u8().await?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.lines().next().and_then(|line| line.split_once(' ')).map_or("", |(_, status)| status);
    if status.starts_with('2') { Ok(()) } else { Err(io::Error::other(status.to_owned())) }
}

async fn open_socks(url: &Url, proxy: &Intercept) -> io::Result<Box<dyn Stream>> {
    let invalid = |error: hyper::http::uri::InvalidUri| io::Error::new(io::ErrorKind::InvalidInput, error);
    let host = proxy.uri().host().unwrap_or_default();
    let server: Uri = format!("http://{host}:{}", proxy.uri().port_u16().unwrap_or(1080)).parse().map_err(invalid)?;
    let target: Uri = format!("{}://{}", url.scheme(), authority(url)).parse().map_err(invalid)?;
    let mut socks = SocksV5::new(server, HttpConnector::new());
    if let Some((user, password)) = proxy.raw_auth() {
        socks = socks.with_auth(user.to_owned(), password.to_owned());
    }
    let stream = socks.call(target).await.map_err(|error| io::Error::other(format!("socks connect: {error}")))?;
    Ok(Box::new(stream.into_inner()))
}
