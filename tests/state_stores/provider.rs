//! A provider with a state store that keeps states as files of a folder. This very test binary serves it, when a program
//! made by [`install`] runs it.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, StateStores};
use terrane_protocol::schema::{Attribute, Block, Schema};
use terrane_sdk::{self, Context, Error, Provider, Types, Values};
use terrane_value::{Type, Value};

use crate::support::{Project, served};

/// Set where the test binary is the provider.
const MARK: &str = "TERRANE_TEST_STATE_STORE";

/// Writes a program that is the provider.
pub fn install(project: &Project, program: &str) {
    project.script(program, &served::launcher(MARK, "1", "state_stores::provider::serves"));
}

/// No test: what [`install`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    if std::env::var_os(MARK).is_none() {
        return;
    }
    served::serve(terrane_sdk::server(StoreProvider))
}

/// A provider with the state store alone.
struct StoreProvider;

impl Provider for StoreProvider {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        let text = |required| Attribute { required, optional: !required, ..Attribute::new(Type::String) };
        let attributes = [(Arc::from("dir"), text(true)), (Arc::from("fail"), text(false))].into();
        let schema = Schema::new(0, Block { attributes, ..Block::default() });
        types.state_stores([(Arc::from("files_store"), Arc::new(schema))].into(), Arc::new(FileStores::default()));
    }
}

/// The settings of the store.
#[derive(Default)]
struct FileStores(Mutex<(PathBuf, String)>);

fn refused(summary: &str) -> ProviderDiagnostics {
    vec![ProviderDiagnostic::error(summary, "The store was asked to fail.")]
}

impl FileStores {
    fn file(&self, name: &str) -> PathBuf {
        self.0.lock().unwrap().0.join(name)
    }

    fn fails(&self, call: &str) -> bool {
        self.0.lock().unwrap().1 == call
    }
}

#[async_trait]
impl StateStores for FileStores {
    async fn validate_state_store(&self, _: &str, config: Value) -> ProviderDiagnostics {
        match config.get("fail").and_then(Value::as_str) {
            Some("validate") => refused("Invalid state store"),
            Some("warn") => vec![ProviderDiagnostic::warning("Odd state store", "The store was asked to warn.")],
            _ => Vec::new(),
        }
    }

    async fn configure_state_store(&self, _: &str, config: Value) -> ProviderDiagnostics {
        let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        *self.0.lock().unwrap() = (text("dir").into(), text("fail"));
        if self.fails("configure") { refused("State store failed") } else { Vec::new() }
    }

    async fn read_state(&self, _: &str, state: &str) -> Result<Vec<u8>, ProviderDiagnostics> {
        if self.fails("read") {
            return Err(refused("State read failed"));
        }
        Ok(std::fs::read(self.file(&format!("{state}.state"))).unwrap_or_default())
    }

    async fn write_state(&self, _: &str, state: &str, content: Arc<[u8]>) -> ProviderDiagnostics {
        if self.fails("write") {
            return refused("State write failed");
        }
        std::fs::create_dir_all(self.file("")).unwrap();
        std::fs::write(self.file(&format!("{state}.state")), content).unwrap();
        Vec::new()
    }

    async fn lock_state(&self, _: &str, state: &str, operation: &str) -> Result<String, ProviderDiagnostics> {
        std::fs::create_dir_all(self.file("")).unwrap();
        let file = self.file(&format!("{state}.lock"));
        match File::create_new(file) {
            Ok(mut file) => {
                write!(file, "{operation}").unwrap();
                Ok(operation.to_owned())
            }
            Err(_) => Err(refused("State is locked")),
        }
    }

    async fn unlock_state(&self, _: &str, state: &str, lock: &str) -> ProviderDiagnostics {
        let file = self.file(&format!("{state}.lock"));
        match std::fs::read_to_string(&file) {
            Ok(held) if held == lock => {
                std::fs::remove_file(file).unwrap();
                Vec::new()
            }
            _ => refused("Cannot unlock"),
        }
    }

    async fn states(&self, _: &str) -> Result<Vec<String>, ProviderDiagnostics> {
        let entries = std::fs::read_dir(self.file("")).into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            entry.file_name().to_str().and_then(|name| name.strip_suffix(".state")).map(String::from)
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        Ok(names)
    }

    async fn delete_state(&self, _: &str, state: &str) -> ProviderDiagnostics {
        match std::fs::remove_file(self.file(&format!("{state}.state"))) {
            Ok(()) => Vec::new(),
            Err(_) => refused("Cannot delete"),
        }
    }
}
