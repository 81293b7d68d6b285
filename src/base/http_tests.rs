//! What hosts on the loopback hear from the client, and what it makes of their answers.

use std::io::{Read, Seek, Write};
use std::net::TcpListener;

use url::Url;

use super::{Client, FailureKind, Options, Request};
use crate::base::env::Environment;
use crate::base::secret::Secret;
use crate::base::stop::Stop;

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

fn client() -> Client {
    let environment = Environment::of([("TF_APPEND_USER_AGENT", "x/1")]);
    Client::new(Options::of(&environment, "Terrane/0"), Stop::new())
}

#[tokio::test]
async fn redirects_are_followed_and_failed_requests_are_retried() {
    let (url, thread) = serve(vec![
        answer("503 Service Unavailable", "Retry-After: 0\r\n", ""),
        answer("302 Found", "Location: /b?token=x\r\n", ""),
        answer("200 OK", "", "hello"),
    ]);
    let request = Request::new(url.clone()).token(Some(Secret::new("t0ken")));
    let got = client().get(&request).await.unwrap();
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
    client().get(&Request::new(url).login(login)).await.unwrap();
    assert!(first.join().unwrap()[0].contains("authorization: Basic bWU6cHc="));
    assert!(!second.join().unwrap()[0].contains("authorization"));
}

#[tokio::test]
async fn forms_are_sent_once_and_not_redirected() {
    for status in ["307 Temporary Redirect", "503 Service Unavailable"] {
        let (url, thread) = serve(vec![answer(status, "Location: /b\r\n", "why")]);
        let request = Request::new(url).form(&[("a", "x y"), ("secret", "s3&cret")]);
        let got = client().post(&request).await.unwrap();
        assert_eq!((got.status.as_str(), got.text().as_str()), (&status[..3], "why"));
        let asked = thread.join().unwrap();
        assert!(asked[0].starts_with("POST / HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[0].contains("content-type: application/x-www-form-urlencoded\r\n"), "{asked:?}");
        assert!(asked[0].ends_with("\r\n\r\na=x+y&secret=s3%26cret"), "{asked:?}");
        assert!(!format!("{request:?}").contains("cret=s3"));
    }
    let url = Url::parse("http://127.0.0.1:1/").unwrap();
    let failed = client().post(&Request::new(url)).await.unwrap_err();
    assert!(failed.to_string().starts_with("Post \"http://127.0.0.1:1/\": dial tcp"), "{failed}");
}

#[tokio::test]
async fn failures_are_worded_without_secrets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = Url::parse(&format!("http://u:pw@127.0.0.1:{port}/?token=t")).unwrap();
    let failed = client().get(&Request::new(url).once()).await.unwrap_err();
    let expected = format!(
        "Get \"http://u:redacted@127.0.0.1:{port}/?token=redacted\": dial tcp 127.0.0.1:{port}: connect: connection refused"
    );
    assert_eq!(failed.to_string(), expected);
    let stop = Stop::new();
    stop.stop();
    let client = Client::new(Options::of(&Environment::default(), "x"), stop);
    let failed = client.get(&Request::new(Url::parse("http://127.0.0.1:1/").unwrap())).await.unwrap_err();
    assert_eq!(failed.kind, FailureKind::Stopped);
}

#[tokio::test]
async fn downloads_go_to_a_file_and_no_further_than_allowed() {
    let (url, _thread) = serve(vec![answer("200 OK", "", "12345"), answer("200 OK", "", "123456")]);
    let mut file = tempfile::tempfile().unwrap();
    let request = Request::new(url);
    client().download(&request, &mut file, 5, &|have, all| assert_eq!((have, all), (5, Some(5)))).await.unwrap();
    file.rewind().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "12345");
    let failed = client().download(&request, &mut file, 5, &|_, _| {}).await.unwrap_err();
    assert_eq!(failed.kind, FailureKind::TooLarge);
}
