//! A state store on the other side of a plugin's connection.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use ::backend::conformance;
use ::backend::contract::{Backend, FirstState};
use base::env::Environment;
use plugin::reattach::Reattach;
use plugin::start::{ProviderProcess, reattach_provider};
use terrane_protocol::handshake::Handshake;
use terrane_protocol::provider::StateStores;
use terrane_protocol::schema::Attribute;
use terrane_protocol::serve::{Caller, Plugin, serve};
use terrane_sdk::{self, Error, Types, Values};
use terrane_value::Type;

use super::*;

const KIND: &str = "t_store";

/// States in memory.
#[derive(Default)]
struct MemoryStores {
    states: Mutex<BTreeMap<String, Slot>>,
    locks: Mutex<u32>,
}

#[derive(Default)]
struct Slot {
    content: Option<Arc<[u8]>>,
    lock: Option<String>,
}

impl MemoryStores {
    fn states(&self) -> MutexGuard<'_, BTreeMap<String, Slot>> {
        self.states.lock().unwrap()
    }
}

/// A provider with one state store, of this schema.
struct StoreProvider(Schema);

impl terrane_sdk::Provider for StoreProvider {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut terrane_sdk::Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        let schemas = [(Arc::from(KIND), Arc::new(self.0.clone()))];
        types.state_stores(schemas.into(), Arc::new(MemoryStores::default()));
    }
}

fn refused(summary: &str) -> ProviderDiagnostics {
    vec![ProviderDiagnostic::error(summary, "It is so.")]
}

#[async_trait]
impl StateStores for MemoryStores {
    async fn validate_state_store(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        assert_eq!(kind, KIND);
        if config.get("dir").is_none_or(Value::is_null) { refused("No folder") } else { Vec::new() }
    }

    async fn configure_state_store(&self, _kind: &str, config: Value) -> ProviderDiagnostics {
        match config.get("dir").and_then(Value::as_str) {
            Some("broken") => refused("Broken folder"),
            _ => Vec::new(),
        }
    }

    async fn read_state(&self, _kind: &str, state: &str) -> Result<Vec<u8>, ProviderDiagnostics> {
        match state {
            "unreadable" => Err(refused("Cannot read")),
            state => Ok(self.states().get(state).and_then(|slot| slot.content.clone()).unwrap_or_default().to_vec()),
        }
    }

    async fn write_state(&self, _kind: &str, state: &str, content: Arc<[u8]>) -> ProviderDiagnostics {
        if state == "unwritable" {
            return refused("Cannot write");
        }
        self.states().entry(state.to_owned()).or_default().content = Some(content);
        Vec::new()
    }

    async fn lock_state(&self, _kind: &str, state: &str, operation: &str) -> Result<String, ProviderDiagnostics> {
        let mut states = self.states();
        let slot = states.entry(state.to_owned()).or_default();
        if slot.lock.is_some() {
            return Err(refused("State is locked"));
        }
        let mut locks = self.locks.lock().unwrap();
        *locks += 1;
        let id = format!("{operation} {locks}");
        slot.lock = Some(id.clone());
        Ok(id)
    }

    async fn unlock_state(&self, _kind: &str, state: &str, lock: &str) -> ProviderDiagnostics {
        match self.states().get_mut(state) {
            Some(slot) if slot.lock.as_deref() == Some(lock) => {
                slot.lock = None;
                Vec::new()
            }
            _ => refused("No such lock"),
        }
    }

    async fn states(&self, _kind: &str) -> Result<Vec<String>, ProviderDiagnostics> {
        let filled = |(name, slot): (&String, &Slot)| slot.content.is_some().then(|| name.clone());
        let mut names: Vec<String> = MemoryStores::states(self).iter().filter_map(filled).collect();
        names.sort_by_key(|name| name != "default");
        Ok(names)
    }

    async fn delete_state(&self, _kind: &str, state: &str) -> ProviderDiagnostics {
        match self.states().remove(state) {
            Some(_) => Vec::new(),
            None => refused("No such state"),
        }
    }
}

