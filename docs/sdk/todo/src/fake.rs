//! The to-do service in memory, for tests: a server on the loopback interface.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};

/// A running service. It ends with the process.
pub struct Fake {
    /// Its URL.
    pub address: String,
    store: Arc<Mutex<Store>>,
}

/// What the service has.
#[derive(Default)]
pub struct Store {
    /// By id.
    pub notes: BTreeMap<String, Value>,
    /// The secrets of notes, by id.
    pub secrets: BTreeMap<String, String>,
    pub sessions: BTreeSet<String>,
    /// Secrets are refused from now on.
    pub refuses_secrets: bool,
    last_note: u64,
    last_session: u64,
    /// Of all notes: each change has a version, and a time that follows from it.
    last_version: u64,
}

/// A status, a body and the version of a note.
type Answer = (u16, Value, Option<u64>);

struct Request {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl Fake {
    /// The only token that the service knows.
    pub const TOKEN: &str = "let-me-in";

    pub fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let fake = Fake { address, store: Arc::default() };
        let store = fake.store.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let store = store.clone();
                thread::spawn(move || serve(stream, &store));
            }
        });
        fake
    }

    /// What the service has now, to look at and to change.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }
}

/// Answers the one request of a connection.
fn serve(stream: TcpStream, store: &Mutex<Store>) {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader) else { return };
    let authorized = request.headers.get("authorization") == Some(&format!("Bearer {}", Fake::TOKEN));
    let (status, body, version) = match authorized {
        true => store.lock().unwrap().answer(&request),
        false => (401, json!("the token is not valid"), None),
    };
    let body = if status == 204 { String::new() } else { body.to_string() };
    let etag = version.map(|version| format!("ETag: \"{version}\"\r\n")).unwrap_or_default();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} -\r\nConnection: close\r\nContent-Length: {length}\r\n{etag}\r\n");
    // A client may be gone.
    let _ = reader.get_mut().write_all(format!("{head}{body}").as_bytes());
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut lines = Vec::new();
    for line in reader.by_ref().lines() {
        match line.ok()? {
            end if end.is_empty() => break,
            line => lines.push(line),
        }
    }
    let (first, rest) = lines.split_first()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let header = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: BTreeMap<String, String> = rest.iter().filter_map(header).collect();
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    Some(Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

impl Store {
    fn answer(&mut self, request: &Request) -> Answer {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match (&*request.method, &*parts) {
            ("POST", ["notes"]) => self.create(&request.body),
            ("GET", ["notes"]) => (200, self.found(query.strip_prefix("tag=")), None),
            (method, ["notes", id, rest @ ..]) if self.notes.contains_key(*id) => match (method, rest) {
                ("GET", []) => self.note(200, id),
                ("PUT", []) => self.update(id, request),
                ("PUT", ["secret"]) if self.refuses_secrets => (503, json!("no secrets today"), None),
                ("PUT", ["secret"]) => {
                    let secret = request.body["secret"].as_str().unwrap_or_default();
                    self.secrets.insert((*id).to_owned(), secret.to_owned());
                    (204, Value::Null, None)
                }
                ("DELETE", []) => {
                    self.notes.remove(*id);
                    self.secrets.remove(*id);
                    (204, Value::Null, None)
                }
                _ => (405, Value::Null, None),
            },
            ("POST", ["sessions"]) => {
                self.last_session += 1;
                let token = format!("session-{}", self.last_session);
                self.sessions.insert(token.clone());
                (201, json!({ "token": token, "seconds": 60 }), None)
            }
            ("PUT", ["sessions", token]) if self.sessions.contains(*token) => {
                (200, json!({ "token": token, "seconds": 120 }), None)
            }
            ("DELETE", ["sessions", token]) if self.sessions.remove(*token) => (204, Value::Null, None),
            _ => (404, json!("there is no such thing"), None),
        }
    }

    fn create(&mut self, body: &Value) -> Answer {
        self.last_note += 1;
        let id = self.last_note.to_string();
        self.save(&id, body);
        self.note(201, &id)
    }

    fn update(&mut self, id: &str, request: &Request) -> Answer {
        let current = format!("\"{}\"", self.notes[id]["version"]);
        let wanted = request.headers.get("if-match").is_none_or(|etag| etag == "*" || *etag == current);
        if !wanted {
            return (412, json!("there is a newer version"), None);
        }
        self.save(id, &request.body);
        self.note(200, id)
    }

    /// Stores what a client sent, with a new version.
    fn save(&mut self, id: &str, body: &Value) {
        self.last_version += 1;
        let version = self.last_version;
        let now = format!("2026-01-01T00:{:02}:{:02}Z", version / 60, version % 60);
        let created_at = self.notes.get(id).map_or_else(|| json!(now), |old| old["created_at"].clone());
        let mut note = body.clone();
        note["id"] = json!(id);
        note["version"] = json!(version);
        note["created_at"] = created_at;
        note["updated_at"] = json!(now);
        self.notes.insert(id.to_owned(), note);
    }

    fn note(&self, status: u16, id: &str) -> Answer {
        let note = &self.notes[id];
        (status, note.clone(), note["version"].as_u64())
    }

    fn found(&self, tag: Option<&str>) -> Value {
        let tagged = |note: &&Value| tag.is_none_or(|tag| note["tags"].as_array().unwrap().contains(&json!(tag)));
        let mut notes: Vec<&Value> = self.notes.values().filter(tagged).collect();
        notes.sort_by_key(|note| note["created_at"].as_str());
        json!(notes)
    }
}
