//! What hosts on the loopback hear from the client, and what it makes of their answers.

use std::io::{Read, Seek, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use base::env::Environment;
use base::limits::Limit;
use base::secret::Secret;
use base::stop::Stop;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::{Client, Settings};
use crate::http::{Failure, FailureKind, Proxies, Request, Tls};

/// Answers the requests of as many connections, one each, and gives what was asked.
fn serve(answers: Vec<String>) -> (Url, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let own = url.to_string();
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !is_complete(&request) {
                let n = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..n]);
            }
            asked.push(String::from_utf8(request).unwrap());
            stream.write_all(answer.replace("OWN", &own).as_bytes()).unwrap();
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
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn for_packages() -> Client {
    let environment = Environment::of([("TF_APPEND_USER_AGENT", "x/1")]);
    Client::new(Settings::for_packages(&environment, "Terrane/0"), Stop::new())
}

fn for_states(retries: u32) -> Client {
    let pauses = Duration::from_millis(10)..=Duration::from_millis(20);
    Client::build(Settings { retries, pauses, ..state_settings() }).unwrap()
}

fn state_settings() -> Settings {
    Settings::for_states(&Environment::default(), "Terrane/0")
}

#[tokio::test]
async fn redirects_are_followed_and_server_errors_retried() {
    let (url, thread) = serve(vec![
        answer("503 Service Unavailable", "Retry-After: 0\r\n", ""),
        answer("302 Found", "Location: /b?token=x\r\n", ""),
        answer("200 OK", "", "hello"),
    ]);
    let request = Request::get(url.clone()).token(Some(&Secret::new("t0ken")));
    let got = for_packages().send(&request).await.unwrap();
    assert_eq!((got.text().as_str(), got.attempts, got.url.path()), ("hello", 2, "/b"));
    let asked = thread.join().unwrap();
    assert!(asked[2].starts_with("GET /b?token=x HTTP/1.1\r\n") && asked[2].contains("user-agent: Terrane/0 x/1"));
    assert!(asked.iter().all(|request| request.contains("Bearer t0ken")));
}

#[tokio::test]
async fn credentials_stay_with_their_host() {
    let (other, second) = serve(vec![answer("200 OK", "", "x")]);
    let (url, first) = serve(vec![answer("302 Found", &format!("Location: {other}\r\n"), "")]);
    let login = Some(("me".to_owned(), Secret::new("pw")));
    for_packages().send(&Request::get(url).login(login.as_ref())).await.unwrap();
    assert!(first.join().unwrap()[0].contains("authorization: Basic bWU6cHc="));
    assert!(!second.join().unwrap()[0].contains("authorization"));
}

#[tokio::test]
async fn secure_requests_are_not_redirected_to_plain_http() {
    let (url, thread) = serve(vec![
        answer("302 Found", "Location: /b\r\n", ""),
        answer("302 Found", "Location: http://user:pw@example.com/c?token=x\r\n", ""),
    ]);
    let failed = for_packages().send(&Request::get(url.clone()).secure_only()).await.unwrap_err();
    let expected = format!("Get \"{url}b\": refused to follow the redirect to plain HTTP, http://example.com/c");
    assert_eq!((failed.to_string(), failed.kind, failed.attempts), (expected, FailureKind::Other, 1));
    assert_eq!(thread.join().unwrap().len(), 2);
    let cases = [
        ("https://a.example/", "https://b.example/", true),
        ("https://a.example/", "http://a.example/", false),
        ("https://a.example/", "http://127.0.0.1/", false),
        ("http://127.0.0.1/", "http://localhost:8080/", true),
        ("http://127.0.0.1/", "http://[::1]/", true),
        ("http://127.0.0.1/", "http://127.example/", false),
        ("http://127.0.0.1/", "https://b.example/", true),
    ];
    for (from, to, expected) in cases {
        let (from, to) = (Url::parse(from).unwrap(), Url::parse(to).unwrap());
        assert_eq!(Request::get(from.clone()).secure_only().may_lead_to(&to), expected, "{from} to {to}");
        assert!(Request::get(from).may_lead_to(&to));
    }
}