/// A provider with that store, served on a socket.
async fn served(protocol: u16) -> ProviderProcess {
    let attributes = [(Arc::from("dir"), Attribute { optional: true, ..Attribute::new(Type::String) })].into();
    let schema = Schema::new(0, Block { attributes, ..Block::default() });
    let provider = terrane_sdk::server(StoreProvider(schema));
    let (send, line) = tokio::sync::oneshot::channel();
    let caller = Caller { versions: vec![5, 6], ..Caller::default() };
    tokio::spawn(serve(Plugin::Provider(provider), protocol, caller, plugin::crypto(), move |line| {
        let _ = send.send(line.to_owned());
        Ok(())
    }));
    let address = Handshake::parse(&line.await.unwrap()).unwrap().address;
    reattach_provider(&Reattach { address, version: protocol, pid: 0 }, "t").await.unwrap()
}

fn settings(dir: &str) -> Value {
    Value::object([("dir", Value::string(dir))])
}

async fn configured(process: &ProviderProcess) -> ProvidedBackend {
    let provider = process.provider();
    let schemas = provider.schemas().await.unwrap();
    assert_eq!(schemas.state_store_names(), [Arc::from(KIND)]);
    let stores = provider.state_stores().unwrap();
    assert_eq!(stores.validate_state_store(KIND, settings("d")).await, Vec::new());
    assert_eq!(stores.configure_state_store(KIND, settings("d")).await, Vec::new());
    let context = Context::new(Environment::default(), std::env::temp_dir());
    ProvidedBackend::new(provider.clone(), KIND, "place".into(), context)
}

#[tokio::test]
async fn a_state_store_of_a_plugin_is_a_backend() {
    let process = served(6).await;
    conformance::check(&configured(&process).await).await;
    process.shutdown().await;
}

#[tokio::test]
async fn states_of_any_size_cross_the_wire() {
    let process = served(6).await;
    let store = configured(&process).await.open_store("default", &FirstState::default()).await.unwrap();
    // More than two chunks of the size that is proposed.
    for length in [1, 8 << 20, (20 << 20) + 3] {
        let content: Arc<[u8]> = (0..length).map(|i: u32| (i % 251) as u8).collect();
        store.write(content.clone()).await.unwrap();
        assert!(store.read().await.unwrap().unwrap() == *content, "{length} bytes");
    }
    process.shutdown().await;
}

#[tokio::test]
async fn a_store_says_why_it_fails() {
    let process = served(6).await;
    let provider = process.provider();
    let stores = provider.state_stores().unwrap();
    let unconfigured = stores.write_state(KIND, "default", Arc::from(&b"{}"[..])).await;
    assert_eq!(unconfigured[0].summary, "The state store is not configured");
    let unset = Value::object([("dir", Value::null(Type::String))]);
    assert_eq!(stores.validate_state_store(KIND, unset).await, refused("No folder"));
    assert_eq!(stores.configure_state_store(KIND, settings("broken")).await, refused("Broken folder"));
    let unknown = stores.validate_state_store("t_other", settings("d")).await;
    assert_eq!(unknown[0].summary, "unknown state store type \"t_other\"");
    let backend = configured(&process).await;
    let error = backend.create_store("unwritable", &FirstState::default()).await.err().unwrap();
    assert_eq!(error.text, "Cannot write: It is so.");
    assert_eq!(error.summary_and_detail(), Some(("Cannot write", "It is so.")));
    let store = backend.open_store("unreadable", &FirstState::default()).await.unwrap();
    assert_eq!(store.read().await.unwrap_err().summary_and_detail(), Some(("Cannot read", "It is so.")));
    assert_eq!(backend.delete_workspace("other", true).await.unwrap_err().text, "No such state: It is so.");
    process.shutdown().await;
}

#[tokio::test]
async fn protocol_5_has_no_state_stores() {
    let process = served(5).await;
    assert!(process.provider().state_stores().is_none());
    process.shutdown().await;
}
