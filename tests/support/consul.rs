//! An agent of Consul, as far as states need one: keys, transactions, sessions, blocking queries.
//!
//! Stands alone with the stub server: the library's own tests use this file too.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::stub::{Answer, Call, Stub};

/// The most that one request to store may have, as agents are set by default.
const LIMIT: usize = 512 * 1024;

pub struct ConsulStub {
    pub stub: Stub,
    agent: Arc<Agent>,
}

#[derive(Default)]
struct Agent {
    store: Mutex<Store>,
    changed: Condvar,
}

#[derive(Clone, Default)]
struct Store {
    index: u64,
    keys: BTreeMap<String, Entry>,
    sessions: BTreeMap<String, Session>,
    /// Keys that cannot be locked until then.
    delays: BTreeMap<String, Instant>,
    made: u32,
}

#[derive(Clone, Default)]
struct Entry {
    value: Vec<u8>,
    flags: u64,
    created: u64,
    modified: u64,
    lock_index: u64,
    session: Option<String>,
}

#[derive(Clone)]
struct Session {
    ttl: Duration,
    expires: Instant,
}

impl ConsulStub {
    pub fn start() -> ConsulStub {
        let agent = Arc::new(Agent::default());
        let serving = agent.clone();
        ConsulStub { stub: Stub::start(move |call| serving.answer(call)), agent }
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.stub.port)
    }

    /// The keys, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.agent.store().keys.keys().cloned().collect()
    }

    pub fn value(&self, key: &str) -> Option<Vec<u8>> {
        self.agent.store().keys.get(key).map(|entry| entry.value.clone())
    }

    pub fn set(&self, key: &str, value: &[u8]) {
        self.agent.change(|store| {
            store.put(key, value.to_vec());
        });
    }

    pub fn sessions(&self) -> Vec<String> {
        self.agent.store().sessions.keys().cloned().collect()
    }

    /// Ends all sessions, as if none had been renewed in time.
    pub fn expire_sessions(&self) {
        self.agent.change(|store| {
            for session in store.sessions.keys().cloned().collect::<Vec<_>>() {
                store.end_session(&session);
            }
        });
    }

    /// No key waits to be locked again.
    pub fn end_delays(&self) {
        self.agent.change(|store| store.delays.clear());
    }
}

impl Store {
    fn put(&mut self, key: &str, value: Vec<u8>) -> &mut Entry {
        self.index += 1;
        let index = self.index;
        let entry = self.keys.entry(key.to_owned()).or_insert_with(|| Entry { created: index, ..Entry::default() });
        entry.value = value;
        entry.modified = index;
        entry
    }

    fn delete(&mut self, key: &str) {
        if self.keys.remove(key).is_some() {
            self.index += 1;
        }
    }

    fn lock(&mut self, key: &str, value: Vec<u8>, flags: u64, session: &str) -> Result<(), String> {
        if !self.sessions.contains_key(session) {
            return Err(format!("invalid session {session:?}"));
        }
        if self.delays.get(key).is_some_and(|until| *until > Instant::now()) {
            return Err(format!("failed to lock key {key:?} due to lock delay"));
        }
        let holder = self.keys.get(key).and_then(|entry| entry.session.clone());
        if holder.as_deref().is_some_and(|holder| holder != session) {
            return Err(format!("failed to lock key {key:?}, lock is already held"));
        }
        let entry = self.put(key, value);
        entry.flags = flags;
        entry.lock_index += u64::from(holder.is_none());
        entry.session = Some(session.to_owned());
        Ok(())
    }

    fn unlock(&mut self, key: &str, value: Vec<u8>, session: &str) -> Result<(), String> {
        if self.keys.get(key).and_then(|entry| entry.session.as_deref()) != Some(session) {
            return Err(format!("failed to unlock key {key:?}, lock isn't held, or is held by another session"));
        }
        self.put(key, value).session = None;
        Ok(())
    }

    fn end_session(&mut self, id: &str) {
        if self.sessions.remove(id).is_none() {
            return;
        }
        self.index += 1;
        let (index, until) = (self.index, Instant::now() + Duration::from_secs(5));
        for (key, entry) in self.keys.iter_mut().filter(|(_, entry)| entry.session.as_deref() == Some(id)) {
            entry.session = None;
            entry.modified = index;
            self.delays.insert(key.clone(), until);
        }
    }