#[tokio::test]
async fn forms_are_sent_once_and_never_redirected() {
    for status in ["307 Temporary Redirect", "503 Service Unavailable"] {
        let (url, thread) = serve(vec![answer(status, "Location: /b\r\n", "why")]);
        let request = Request::form(url, &[("a", "x y"), ("secret", "s3&cret")]);
        let got = for_packages().send(&request).await.unwrap();
        assert_eq!((got.status.as_str(), got.text().as_str()), (&status[..3], "why"));
        let asked = thread.join().unwrap();
        assert!(asked[0].starts_with("POST / HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[0].contains("content-type: application/x-www-form-urlencoded\r\n"), "{asked:?}");
        assert!(asked[0].ends_with("\r\n\r\na=x+y&secret=s3%26cret"), "{asked:?}");
        assert!(!format!("{request:?}").contains("cret=s3"));
    }
    let url = Url::parse("http://127.0.0.1:1/").unwrap();
    let failed = for_packages().send(&Request::form(url, &[])).await.unwrap_err();
    assert!(failed.to_string().starts_with("Post \"http://127.0.0.1:1/\": dial tcp"), "{failed}");
}

#[tokio::test]
async fn failures_are_worded_without_secrets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = Url::parse(&format!("http://u:pw@127.0.0.1:{port}/?token=t")).unwrap();
    let failed = for_packages().send(&Request::get(url).once()).await.unwrap_err();
    let expected = format!(
        "Get \"http://u:redacted@127.0.0.1:{port}/?token=redacted\": dial tcp 127.0.0.1:{port}: connect: connection refused"
    );
    assert_eq!(failed.to_string(), expected);
    let stop = Stop::new();
    stop.stop();
    let client = Client::new(Settings::for_packages(&Environment::default(), "x"), stop);
    let failed = client.send(&Request::get(Url::parse("http://127.0.0.1:1/").unwrap())).await.unwrap_err();
    assert_eq!(failed.kind, FailureKind::Stopped);
}

#[tokio::test]
async fn downloads_go_to_a_file_and_no_further_than_allowed() {
    let (url, _thread) = serve(vec![answer("200 OK", "", "12345"), answer("200 OK", "", "123456")]);
    let mut file = tempfile::tempfile().unwrap();
    let request = Request::get(url);
    for_packages()
        .download(&request, &mut file, Limit::bytes(5), &|have, all| assert_eq!((have, all), (5, Some(5))))
        .await
        .unwrap();
    file.rewind().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "12345");
    let failed = for_packages().download(&request, &mut file, Limit::bytes(5), &|_, _| {}).await.unwrap_err();
    assert_eq!(failed.kind, FailureKind::TooLarge);
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
        .login(Some(&("me".to_owned(), Secret::new("pw"))))
        .body("{}");
    let got = for_states(4).send(&request).await.unwrap();
    assert_eq!(
        (got.status.as_u16(), got.attempts, &got.body[..], got.header("x-a")),
        (201, 5, &b"done"[..], Some("b"))
    );
    for asked in thread.join().unwrap() {
        assert!(asked.starts_with("LOCK / HTTP/1.1\r\n") && asked.ends_with("\r\n\r\n{}"), "{asked}");
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
        let got = for_states(retries).send(&Request::new(Method::GET, url)).await.unwrap();
        assert_eq!((got.status.as_str(), got.attempts as usize, &got.body[..]), (&status[..3], attempts, &b"why"[..]));
        thread.join().unwrap();
    }
}

#[tokio::test]
async fn servers_choose_the_pause() {
    let (url, thread) = serve(vec![answer("503 X", "Retry-After: 1\r\n", ""), answer("200 OK", "", "")]);
    let begun = Instant::now();
    for_states(1).send(&Request::new(Method::GET, url)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
    thread.join().unwrap();
    let headers =
        [(reqwest::header::RETRY_AFTER, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap())].into_iter().collect();
    assert_eq!(super::retry_after(&headers), Some(Duration::ZERO));
}

#[tokio::test]
async fn failures_show_no_secrets_to_users_of_states() {
    let url = Url::parse("http://user:pw@127.0.0.1:1/a/b?token=t#f").unwrap();
    let failed = for_states(1).send(&Request::new(Method::POST, url)).await.unwrap_err();
    let expected = "Post \"http://127.0.0.1:1/a/b\": dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!((failed.to_string().as_str(), failed.attempts), (expected, 2));
    let url = Url::parse("http://127.0.0.1:1/s3cret?s3cret").unwrap();
    let failed = for_states(0).send(&Request::get(url).with_secret_address()).await.unwrap_err();
    let expected = "Get \"http://127.0.0.1:1/...\": dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!(failed.to_string(), expected);
    let tls = Tls { authorities: Some("s3cret".into()), ..Tls::default() };
    let settings = Settings { tls, ..state_settings() };
    assert_eq!(Client::build(settings).unwrap_err(), "failed to append certs");
    let tls = Tls { identity: Some(("s3cret".into(), Secret::new("s3cret"))), ..Tls::default() };
    let failed = Client::build(Settings { tls, ..state_settings() }).unwrap_err();
    assert!(failed.starts_with("cannot load client certificate: ") && !failed.contains("s3cret"), "{failed}");
}

#[tokio::test]
async fn silent_servers_time_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let settings = Settings { retries: 0, idle_timeout: Duration::from_millis(50), ..state_settings() };
    let failed = Client::build(settings).unwrap().send(&Request::new(Method::GET, url)).await.unwrap_err();
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
    let client = Client::build(Settings { retries: 0, ..Settings::for_states(&environment, "x") }).unwrap();
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

async fn over_tls(tls: Tls, url: Url) -> Result<Vec<u8>, Failure> {
    let settings = Settings { tls, retries: 0, ..state_settings() };
    Client::build(settings).unwrap().send(&Request::new(Method::GET, url)).await.map(|answer| answer.body)
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
            assert!(failed.to_string().ends_with(expected), "{failed}");
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
