//! A host on the loopback that speaks HTTPS, with a certificate of an authority of its own: whatever a test wants it to be.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::support::Project;

/// What was asked for.
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// What is answered.
pub struct Reply {
    pub status: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn status(status: &str) -> Reply {
        Reply { status: status.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn json(text: impl Into<String>) -> Reply {
        Reply::status("200 OK").with("Content-Type", "application/json").body(text.into())
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Reply {
        self.body = body.into();
        self
    }
}

type Handler = dyn Fn(&Asked) -> Option<Reply> + Send + Sync;

/// The host runs until the test ends.
pub struct Server {
    pub port: u16,
    /// Every path asked for, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a host whose answers `handler` gives; None: it never answers. Commands of the project trust it.
    pub fn start(project: &mut Project, handler: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static) -> Server {
        let (config, authority) = identity();
        let certificate = project.write("authority.pem", &authority);
        project.set("SSL_CERT_FILE", &certificate);
        project.set("GIT_SSL_CAINFO", &certificate);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, handler): (_, Arc<Handler>) = (asked.clone(), Arc::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, handler, seen) = (config.clone(), handler.clone(), seen.clone());
                std::thread::spawn(move || serve(stream, config, &*handler, &seen));
            }
        });
        Server { port, asked }
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host())
    }

    /// How often a path was asked for, whatever its query.
    pub fn count(&self, path: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|p| p.split('?').next() == Some(path)).count()
    }
}

fn identity() -> (Arc<rustls::ServerConfig>, String) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
    (Arc::new(config), authority_pem)
}

/// One request per connection. A client that goes away is nobody's failure.
fn serve(stream: TcpStream, config: Arc<rustls::ServerConfig>, handler: &Handler, seen: &Mutex<Vec<String>>) {
    let Ok(connection) = rustls::ServerConnection::new(config) else { return };
    let mut reader = BufReader::new(rustls::StreamOwned::new(connection, stream));
    let Some(asked) = read(&mut reader) else { return };
    seen.lock().unwrap().push(asked.path.clone());
    let Some(reply) = handler(&asked) else {
        // Held open, without a word, until the other side gives up.
        let _ = reader.read(&mut [0]);
        return;
    };
    let mut head =
        format!("HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = reader.into_inner();
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(&reply.body);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = Vec::new();
    if let Some(length) = headers.get("content-length").and_then(|text| text.parse::<u64>().ok()) {
        reader.take(length).read_to_end(&mut body).ok()?;
    } else if headers.get("transfer-encoding").is_some_and(|text| text == "chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = u64::from_str_radix(size.trim(), 16).ok()?;
            reader.take(size).read_to_end(&mut body).ok()?;
            reader.read_line(&mut String::new()).ok()?;
            if size == 0 {
                break;
            }
        }
    }
    Some(Asked { method, path, headers, body })
}

/// Lets git itself answer, for the repositories below a folder.
pub fn git(root: &Path, asked: &Asked) -> Reply {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let header = |name: &str| asked.headers.get(name).cloned().unwrap_or_default();
    let mut backend = Command::new("git");
    backend.arg("http-backend").env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    backend.env("PATH_INFO", path).env("QUERY_STRING", query).env("REQUEST_METHOD", &asked.method);
    backend.env("CONTENT_TYPE", header("content-type")).env("HTTP_CONTENT_ENCODING", header("content-encoding"));
    backend.env("GIT_PROTOCOL", header("git-protocol")).env("REMOTE_ADDR", "127.0.0.1");
    let mut child = backend.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&asked.body).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    let end = output.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(output.len());
    let mut reply = Reply::status("200 OK").body(output.get(end + 4..).unwrap_or_default());
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => reply.status = status.to_owned(),
            Some((name, value)) => reply = reply.with(name, value),
            None => {}
        }
    }
    reply
}
