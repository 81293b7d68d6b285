//! The redirect target of a login: a server on the loopback interface that waits for one request of the browser.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use base::name::{COMMAND, PROGRAM};
use base::secret::Secret;
use rand::TryRngCore;
use rand::rngs::OsRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// A request is no larger, and takes no longer.
const MOST_BYTES: usize = 1 << 16;
const PATIENCE: Duration = Duration::from_secs(10);

fn page() -> String {
    format!(
        "<!doctype html>\n<html>\n<head>\n<title>{PROGRAM} login</title>\n\
    <style>body {{ font-family: monospace; color: #fff; background-color: #000; }}</style>\n</head>\n<body>\n\
    <p>The host has answered {PROGRAM}.</p>\n\
    <p>You may close this page: what came of the login is shown in the terminal where <tt>{COMMAND} login</tt> runs.</p>\n\
    </body>\n</html>\n"
    )
}

/// A server that waits.
pub struct Callback {
    listener: TcpListener,
    /// The address that the host is to send the browser to.
    pub url: String,
}

/// What the host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackAnswer {
    /// To be exchanged for a token.
    Code(Secret),
    /// The user or the host refused the login; for users.
    Refused(String),
}

impl Callback {
    /// On a free port between these two. The error means that there is none.
    pub async fn listen((low, high): (u16, u16)) -> io::Result<Callback> {
        let count = u32::from(high - low) + 1;
        let start = OsRng.try_next_u32().map_err(io::Error::other)? % count;
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for step in 0..count {
            let port = u32::from(low) + (start + step) % count;
            let port = u16::try_from(port).unwrap_or(low);
            match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                // Some hosts do not take an address that ends in a slash.
                Ok(listener) => return Ok(Callback { listener, url: format!("http://localhost:{port}/login") }),
                Err(e) => last = e,
            }
        }
        Err(last)
    }

    /// Waits for the one request that knows the state of this login; all others are turned away.
    pub async fn wait(self, state: &str) -> io::Result<CallbackAnswer> {
        let (tell, mut told) = mpsc::channel(1);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted?;
                    let (tell, state) = (tell.clone(), state.to_owned());
                    // A browser may open connections beside the one that it uses.
                    tokio::spawn(async move {
                        if let Ok(Some(said)) = tokio::time::timeout(PATIENCE, serve(stream, &state)).await {
                            let _ = tell.send(said).await;
                        }
                    });
                }
                Some(said) = told.recv() => return Ok(said),
            }
        }
    }
}

/// Reads a request and answers it.
async fn serve(mut stream: TcpStream, state: &str) -> Option<CallbackAnswer> {
    let request = read(&mut stream).await?;
    let said = understand(&request, state);
    let (status, page) = match &said {
        Ok(_) => ("200 OK", page()),
        Err(why) => {
            tracing::error!("login: {why}");
            ("400 Bad Request", String::new())
        }
    };
    let length = page.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{page}"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    said.ok()
}

/// A whole request: its head, and as much of a body as that says.
async fn read(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        let n = stream.read(&mut buffer).await.ok().filter(|n| *n > 0)?;
        request.extend_from_slice(&buffer[..n]);
        if request.len() > MOST_BYTES {
            return None;
        }
    }
    Some(request)
}

fn split_head(request: &[u8]) -> Option<(String, &[u8])> {
    let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(&request[..end]).into_owned(), &request[end + 4..]))
}

fn is_whole(request: &[u8]) -> bool {
    let Some((head, body)) = split_head(request) else { return false };
    let length = head.lines().filter_map(|line| line.split_once(':'));
    let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value.trim());
    let length = length.filter_map(|value| value.parse::<usize>().ok()).next().unwrap_or_default();
    body.len() >= length
}

/// What a request says, in its address or as a form; the error is why it is turned away.
fn understand(request: &[u8], state: &str) -> Result<CallbackAnswer, &'static str> {
    let (head, body) = split_head(request).ok_or("the callback request cannot be read")?;
    let target = head.split_whitespace().nth(1).unwrap_or_default();
    let url = Url::parse("http://localhost").and_then(|base| base.join(target));
    let url = url.map_err(|_| "the callback request cannot be read")?;
    let field = |name: &str| {
        let mut fields = url::form_urlencoded::parse(body).chain(url.query_pairs());
        fields.find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.into_owned())
    };
    if field("state").as_deref() != Some(state) {
        return Err("incorrect \"state\" value in callback request");
    }
    match (field("code"), field("error")) {
        (Some(code), _) => Ok(CallbackAnswer::Code(Secret::new(code))),
        (None, Some(error)) => Ok(CallbackAnswer::Refused(match field("error_description") {
            Some(description) => format!("{error:?} {description:?}"),
            None => format!("{error:?}"),
        })),
        (None, None) => Err("no \"code\" argument in callback request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let code = |text: &str| Ok(CallbackAnswer::Code(Secret::new(text)));
        let cases = [
            ("GET /login?state=s&code=a%2Bb HTTP/1.1\r\nhost: x\r\n\r\n", code("a+b")),
            ("POST /login HTTP/1.1\r\nContent-Length: 14\r\n\r\nstate=s&code=c", code("c")),
            (
                "GET /login?state=s&error=no&error_description=a%20b HTTP/1.1\r\n\r\n",
                Ok(CallbackAnswer::Refused("\"no\" \"a b\"".into())),
            ),
            ("GET /login?state=t&code=c HTTP/1.1\r\n\r\n", Err("incorrect \"state\" value in callback request")),
            ("GET /login?state=s HTTP/1.1\r\n\r\n", Err("no \"code\" argument in callback request")),
            ("GET /favicon.ico HTTP/1.1\r\n\r\n", Err("incorrect \"state\" value in callback request")),
            ("\r\n\r\n", Err("incorrect \"state\" value in callback request")),
        ];
        for (request, expected) in cases {
            assert!(is_whole(request.as_bytes()), "{request}");
            assert_eq!(understand(request.as_bytes(), "s"), expected, "{request}");
        }
        assert!(!is_whole(b"POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab"));
    }

    #[tokio::test]
    async fn strangers_are_turned_away_and_idle_connections_do_not_matter() {
        let callback = Callback::listen((1024, 65535)).await.unwrap();
        let port: u16 = callback.url.rsplit(':').next().unwrap().strip_suffix("/login").unwrap().parse().unwrap();
        // The port is taken, and it is the only one.
        assert!(Callback::listen((port, port)).await.is_err());
        let waiting = tokio::spawn(async move { callback.wait("s").await });
        let _idle = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        for (query, status) in [("state=x&code=c", "400"), ("state=s&code=c", "200")] {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.write_all(format!("GET /login?{query} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        }
        assert_eq!(waiting.await.unwrap().unwrap(), CallbackAnswer::Code(Secret::new("c")));
    }
}
