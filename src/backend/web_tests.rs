//! What a server on the loopback hears from the client, and what the client makes of its answers.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::{Client, Proxies, Request, Settings, Tls};
use crate::base::env::Environment;
use crate::base::http::FailureKind;
use crate::base::secret::Secret;

/// Answers the requests of as many connections, one each, and gives what was asked. An empty answer closes the connection.
fn serve(answers: Vec<String>) -> (Url, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/state", listener.local_addr().unwrap())).unwrap();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            while !is_complete(&request) {
                let n = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..n]);
            }
            asked.push(String::from_utf8(request).unwrap());
            stream.write_all(answer.as_bytes()).unwrap();
        }
        asked
    });
    (url, thread)
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

fn client(retries: u32) -> Client {
    let pauses = Duration::from_millis(10)..=Duration::from_millis(20);
    Client::new(Settings { retries, pauses, ..Settings::new(&Environment::default()) }).unwrap()
}

#[tokio::test]
async fn trouble_is_retried_with_the_same_body() {
    let trouble = ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"];
    let mut answers: Vec<_> = trouble.iter().map(|status| answer(status, "", "x")).collect();
    answers.push(String::new());
    answers.push(answer("201 Created", "X-A: b\r\n", "done"));
    let (url, thread) = serve(answers);
    let request = Request::new(Method::from_bytes(b"LOCK").unwrap(), url)
        .header(CONTENT_TYPE, "application/json")
        .login("me", &Secret::new("pw"))
        .body("{}");
    let got = client(4).send(&request).await.unwrap();
    assert_eq!(
        (got.status.as_u16(), got.attempts, &got.body[..], got.header("x-a")),
        (201, 5, &b"done"[..], Some("b"))
    );
    for asked in thread.join().unwrap() {
        assert!(asked.starts_with("LOCK /state HTTP/1.1\r\n") && asked.ends_with("\r\n\r\n{}"), "{asked}");
        assert!(asked.contains("authorization: Basic bWU6cHc="), "{asked}");
        assert!(asked.contains("user-agent: Terrane/"), "{asked}");
    }
}

#[tokio::test]
async fn other_answers_and_the_last_one_are_given_as_they_are() {
    for (status, retries, attempts) in
        [("404 Not Found", 2, 1), ("501 Not Implemented", 2, 1), ("500 X", 1, 2), ("423 Locked", 0, 1)]
    {
        let (url, thread) = serve(vec![answer(status, "", "why"); attempts]);
        let got = client(retries).send(&Request::new(Method::GET, url)).await.unwrap();
        assert_eq!((got.status.as_str(), got.attempts as usize, &got.body[..]), (&status[..3], attempts, &b"why"[..]));
        thread.join().unwrap();
    }
}

#[tokio::test]
async fn servers_choose_the_pause() {
    let (url, thread) = serve(vec![answer("503 X", "Retry-After: 1\r\n", ""), answer("200 OK", "", "")]);
    let begun = Instant::now();
    client(1).send(&Request::new(Method::GET, url)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
    thread.join().unwrap();
    let headers =
        [(reqwest::header::RETRY_AFTER, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap())].into_iter().collect();
    assert_eq!(super::retry_after(&headers), Some(Duration::ZERO));
}

#[tokio::test]
async fn failures_show_no_secrets() {
    let url = Url::parse("http://user:pw@127.0.0.1:1/a/b?token=t#f").unwrap();
    let failed = client(1).send(&Request::new(Method::POST, url)).await.unwrap_err();
    let expected = "Post \"http://127.0.0.1:1/a/b\": dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!((failed.to_string().as_str(), failed.attempts), (expected, 2));
    let tls = Tls { authorities: Some("s3cret".into()), ..Tls::default() };
    let settings = Settings { tls, ..Settings::new(&Environment::default()) };
    assert_eq!(Client::new(settings).unwrap_err(), "failed to append certs");
    let tls = Tls { identity: Some(("s3cret".into(), Secret::new("s3cret"))), ..Tls::default() };
    let failed = Client::new(Settings { tls, ..Settings::new(&Environment::default()) }).unwrap_err();
    assert!(failed.starts_with("cannot load client certificate: ") && !failed.contains("s3cret"), "{failed}");
}

#[tokio::test]
async fn silent_servers_time_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let settings =
        Settings { retries: 0, idle_timeout: Duration::from_millis(50), ..Settings::new(&Environment::default()) };
    let failed = Client::new(settings).unwrap().send(&Request::new(Method::GET, url)).await.unwrap_err();
    assert_eq!(failed.kind, FailureKind::TimedOut);
}

