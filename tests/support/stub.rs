//! A server on the loopback that speaks plain HTTP and answers as a test wants, with faults at chosen requests.
//!
//! Stands alone: the library's own tests use this file too.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub method: String,
    /// As it was sent, with the query.
    pub target: String,
    /// Decoded, without the query.
    pub path: String,
    /// Decoded; parameters without a value have an empty one.
    pub query: BTreeMap<String, String>,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Call {
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// `PUT /path`, for lists of what was asked.
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status, headers: Vec::new(), body: body.into() }
    }

    pub fn with(mut self, name: &'static str, value: impl ToString) -> Answer {
        self.headers.push((name, value.to_string()));
        self
    }
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is reset before the request is handled.
    Lost,
    /// The request is handled, and the connection reset before the answer.
    Unanswered,
    /// The answer is cut off in the middle.
    Truncated,
    /// The request is not handled; the answer has this status.
    Status(u16),
    /// The answer takes so many milliseconds.
    Slow(u64),
}

pub const FAULTS: [Fault; 7] = [
    Fault::Lost,
    Fault::Unanswered,
    Fault::Truncated,
    Fault::Status(429),
    Fault::Status(500),
    Fault::Status(503),
    Fault::Slow(300),
];

type Handler = dyn Fn(&Call) -> Answer + Send + Sync;

/// Runs until the test process ends; connections are threads.
pub struct Stub {
    pub port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    calls: Mutex<Vec<Call>>,
    faults: Mutex<BTreeMap<usize, Fault>>,
    /// The server is gone: connections are refused, as far as a listener can.
    down: Mutex<bool>,
}

impl Stub {
    pub fn start(handler: impl Fn(&Call) -> Answer + Send + Sync + 'static) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let (served, handler): (_, Arc<Handler>) = (shared.clone(), Arc::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, handler) = (served.clone(), handler.clone());
                std::thread::spawn(move || {
                    let _ = serve(&stream, &shared, &*handler);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Stub { port, shared }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// What was asked since, one line each.
    pub fn lines(&self) -> Vec<String> {
        self.calls().iter().map(Call::line).collect()
    }

    pub fn forget(&self) {
        self.shared.calls.lock().unwrap().clear();
    }

    /// The request after so many others goes wrong, once.
    pub fn fault(&self, after: usize, fault: Fault) {
        self.shared.faults.lock().unwrap().insert(after, fault);
    }

    /// Whether all connections are closed at once.
    pub fn set_down(&self, down: bool) {
        *self.shared.down.lock().unwrap() = down;
    }
}

fn serve(stream: &TcpStream, shared: &Shared, handler: &Handler) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(call) = read(&mut reader)? {
        if *shared.down.lock().unwrap() {
            return Ok(());
        }
        let number = {
            let mut calls = shared.calls.lock().unwrap();
            calls.push(call.clone());
            calls.len() - 1
        };
        let fault = shared.faults.lock().unwrap().remove(&number);
        let mut answer = match fault {
            Some(Fault::Lost) => return reset(stream),
            Some(Fault::Status(status)) => Answer::new(status, "trouble"),
            _ => handler(&call),
        };
        match fault {
            Some(Fault::Unanswered) => return reset(stream),
            Some(Fault::Slow(pause)) => std::thread::sleep(Duration::from_millis(pause)),
            _ => {}
        }
        if *shared.down.lock().unwrap() {
            return Ok(());
        }
        let is_last = call.headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        if is_last {
            answer = answer.with("Connection", "close");
        }
        let bytes = encoded(&answer);
        let whole = if fault == Some(Fault::Truncated) { &bytes[..bytes.len() - 1] } else { &bytes[..] };
        (&*stream).write_all(whole)?;
        if is_last || fault == Some(Fault::Truncated) {
            return Ok(());
        }
    }
    Ok(())
}

/// Ends a connection with a reset instead of an orderly end.
fn reset(stream: &TcpStream) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let size = std::mem::size_of::<libc::linger>() as libc::socklen_t;
        // SAFETY: the socket is open, and the option's value has the size that is given.
        unsafe {
            let value = (&raw const linger).cast();
            libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, value, size);
        }
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Call>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut call = Call { method, target: target.to_owned(), path: decoded(path, false), ..Call::default() };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        call.query.insert(decoded(name, true), decoded(value, true));
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        call.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    if call.headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
        call.body = chunked(reader)?;
    } else {
        let length = call.headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        call.body = vec![0; length];
        reader.read_exact(&mut call.body)?;
    }
    Ok(Some(call))
}

fn chunked(reader: &mut BufReader<TcpStream>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        body.extend_from_slice(&chunk[..length]);
        if length == 0 {
            return Ok(body);
        }
    }
}

fn decoded(text: &str, plus: bool) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escape = (*first == b'%').then(|| after.get(..2).and_then(|d| std::str::from_utf8(d).ok())).flatten();
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None if plus && *first == b'+' => bytes.push(b' '),
            None => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(answer: &Answer) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} X\r\nContent-Length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), &answer.body].concat()
}
