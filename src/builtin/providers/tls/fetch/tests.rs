//! Servers on this machine, asked for their certificates.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};

use jiff::Timestamp;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::proxy::{Proxy, ProxyBlock, ProxyVariables};
use super::*;
use crate::providers::tls::alternative_names::AlternativeNames;
use crate::providers::tls::certificate::describe::describe_content;
use crate::providers::tls::certificate::issue::{Authority, issue};
use crate::providers::tls::certificate::read::parse_pem;
use crate::providers::tls::certificate::{Options, Template};
use crate::providers::tls::golden::key;
use crate::providers::tls::name::{Name, Subject};
use crate::providers::tls::pem;
use crate::providers::tls::validity::Validity;

fn name(common_name: &str) -> Name {
    Name::from(&Subject { common_name: Some(common_name.to_owned()), ..Subject::default() })
}

/// The PEM of a server's certificate and of its authority.
fn chain() -> [String; 2] {
    let validity = Validity::new(Timestamp::now(), 1).expect("times");
    let (ca_key, ca_name) = (key("p384"), name("root"));
    let public = ca_key.public();
    let none = AlternativeNames::default();
    let options = Options { is_ca: true, ..Options::default() };
    let template = Template { subject: &ca_name, names: &none, key: &public, validity, serial: 1, options: &options };
    let ca = issue(template, Authority::Itself, &ca_key).expect("authority").pem;
    let (subject, public, options) = (name("server"), key("p256").public(), Options::default());
    let names = AlternativeNames::new(&[], &["127.0.0.1".to_owned()], &[]).expect("names");
    let template = Template { subject: &subject, names: &names, key: &public, validity, serial: 2, options: &options };
    let authority = parse_pem(&ca).expect("authority");
    let server = issue(template, Authority::Other(&authority), &ca_key).expect("certificate").pem;
    [server, ca]
}

/// A web server of TLS, that gives this answer to every request.
fn serve_tls(chain: &[String], answer: &'static str) -> SocketAddr {
    let der = |text: &String| pem::decode(text).expect("PEM").contents;
    let private = pem::decode(&key("p256").texts().pkcs8).expect("PEM").contents;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(
            chain.iter().map(|text| der(text).into()).collect(),
            PrivateKeyDer::from(PrivatePkcs8KeyDer::from(private)),
        );
    let config = Arc::new(config.expect("certificates"));
    serve(move |socket| {
        let connection = ServerConnection::new(config.clone()).expect("connection");
        respond(&mut StreamOwned::new(connection, socket), answer);
    })
}

fn serve(handle: impl Fn(std::net::TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("port");
    let address = listener.local_addr().expect("address");
    std::thread::spawn(move || listener.incoming().flatten().for_each(handle));
    address
}

/// Reads the head of a request and writes the answer. Gives the request.
fn respond(stream: &mut (impl Read + Write), answer: &str) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        request.push(byte[0]);
    }
    let _ = stream.write_all(answer.as_bytes());
    let _ = stream.flush();
    String::from_utf8_lossy(&request).into_owned()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