#[tokio::test]
async fn proxies_come_from_the_environment_and_not_for_this_machine() {
    let (proxy, thread) = serve(vec![answer("200 OK", "", "by proxy")]);
    let environment = Environment::of([
        ("http_proxy", format!("127.0.0.1:{}", proxy.port().unwrap())),
        ("NO_PROXY", "other.test".into()),
    ]);
    let proxies = Proxies::of(&environment);
    assert_eq!((proxies.https.as_deref(), proxies.except.as_str()), (None, "other.test"));
    let client = Client::new(Settings { retries: 0, ..Settings::new(&environment) }).unwrap();
    let (url, direct) = serve(vec![answer("200 OK", "", "direct")]);
    let got = client.send(&Request::new(Method::GET, url)).await.unwrap();
    assert_eq!(got.body, b"direct");
    direct.join().unwrap();
    let got = client.send(&Request::new(Method::GET, Url::parse("http://state.test/x").unwrap())).await.unwrap();
    assert_eq!(got.body, b"by proxy");
    assert!(thread.join().unwrap()[0].starts_with("GET http://state.test/x HTTP/1.1\r\n"));
}

/// Serves one response over TLS with a self-signed certificate; requires a client certificate if there are authorities for it.
async fn serve_tls(
    authority: &rcgen::Issuer<'static, rcgen::KeyPair>,
    wants_client: Option<rustls::RootCertStore>,
) -> (Url, tokio::task::JoinHandle<bool>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, authority).unwrap();
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder =
        rustls::ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match wants_client {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(
            rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap(),
        ),
    };
    let der = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = builder.with_single_cert(vec![certificate.der().clone()], der).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("https://localhost:{}/", listener.local_addr().unwrap().port())).unwrap();
    let task = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (stream, _) = listener.accept().await.unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
        let Ok(mut stream) = acceptor.accept(stream).await else { return false };
        let _ = stream.read(&mut [0; 4096]).await;
        stream.write_all(answer("200 OK", "", "tls").as_bytes()).await.unwrap();
        stream.shutdown().await.is_ok()
    });
    (url, task)
}

fn authority() -> (String, rcgen::Issuer<'static, rcgen::KeyPair>) {
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, rcgen::Issuer::new(params, key))
}

async fn over_tls(tls: Tls, url: Url) -> Result<Vec<u8>, super::Failure> {
    let settings = Settings { tls, retries: 0, ..Settings::new(&Environment::default()) };
    Client::new(settings).unwrap().send(&Request::new(Method::GET, url)).await.map(|answer| answer.body)
}

#[tokio::test]
async fn only_given_authorities_are_trusted() {
    let (pem, issuer) = authority();
    let trusting = Tls { authorities: Some(pem), ..Tls::default() };
    let reckless = Tls { skip_verification: true, ..Tls::default() };
    for (tls, trusted) in [(trusting, true), (reckless, true), (Tls::default(), false)] {
        let (url, task) = serve_tls(&issuer, None).await;
        let got = over_tls(tls, url).await;
        assert_eq!((got.as_ref().is_ok_and(|body| body == b"tls"), task.await.unwrap()), (trusted, trusted), "{got:?}");
        if let Err(failed) = got {
            let expected = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
            assert!(failed.text.ends_with(expected), "{failed}");
        }
    }
}

#[tokio::test]
async fn clients_show_their_certificate() {
    let (pem, issuer) = authority();
    let mut roots = rustls::RootCertStore::empty();
    let der = der_of(&pem);
    roots.add(der).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["client".into()]).unwrap().signed_by(&key, &issuer).unwrap();
    let identity = Some((certificate.pem(), Secret::new(key.serialize_pem())));
    for (identity, welcome) in [(identity, true), (None, false)] {
        let (url, task) = serve_tls(&issuer, Some(roots.clone())).await;
        let tls = Tls { authorities: Some(pem.clone()), identity, ..Tls::default() };
        assert_eq!(over_tls(tls, url).await.is_ok(), welcome);
        assert_eq!(task.await.unwrap(), welcome);
    }
}

fn der_of(pem: &str) -> rustls::pki_types::CertificateDer<'static> {
    use rustls::pki_types::pem::PemObject;
    rustls::pki_types::CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}
