//! A way to a server on the loopback that goes wrong at a chosen request: the connection breaks before or after it was handled, or the
//! answer is an error. It counts requests, and can hold one until the test has done something.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::server::identity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request never arrives.
    Before,
    /// The request is handled, its answer never arrives.
    After,
    Status(u16),
    /// This request and all that follow never arrive.
    Gone,
    /// The request waits for [`Way::release`], and is lost then.
    Held,
    /// The answer takes so many milliseconds longer.
    Slow(u64),
}

#[derive(Default)]
struct Plan {
    fault: Option<(usize, Fault)>,
    seen: Vec<String>,
    reached: bool,
    released: bool,
}

pub struct Way {
    pub port: u16,
    shared: Arc<(Mutex<Plan>, Condvar)>,
}

impl Way {
    pub fn to(target: u16) -> Way {
        Way::start(target, None)
    }

    /// A way that speaks TLS, with the certificate of the authority that vouches for it.
    pub fn secure(target: u16) -> (Way, String) {
        let (config, authority) = identity();
        (Way::start(target, Some(config)), authority)
    }

    fn start(target: u16, tls: Option<Arc<rustls::ServerConfig>>) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new((Mutex::new(Plan::default()), Condvar::new()));
        let ours = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (shared, tls) = (ours.clone(), tls.clone());
                std::thread::spawn(move || {
                    let connection = client.try_clone().ok()?;
                    match tls {
                        None => serve(client, target, &shared),
                        Some(config) => {
                            let session = rustls::ServerConnection::new(config).ok()?;
                            serve(rustls::StreamOwned::new(session, client), target, &shared)
                        }
                    };
                    connection.shutdown(Shutdown::Both).ok()
                });
            }
        });
        Way { port, shared }
    }

    /// From now on: this fault at the request of this number, counted from 1.
    pub fn plan(&self, fault: Option<(usize, Fault)>) {
        *self.shared.0.lock().unwrap() = Plan { fault, ..Plan::default() };
    }

    /// First lines of the requests since the last plan.
    pub fn seen(&self) -> Vec<String> {
        self.shared.0.lock().unwrap().seen.clone()
    }

    /// Waits until the planned request is there. False: it did not come in time.
    pub fn reached(&self, patience: Duration) -> bool {
        let plan = self.shared.0.lock().unwrap();
        self.shared.1.wait_timeout_while(plan, patience, |plan| !plan.reached).unwrap().0.reached
    }

    /// Lets go of the request that is held.
    pub fn release(&self) {
        self.shared.0.lock().unwrap().released = true;
        self.shared.1.notify_all();
    }
}

/// One request. The caller ends the connection.
fn serve<S: Read + Write>(client: S, target: u16, shared: &(Mutex<Plan>, Condvar)) -> Option<()> {
    let mut reader = BufReader::new(client);
    let request = read(&mut reader)?;
    let fault = {
        let mut plan = shared.0.lock().unwrap();
        plan.seen.push(request.first.clone());
        let number = plan.seen.len();
        let fault = plan.fault.filter(|(at, fault)| *at == number || (*fault == Fault::Gone && number > *at));
        plan.reached |= fault.is_some();
        shared.1.notify_all();
        fault.map(|(_, fault)| fault)
    };
    let answer = match fault {
        Some(Fault::Before | Fault::Gone) => return None,
        Some(Fault::Held) => {
            let plan = shared.0.lock().unwrap();
            drop(shared.1.wait_while(plan, |plan| !plan.released).unwrap());
            return None;
        }
        Some(Fault::Status(status)) => {
            format!("HTTP/1.1 {status} Trouble\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").into_bytes()
        }
        Some(Fault::After) => {
            forward(&request, target)?;
            return None;
        }
        Some(Fault::Slow(pause)) => {
            std::thread::sleep(Duration::from_millis(pause));
            forward(&request, target)?
        }
        None => forward(&request, target)?,
    };
    let client = reader.get_mut();
    client.write_all(&answer).ok()?;
    client.flush().ok()
}

struct Request {
    first: String,
    head: String,
    body: Vec<u8>,
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let (mut first, mut head, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok().filter(|n| *n > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(text) = lower.strip_prefix("content-length:") {
            length = text.trim().parse().ok()?;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { first: first.trim().to_owned(), head, body })
}

/// The whole answer. The server closes the connection after it.
fn forward(request: &Request, target: u16) -> Option<Vec<u8>> {
    let mut server = TcpStream::connect(("127.0.0.1", target)).ok()?;
    write!(server, "{}\r\n{}Connection: close\r\n\r\n", request.first, request.head).ok()?;
    server.write_all(&request.body).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    Some(answer)
}
