//! An HTTPS server on the loopback interface, with a certificate of a generated authority; tests define its responses.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::Project;
use super::trouble::{Deed, Trouble, Troubles};

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Asked {
    /// Without its query.
    pub fn place(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// What is answered.
#[derive(Clone)]
pub struct Reply {
    pub status: String,
    pub headers: Vec<(String, String)>,
    /// Shared: a large one is served many times at once.
    pub body: Arc<Vec<u8>>,
}

impl Reply {
    pub fn status(status: &str) -> Reply {
        Reply { status: status.to_owned(), headers: Vec::new(), body: Arc::default() }
    }

    pub fn json(text: impl Into<String>) -> Reply {
        Reply::status("200 OK").with("Content-Type", "application/json").body(text.into())
    }

    pub fn bytes(body: Arc<Vec<u8>>) -> Reply {
        Reply { body, ..Reply::status("200 OK") }
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Reply {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Reply {
        self.body = Arc::new(body.into());
        self
    }
}

type Handler = dyn Fn(&Asked) -> Option<Reply> + Send + Sync;

/// The host runs until the test ends.
pub struct Server {
    pub port: u16,
    /// Every request, in order.
    asked: Arc<Mutex<Vec<Asked>>>,
    troubles: Arc<Troubles>,
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
        let server = Server { port, asked: Arc::default(), troubles: Arc::default() };
        let (seen, troubles, handler): (_, _, Arc<Handler>) =
            (server.asked.clone(), server.troubles.clone(), Arc::new(handler));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, handler) = (config.clone(), handler.clone());
                let (seen, troubles) = (seen.clone(), troubles.clone());
                std::thread::spawn(move || serve(stream, config, &*handler, &seen, &troubles));
            }
        });
        server
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.host())
    }

    /// Number of requests for a path, with any query.
    pub fn count(&self, path: &str) -> usize {
        self.requests().iter().filter(|asked| asked.place() == path).count()
    }

    /// All that was asked, in order.
    pub fn requests(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.asked.lock().unwrap().clear();
    }

    /// From now on, requests for a path that contains `part` get this fault, after earlier ones were used.
    pub fn trouble(&self, part: &str, trouble: Trouble) {
        self.troubles.add(part, trouble);
    }

    /// All is well again.
    pub fn heal(&self) {
        self.troubles.clear();
    }
}

/// The names that the tests' host goes by; all but the first two need a proxy that leads to it.
const NAMES: [&str; 7] = [
    "127.0.0.1",
    "localhost",
    "registry.example.com",
    "registry.terraform.io",
    "account.blob.core.windows.net",
    "states-1250000000.cos.ap-test.myqcloud.com",
    "tag.tencentcloudapi.com",
];

/// The certificate of an authority, and of a host that it vouches for, with the host's key.
pub fn certified() -> (String, rcgen::Certificate, KeyPair) {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(NAMES.map(str::to_owned).to_vec()).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    (authority_pem, leaf, key)
}

/// How a host of the tests speaks TLS, and the certificate of the authority that vouches for it.
pub fn identity() -> (Arc<rustls::ServerConfig>, String) {
    let (authority, leaf, key) = certified();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
    (Arc::new(config), authority)
}

/// Writes `certificate.pem` and `key.pem` for a server that is another program. Commands of the project trust it.
pub fn write_identity(project: &mut Project) {
    let (authority, leaf, key) = certified();
    let authority = project.write("authority.pem", &authority);
    project.set("SSL_CERT_FILE", authority);
    project.write("certificate.pem", &leaf.pem());
    project.write("key.pem", &key.serialize_pem());
}

pub type Stream = rustls::StreamOwned<rustls::ServerConnection, TcpStream>;

/// One request per connection. A client may disconnect.
fn serve(
    stream: TcpStream,
    config: Arc<rustls::ServerConfig>,
    handler: &Handler,
    seen: &Mutex<Vec<Asked>>,
    troubles: &Troubles,
) {
    let Ok(connection) = rustls::ServerConnection::new(config) else { return };
    let mut reader = BufReader::new(Stream::new(connection, stream));
    let Some(asked) = read(&mut reader) else { return };
    seen.lock().unwrap().push(asked.clone());
    let mut stream = reader.into_inner();
    let deed = troubles.of(&asked, || handler(&asked));
    let (reply, trouble) = match deed {
        Deed::Answer(reply) => (reply, None),
        Deed::Break(reply, trouble) => (reply, Some(trouble)),
        Deed::Hang => {
            // Held open, without a word, until the other side gives up.
            let _ = stream.read(&mut [0]);
            return;
        }
        Deed::Leave => return,
    };
    let length = trouble.as_ref().map_or(reply.body.len(), |trouble| trouble.claimed_length(&reply));
    let mut head = format!("HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: {length}\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let whole = match trouble {
        Some(trouble) => trouble.send(&reply.body, &mut stream),
        None => stream.write_all(&reply.body).is_ok(),
    };
    if whole {
        stream.conn.send_close_notify();
    }
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