    fn shown(&self, key: &str, with_value: bool) -> Value {
        let Some(entry) = self.keys.get(key) else {
            return json!({"Key": key, "Value": null, "ModifyIndex": self.index});
        };
        let mut shown = json!({
            "LockIndex": entry.lock_index,
            "Key": key,
            "Flags": entry.flags,
            "Value": if with_value { json!(STANDARD.encode(&entry.value)) } else { Value::Null },
            "CreateIndex": entry.created,
            "ModifyIndex": entry.modified,
        });
        if let Some(session) = &entry.session {
            shown["Session"] = json!(session);
        }
        shown
    }

    /// One step of a transaction: its results.
    fn step(&mut self, step: &Value) -> Result<Vec<Value>, String> {
        let key = step["Key"].as_str().unwrap_or_default();
        let value = STANDARD.decode(step["Value"].as_str().unwrap_or_default()).unwrap();
        let session = step["Session"].as_str().unwrap_or_default();
        let index = step["Index"].as_u64().unwrap_or(0);
        let now = self.keys.get(key).map_or(0, |entry| entry.modified);
        match step["Verb"].as_str().unwrap_or_default() {
            "set" => {
                self.put(key, value);
            }
            "cas" if index != now => return Err(format!("failed to set key {key:?}, index is stale")),
            "cas" => {
                self.put(key, value);
            }
            "delete" => {
                self.delete(key);
                return Ok(Vec::new());
            }
            "lock" => self.lock(key, value, step["Flags"].as_u64().unwrap_or(0), session)?,
            "unlock" => self.unlock(key, value, session)?,
            "check-session" => {
                let holder = self.keys.get(key).and_then(|entry| entry.session.as_deref());
                if holder != Some(session) {
                    return Err(format!(
                        "failed session check for key {key:?}, current session {holder:?} != {session:?}"
                    ));
                }
            }
            verb => return Err(format!("unknown verb {verb:?}")),
        }
        Ok(vec![json!({ "KV": self.shown(key, false) })])
    }
}