fn without_proxy() -> Proxy {
    Proxy::new(&ProxyBlock { from_env: Some(false), ..ProxyBlock::default() }, &ProxyVariables::default())
        .expect("none")
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_are_listed_from_the_root() {
    let chain = chain();
    let address = serve_tls(&chain, OK);
    let expected: Vec<_> = chain.iter().rev().map(|text| describe_content(text).expect("certificate")).collect();
    for scheme in ["https", "tls"] {
        let fetched = fetch(&format!("{scheme}://{address}"), false, &without_proxy()).await;
        assert_eq!(fetched.as_ref(), Ok(&expected), "{scheme}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_authorities_are_refused_if_chains_are_verified() {
    let address = serve_tls(&chain(), OK);
    for (scheme, start) in
        [("https", "failed to fetch certificates from URL 'https': Get"), ("tls", "unable to execute TLS")]
    {
        let failure = fetch(&format!("{scheme}://{address}"), true, &without_proxy()).await.expect_err("unknown");
        assert_eq!(failure.summary, "Failed to identify fetch peer certificates");
        assert!(failure.detail.starts_with(start), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed() {
    let chains = [chain(), chain()];
    let target = serve_tls(&chains[0], OK);
    let answer =
        format!("HTTP/1.1 302 Found\r\nLocation: https://localhost:{}/\r\nContent-Length: 0\r\n\r\n", target.port());
    let address = serve_tls(&chains[1], answer.leak());
    let fetched = fetch(&format!("https://{address}"), false, &without_proxy()).await.expect("certificates");
    assert_eq!(fetched[1].cert_pem, chains[0][0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_without_tls_have_no_certificates() {
    let address = serve(|mut socket| {
        // The beginning of a handshake, which has no lines.
        let _ = socket.read(&mut [0; 16]);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let failure = fetch(&format!("https://{address}"), false, &without_proxy()).await.expect_err("no TLS");
    let detail = format!(
        "failed to fetch certificates from URL 'https': Get \"https://{address}\": tls: first record does not look like a TLS handshake"
    );
    assert_eq!(failure.detail, detail);
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_asked_with_user_and_password() {
    let (send, receive) = mpsc::channel();
    let address = serve(move |mut socket| {
        let _ = send.send(respond(&mut socket, "HTTP/1.1 403 Forbidden\r\n\r\n"));
    });
    let url = Some(format!("http://{address}"));
    let block =
        ProxyBlock { url: url.clone(), username: Some("u".to_owned()), password: Some("p".to_owned()), from_env: None };
    let https_proxy = Some(format!("http://u:p@{address}"));
    let variables = ProxyVariables { https_proxy, ..ProxyVariables::default() };
    for (block, variables) in [(block, ProxyVariables::default()), (ProxyBlock::default(), variables)] {
        let proxy = Proxy::new(&block, &variables).expect("proxy");
        fetch("https://server.invalid", false, &proxy).await.expect_err("the proxy refuses");
        let request = receive.recv().expect("request").to_lowercase();
        assert!(request.starts_with("connect server.invalid:443 http/1.1\r\n"), "{request}");
        assert!(request.contains("proxy-authorization: basic dtpw\r\n"), "{request}");
        // The second request, GET.
        receive.recv().expect("request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_connections_are_named() {
    // Nothing listens on a port that was just given back.
    let unused = TcpListener::bind("127.0.0.1:0").expect("port").local_addr().expect("address");
    let block = ProxyBlock { url: Some(format!("http://{unused}")), ..ProxyBlock::default() };
    let proxy = Proxy::new(&block, &ProxyVariables::default()).expect("proxy");
    let refused = format!("dial tcp {unused}: connect: connection refused");
    let cases = [
        (format!("https://{unused}"), without_proxy(), refused.clone()),
        ("https://server.invalid:443".to_owned(), proxy, format!("proxyconnect tcp: {refused}")),
    ];
    for (url, proxy, error) in cases {
        let failure = fetch(&url, false, &proxy).await.expect_err("refused");
        let detail = format!("failed to fetch certificates from URL 'https': Get \"{url}\": {error}");
        assert_eq!(failure.detail, detail);
    }
}

#[tokio::test]
async fn urls_are_checked() {
    let cases = [
        ("tls://127.0.0.1", "URL malformed", "Port missing from URL: tls://127.0.0.1"),
        ("http://h", "Unsupported scheme", "Scheme \"http://h\" not supported"),
        (":", "Failed to parse URL", "parse \":\": missing protocol scheme"),
    ];
    for (url, summary, detail) in cases {
        assert_eq!(fetch(url, false, &without_proxy()).await, Err(Failure::new(summary, detail)));
    }
    let wrong = "URL \"http://127.0.0.1\" expected to use scheme from [\"https\" \"tls\"], got: \"http\"";
    let cases = [
        ("https://h", Ok(())),
        ("http://127.0.0.1", Err(Failure::new("Invalid URL scheme", wrong))),
        ("https:", Err(Failure::new("Invalid URL", "URL \"https:\" contains no host"))),
        (":", Err(Failure::new("Invalid URL", "Parsing URL \":\" failed: parse \":\": missing protocol scheme"))),
    ];
    for (url, expected) in cases {
        assert_eq!(check_url(url, &["https", "tls"]), expected);
    }
}
