//! A proxy for HTTPS on the loopback interface: it connects every host to one port of this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Proxy {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub fn start(target: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let seen = seen.clone();
                std::thread::spawn(move || tunnel(client, target, &seen));
            }
        });
        Proxy { port, asked }
    }

    /// The requests' first lines: `CONNECT host:port HTTP/1.1`; behind them the login, if there is one.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The tunnel ends when either side disconnects.
fn tunnel(client: TcpStream, target: u16, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if header.to_ascii_lowercase().starts_with("proxy-authorization:") {
            let login = header.split_once(':').unwrap_or_default().1;
            request = format!("{} with{login}", request.trim());
        }
    }
    seen.lock().unwrap().push(request.trim().to_owned());
    let mut client = client;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    let server = TcpStream::connect(("127.0.0.1", target)).ok()?;
    let (mut from_server, mut to_client) = (server.try_clone().ok()?, client.try_clone().ok()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Write);
    });
    let mut to_server = server;
    let _ = std::io::copy(&mut reader, &mut to_server);
    let _ = to_server.shutdown(Shutdown::Write);
    Some(())
}