impl Agent {
    fn store(&self) -> MutexGuard<'_, Store> {
        let mut store = self.store.lock().unwrap_or_else(|e| e.into_inner());
        let now = Instant::now();
        let expired: Vec<String> =
            store.sessions.iter().filter(|(_, s)| s.expires < now).map(|(id, _)| id.clone()).collect();
        expired.iter().for_each(|id| store.end_session(id));
        store
    }

    fn change<T>(&self, work: impl FnOnce(&mut Store) -> T) -> T {
        let done = work(&mut self.store());
        self.changed.notify_all();
        done
    }

    fn answer(&self, call: &Call) -> Answer {
        let path = call.path.strip_prefix("/v1/").unwrap_or_default();
        match (call.method.as_str(), path.split_once('/').unwrap_or((path, ""))) {
            ("PUT", ("session", rest)) => self.session(call, rest),
            ("GET", ("kv", key)) => self.get(call, key),
            ("PUT", ("kv", key)) => self.put(call, key),
            ("DELETE", ("kv", key)) => self.delete(call, key),
            ("PUT", ("txn", _)) => self.transaction(call),
            _ => Answer::new(405, "method not allowed"),
        }
    }

    fn session(&self, call: &Call, rest: &str) -> Answer {
        let (verb, id) = rest.split_once('/').unwrap_or((rest, ""));
        self.change(|store| match verb {
            "create" => {
                let body: Value = serde_json::from_slice(&call.body).unwrap();
                let ttl: u64 = body["TTL"].as_str().unwrap().trim_end_matches('s').parse().unwrap();
                store.made += 1;
                let id = format!("{:08x}-0000-4000-8000-000000000000", store.made);
                // Sessions live longer than they are promised to.
                let ttl = Duration::from_secs(ttl) * 2;
                store.sessions.insert(id.clone(), Session { ttl, expires: Instant::now() + ttl });
                Answer::new(200, json!({ "ID": id }).to_string())
            }
            "renew" => match store.sessions.get_mut(id) {
                Some(session) => {
                    session.expires = Instant::now() + session.ttl;
                    Answer::new(200, json!([{ "ID": id, "TTL": "15s" }]).to_string())
                }
                None => Answer::new(404, format!("Session id '{id}' not found")),
            },
            _ => {
                store.end_session(id);
                Answer::new(200, "true")
            }
        })
    }

    fn get(&self, call: &Call, key: &str) -> Answer {
        if call.parameter("keys").is_some() {
            return self.list(call, key);
        }
        let index: u64 = call.parameter("index").and_then(|text| text.parse().ok()).unwrap_or(0);
        let wait = call.parameter("wait").and_then(|text| text.strip_suffix("ms")?.parse().ok()).unwrap_or(60_000);
        let end = Instant::now() + Duration::from_millis(wait);
        let mut store = self.store();
        // An index of a key that is not there is the store's.
        let now = |store: &Store| store.keys.get(key).map_or(store.index.max(1), |entry| entry.modified);
        while index > 0 && now(&store) <= index && Instant::now() < end {
            let pause = Duration::from_millis(100);
            let guard = self.changed.wait_timeout(store, pause).unwrap_or_else(|e| e.into_inner()).0;
            drop(guard);
            store = self.store();
        }
        let body =
            if store.keys.contains_key(key) { json!([store.shown(key, true)]).to_string() } else { String::new() };
        let status = if body.is_empty() { 404 } else { 200 };
        Answer::new(status, body).with("X-Consul-Index", now(&store))
    }

    /// Names that begin so, up to the first separator after that. Not sorted, as agents may give them.
    fn list(&self, call: &Call, prefix: &str) -> Answer {
        let separator = call.parameter("separator").unwrap_or_default();
        let store = self.store();
        let names = store.keys.keys().filter(|key| key.starts_with(prefix));
        let names = names.map(|key| match key[prefix.len()..].find(separator) {
            Some(at) if !separator.is_empty() => key[..prefix.len() + at + separator.len()].to_owned(),
            _ => key.clone(),
        });
        let mut names: Vec<String> = names.collect();
        names.dedup();
        names.reverse();
        if names.is_empty() { Answer::new(404, "") } else { Answer::new(200, json!(names).to_string()) }
    }

    fn put(&self, call: &Call, key: &str) -> Answer {
        if let Some(refusal) = refused(call) {
            return refusal;
        }
        let done = self.change(|store| match (call.parameter("acquire"), call.parameter("release")) {
            (Some(session), _) => {
                let flags = call.parameter("flags").and_then(|text| text.parse().ok()).unwrap_or(0);
                store.lock(key, call.body.clone(), flags, session).is_ok()
            }
            (_, Some(session)) => store.unlock(key, call.body.clone(), session).is_ok(),
            _ => {
                store.put(key, call.body.clone());
                true
            }
        });
        Answer::new(200, done.to_string())
    }

    fn delete(&self, call: &Call, key: &str) -> Answer {
        self.change(|store| {
            let index = call.parameter("cas").and_then(|text| text.parse::<u64>().ok());
            if index.is_some_and(|index| store.keys.get(key).is_none_or(|entry| entry.modified != index)) {
                return Answer::new(200, "false");
            }
            let names: Vec<String> = match call.parameter("recurse") {
                Some(_) => store.keys.keys().filter(|name| name.starts_with(key)).cloned().collect(),
                None => vec![key.to_owned()],
            };
            names.iter().for_each(|name| store.delete(name));
            Answer::new(200, "true")
        })
    }

    fn transaction(&self, call: &Call) -> Answer {
        if let Some(refusal) = refused(call) {
            return refusal;
        }
        let steps: Vec<Value> = serde_json::from_slice(&call.body).unwrap();
        self.change(|store| {
            let mut after = store.clone();
            let (mut results, mut errors) = (Vec::new(), Vec::new());
            for (number, step) in steps.iter().enumerate() {
                match after.step(&step["KV"]) {
                    Ok(more) => results.extend(more),
                    Err(what) => errors.push(json!({ "OpIndex": number, "What": what })),
                }
            }
            if errors.is_empty() {
                *store = after;
                Answer::new(200, json!({ "Results": results, "Errors": null }).to_string())
            } else {
                Answer::new(409, json!({ "Results": null, "Errors": errors }).to_string())
            }
        })
    }
}

fn refused(call: &Call) -> Option<Answer> {
    let length = call.body.len();
    (length > LIMIT).then(|| {
        Answer::new(
            413,
            format!("Request body({length} bytes) too large, max size: {LIMIT} bytes. See the documentation."),
        )
    })
}
