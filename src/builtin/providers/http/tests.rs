//! Whole fetches from servers of this machine.

mod secure;
mod server;

use std::time::Duration;

use server::{Server, answer, run};

use super::{Proxies, Request, Response, Retry, fetch};
use crate::providers::failure::Failure;

fn get(url: String) -> Request {
    Request { url, ..Request::default() }
}

fn attempt(request: &Request) -> Result<Response, Failure> {
    run(fetch(request, &Proxies::none()))
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.get(name).map(String::as_str)
}

#[test]
fn requests_have_the_headers_of_the_reference() {
    let server = Server::start(|request| answer("200 OK", &[], request.text().as_bytes()));
    let cases = [
        (
            get(server.url("/echo/a%20b?q=1#f")),
            "GET /echo/a%20b?q=1 HTTP/1.1|Accept-Encoding: gzip|Host: HOST|User-Agent: Go-http-client/1.1|",
        ),
        (
            Request { method: Some("POST".to_owned()), ..get(server.url("/")) },
            "POST / HTTP/1.1|Accept-Encoding: gzip|Content-Length: 0|Host: HOST|User-Agent: Go-http-client/1.1|",
        ),
        (
            Request { body: Some("k=v&ø".to_owned()), ..get(server.url("/")) },
            "GET / HTTP/1.1|Accept-Encoding: gzip|Content-Length: 6|Host: HOST|User-Agent: Go-http-client/1.1|k=v&ø",
        ),
        (
            Request {
                headers: [("Content-Length", "1"), ("Host", "virtual"), ("User-Agent", "buoy/1"), ("X-Sea", "salt")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
                ..get(server.url("/"))
            },
            "GET / HTTP/1.1|Accept-Encoding: gzip|Host: virtual|User-Agent: buoy/1|X-Sea: salt|",
        ),
    ];
    for (request, expected) in cases {
        let response = attempt(&request).unwrap();
        assert_eq!(response.text(), expected.replace("HOST", &server.host()), "{request:?}");
    }
}

#[test]
fn bodies_are_bytes_and_text() {
    let packed = gotext::deflate::gzip(b"packed text");
    let server = Server::start(move |request| match request.path() {
        "/gzip" => answer("200 OK", &[("Content-Encoding", "gzip"), ("X-A", "1"), ("x-a", "2")], &packed),
        "/bytes" => answer("200 OK", &[], &[0x00, 0xff, 0x80, 0xc3, 0xe2, 0x82]),
        "/chunked" => {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n".to_vec()
        }
        "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec(),
        _ => answer("404 Not Found", &[("Content-Type", "text/plain")], b"nothing here"),
    });
    let fetched = |path: &str| attempt(&get(server.url(path)));
    let gzip = fetched("/gzip").unwrap();
    assert_eq!((gzip.text().as_str(), header(&gzip, "X-A"), gzip.headers.len()), ("packed text", Some("1, 2"), 1));
    let bytes = fetched("/bytes").unwrap();
    assert_eq!((bytes.text().as_str(), bytes.is_utf8()), ("\0\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}", false));
    assert_eq!((bytes.base64().as_str(), header(&bytes, "Content-Length")), ("AP+Aw+KC", Some("6")));
    let chunked = fetched("/chunked").unwrap();
    assert_eq!((chunked.text().as_str(), chunked.headers.len()), ("abcdefg", 0));
    let missing = fetched("/none").unwrap();
    assert_eq!(
        (missing.status_code, missing.is_utf8(), header(&missing, "Content-Type")),
        (404, true, Some("text/plain"))
    );
    let head = attempt(&Request { method: Some("HEAD".to_owned()), ..get(server.url("/none")) }).unwrap();
    assert_eq!((head.body.len(), header(&head, "Content-Length")), (0, Some("12")));
    let failure = fetched("/short").unwrap_err();
    assert_eq!(failure.detail, "Error reading response body: unexpected EOF");
    assert_eq!(failure.summary, "Error reading response body");
}

#[test]
fn redirects_are_followed_ten_times() {
    let server = Server::start(|request| match request.path() {
        "/first" => answer("302 Found", &[("Location", "/echo?x")], b""),
        "/loop" => answer("302 Found", &[("Location", "/loop")], b""),
        _ => answer("200 OK", &[], request.text().as_bytes()),
    });
    let post = Request { method: Some("POST".to_owned()), body: Some("lost".to_owned()), ..get(server.url("/first")) };
    let expected = format!(
        "GET /echo?x HTTP/1.1|Accept-Encoding: gzip|Host: {}|Referer: {}|User-Agent: Go-http-client/1.1|",
        server.host(),
        server.url("/first")
    );
    assert_eq!(attempt(&post).unwrap().text(), expected);
    let url = server.url("/loop");
    let failure =
        attempt(&Request { retry: Retry { attempts: 3, ..Retry::default() }, ..get(url.clone()) }).unwrap_err();
    let expected = format!(
        "Error making request: GET {url} giving up after 1 attempt(s): Get {url:?}: stopped after 10 redirects"
    );
    assert_eq!(failure.detail, expected);
    assert_eq!(server.count(), 12);
}

#[test]
fn failures_are_retried() {
    let server = Server::start(|request| match (request.path(), request.number) {
        (_, 2) | ("/down", _) => answer("503 Service Unavailable", &[], b""),
        ("/501", _) => answer("501 Not Implemented", &[], b""),
        (_, 1) => Vec::new(),
        _ => answer("200 OK", &[], b"well"),
    });
    let delay = Duration::from_millis(5);
    let retry = Retry { attempts: 2, min_delay: delay, max_delay: delay };
    assert_eq!(attempt(&Request { retry, ..get(server.url("/")) }).unwrap().text(), "well");
    assert_eq!(server.count(), 3);
    let failure = attempt(&Request { retry, ..get(server.url("/down")) }).unwrap_err();
    assert_eq!(
        failure.detail,
        format!("Error making request: GET {} giving up after 3 attempt(s)", server.url("/down"))
    );
    assert_eq!((failure.summary.as_str(), server.count()), ("Error making request", 6));
    assert_eq!(attempt(&get(server.url("/501"))).unwrap().status_code, 501);
}

#[test]
fn attempts_have_a_time_limit() {
    let server = Server::start(|request| {
        if request.path() == "/body" {
            return b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc\0wait".to_vec();
        }
        b"\0wait".to_vec()
    });
    let slow = |path: &str| attempt(&Request { timeout_ms: Some(100), ..get(server.url(path)) }).unwrap_err();
    let url = server.url("/head");
    let expected = format!(
        "request exceeded the specified timeout: 100ms, err: GET {url} giving up after 1 attempt(s): \
         Get {url:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    );
    assert_eq!(slow("/head").detail, expected);
    assert_eq!(slow("/body").summary, "Error reading response body");
}

#[test]
fn errors_before_the_request_have_summaries() {
    let cases = [
        (
            "http://127.0.0.1/%%zz",
            "Error creating request",
            "parse \"http://127.0.0.1/%%zz\": invalid URL escape \"%%z\"",
        ),
        ("http://127.0.0.1:port/", "Error creating request", "parse \"http://127.0.0.1:port/\": invalid port number"),
        ("ftp://host/", "Error making request", "Get \"ftp://host/\": unsupported protocol scheme \"ftp\""),
        (
            "http://u:p@127.0.0.1:1/",
            "Error making request",
            "Get \"http://u:xxxxx@127.0.0.1:1/\": dial tcp 127.0.0.1:1: ",
        ),
    ];
    for (url, summary, part) in cases {
        let failure = attempt(&get(url.to_owned())).unwrap_err();
        assert_eq!(failure.summary, summary, "{url}");
        assert!(failure.detail.contains(part), "{}", failure.detail);
    }
    let bad = Request { headers: [("a b".to_owned(), "c".to_owned())].into(), ..get("http://127.0.0.1:1/".to_owned()) };
    assert!(attempt(&bad).unwrap_err().detail.ends_with("net/http: invalid header field name \"a b\""));
}

#[test]
fn proxies_forward_requests() {
    let proxy = Server::start(|request| answer("200 OK", &[], request.text().as_bytes()));
    let proxies = Proxies::new(&format!("http://user:pass@{}", proxy.host()), "", "");
    let response = run(fetch(&get("http://far.example/a?b".to_owned()), &proxies)).unwrap();
    let expected = "GET http://far.example/a?b HTTP/1.1|Accept-Encoding: gzip|Host: far.example|\
                   Proxy-Authorization: Basic dXNlcjpwYXNz|User-Agent: Go-http-client/1.1|";
    assert_eq!(response.text(), expected);
    let refused = Server::start(|request| {
        assert_eq!(request.line(), "CONNECT far.example:443 HTTP/1.1");
        answer("403 Forbidden", &[], b"")
    });
    let proxies = Proxies::new("", &refused.url("/"), "");
    let failure = run(fetch(&get("https://far.example/".to_owned()), &proxies)).unwrap_err();
    assert!(failure.detail.ends_with("403 Forbidden"), "{}", failure.detail);
}
