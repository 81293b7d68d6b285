//! An HTTP server for tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A request that the test server received.
pub struct Question {
    head: String,
    body: Vec<u8>,
    /// From 1, over all paths.
    pub number: usize,
}

impl Question {
    /// The first line, the sorted headers and the body, with bars between them.
    pub fn text(&self) -> String {
        let mut lines: Vec<&str> = self.head.lines().skip(1).collect();
        lines.sort_unstable();
        format!("{}|{}|{}", self.line(), lines.join("|"), String::from_utf8_lossy(&self.body))
    }

    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub fn path(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or_default()
    }

    /// Reads a request from a connection.
    pub fn read(stream: &mut impl Read, number: usize) -> Question {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().trim_end().to_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        Question { head, body, number }
    }
}

pub struct Server {
    address: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Server {
    /// Sends one response per connection. A response that ends with `\0wait` keeps the connection open for a second.
    pub fn start(respond: impl Fn(&Question) -> Vec<u8> + Send + 'static) -> Server {
        Server::serve(move |mut stream, number| {
            let answer = respond(&Question::read(&mut stream, number));
            let (written, waits) = answer.strip_suffix(b"\0wait").map_or((&answer[..], false), |start| (start, true));
            stream.write_all(written).unwrap();
            if waits {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_secs(1));
                    drop(stream);
                });
            }
        })
    }

    /// Handles each connection with its number.
    pub fn serve(handle: impl Fn(TcpStream, usize) + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counter = count.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                handle(stream.unwrap(), counter.fetch_add(1, Ordering::SeqCst) + 1);
            }
        });
        Server { address, count }
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The number of connections so far.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

/// An answer with a length.
pub fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
    [head.as_bytes(), body].concat()
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
