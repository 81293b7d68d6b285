//! Opening the backend that the configuration asks for, and checking that it is the one that `init` opened.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value as Json};

use super::record::{self, BackendRecord};
use crate::backend::table::{self, Context, StateFiles};
use crate::backend::{Access, Backend, Loaded, LockInfo, StateStore, StoreError};
use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::{COMMAND, PROGRAM};
use crate::base::stop::Stop;
use crate::lang::value::json::from_json;
use crate::model::config::{self, decode_backend};
use crate::model::provider::{about_body, has_errors};
use crate::model::schema::Schema;

use crate::ops::interface::listen::Listener;
use crate::ops::interface::options::StateOptions;
use crate::ops::setup::Setup;

const UNREADABLE_RECORD: &str = "Failed to read the record of the backend";

/// An open backend with the store of the workspace in use.
pub struct Opened {
    pub backend: Arc<dyn Backend>,
    pub store: Arc<dyn StateStore>,
}

/// The settings that a backend block gives, as the record keeps them, with those of the command line laid over them.
/// None: there is no block.
pub fn wanted(block: Option<&config::Backend>, overlay: &Map<String, Json>) -> (Option<BackendRecord>, Diagnostics) {
    let Some(block) = block else { return (None, Diagnostics::new()) };
    let (settings, diagnostics) = decode_backend(block);
    let setting = |(name, value): (&str, Option<String>)| (name.to_owned(), value.map_or(Json::Null, Json::from));
    let mut config: Map<String, Json> = settings.into_iter().map(setting).collect();
    let hash = hash(&config);
    config.extend(overlay.iter().map(|(name, value)| (name.clone(), value.clone())));
    let record = BackendRecord { kind: block.kind.to_string(), config: Json::Object(config).to_string(), hash };
    (Some(record), diagnostics)
}

/// FNV-1a: any hash will do, for readers compare the settings where hashes differ.
fn hash(config: &Map<String, Json>) -> u32 {
    let text = Json::Object(config.clone()).to_string();
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The same backend with the same settings; what is null is not set.
pub fn same(a: &BackendRecord, b: &BackendRecord) -> bool {
    let set = |record: &BackendRecord| -> Option<Map<String, Json>> {
        let config: Map<String, Json> = serde_json::from_str(&record.config).ok()?;
        Some(config.into_iter().filter(|(_, value)| !value.is_null()).collect())
    };
    a.kind == b.kind && set(a) == set(b)
}

/// The record of the working directory.
pub fn recorded(setup: &Setup) -> Result<Option<BackendRecord>, Diagnostics> {
    record::read(&setup.workdir.data_dir).map_err(|e| Diagnostic::error(UNREADABLE_RECORD, e.to_string()).into())
}

/// Opens the backend for the command's workspace. `block` is the root module's; nothing is migrated here.
pub async fn open(
    setup: &Setup,
    block: Option<&config::Backend>,
    options: &StateOptions,
) -> Result<Opened, Diagnostics> {
    open_record(setup, in_use(setup, block)?.as_ref(), options, &setup.workdir.workspace).await
}

/// The record of the backend that `init` opened, if it is still the one that the configuration asks for. None: the local
/// one with its defaults.
pub fn in_use(setup: &Setup, block: Option<&config::Backend>) -> Result<Option<BackendRecord>, Diagnostics> {
    let (wanted, diagnostics) = wanted(block, &Map::new());
    // A block of a kind that there is may be wrong in itself: until it was initialised, that alone is said.
    let known = wanted.as_ref().is_none_or(|wanted| table::find(&wanted.kind).is_ok());
    let recorded = recorded(setup)?;
    if diagnostics.has_errors() {
        return Err(match (&wanted, &recorded) {
            (Some(wanted), None) if known => init_needed(", ", &first_time(wanted)),
            (Some(wanted), Some(recorded)) if known && wanted.kind == recorded.kind => init_needed(": ", CHANGED),
            (Some(wanted), Some(recorded)) if known => init_needed(": ", &other_kind(wanted, recorded)),
            _ => diagnostics,
        });
    }
    Ok(match (wanted, recorded) {
        (None, None) => None,
        // Settings of the command line are in the record only: the block's own must be as they were.
        (Some(wanted), Some(recorded)) if same(&wanted, &recorded) || wanted.hash == recorded.hash => Some(recorded),
        (Some(wanted), None) => return Err(init_needed(", ", &first_time(&wanted))),
        (None, Some(recorded)) => {
            let reason = format!("Unsetting the previously set backend {:?}", recorded.kind);
            return Err(init_needed(", ", &reason));
        }
        (Some(wanted), Some(recorded)) if wanted.kind == recorded.kind => {
            return Err(init_needed(": ", CHANGED));
        }
        (Some(wanted), Some(recorded)) => return Err(init_needed(": ", &other_kind(&wanted, &recorded))),
    })
}

/// Opens the backend of a record (none: the local one with its defaults).
pub async fn open_record(
    setup: &Setup,
    record: Option<&BackendRecord>,
    options: &StateOptions,
    workspace: &str,
) -> Result<Opened, Diagnostics> {
    let backend = backend_of(setup, record, options).await?;
    let store = backend
        .store(workspace)
        .await
        .map_err(|e| Diagnostics::from(Diagnostic::error("Failed to open the state", e.to_string())))?;
    Ok(Opened { backend, store })
}

/// The backend of a record, without a look at any workspace.
pub async fn backend_of(
    setup: &Setup,
    record: Option<&BackendRecord>,
    options: &StateOptions,
) -> Result<Arc<dyn Backend>, Diagnostics> {
    let kind = table::find(record.map_or("local", |r| r.kind.as_str()))?;
    let files = StateFiles {
        state: options.state.clone(),
        state_out: options.state_out.clone(),
        backup: options.backup.clone(),
    };
    let context = Context { environment: setup.environment.clone(), data_dir: setup.workdir.data_dir.clone(), files };
    let schema = Schema::new(0, kind.schema());
    let text = complete(record, &schema);
    let config = from_json(text.as_bytes(), schema.implied_type())
        .map_err(|e| Diagnostics::from(Diagnostic::error(UNREADABLE_RECORD, format!("{e:?}"))))?;
    let problems = kind.check(&config, &context);
    if has_errors(&problems) {
        return Err(about_body(problems, None, None));
    }
    kind.open(&config, &context).await.map_err(|problems| about_body(problems, None, None))
}

/// The record's settings with null for those of the schema that it lacks, and without any others.
fn complete(record: Option<&BackendRecord>, schema: &Schema) -> String {
    let given: Map<String, Json> = record.and_then(|r| serde_json::from_str(&r.config).ok()).unwrap_or_default();
    let names = schema.block.attributes.keys();
    let all: Map<String, Json> =
        names.map(|name| (name.to_string(), given.get(&**name).cloned().unwrap_or(Json::Null))).collect();
    Json::Object(all).to_string()
}

const CHANGED: &str = "Backend configuration block has changed";

fn first_time(wanted: &BackendRecord) -> String {
    format!("Initial configuration of the requested backend {:?}", wanted.kind)
}

fn other_kind(wanted: &BackendRecord, recorded: &BackendRecord) -> String {
    format!("Backend type changed from {:?} to {:?}", recorded.kind, wanted.kind)
}

fn init_needed(joint: &str, reason: &str) -> Diagnostics {
    Diagnostic::error(
        format!("Backend initialization required{joint}please run \"{COMMAND} init\""),
        format!(
            "Reason: {reason}\n\nThe \"backend\" is the interface that {PROGRAM} uses to store state,\nperform operations, etc. If \
             this message is showing up, it means that the\n{PROGRAM} configuration you're using is using a custom configuration \
             for\nthe {PROGRAM} backend.\n\nChanges to backend configurations require reinitialization. This allows\n{PROGRAM} to set \
             up the new configuration, copy existing state, etc. Please run\n\"{COMMAND} init\" with either the \"-reconfigure\" or \
             \"-migrate-state\" flags to\nuse the current configuration.\n\nIf the change reason above is incorrect, please verify \
             your configuration\nhasn't changed and try again. At this point, no changes to your existing\nconfiguration or state \
             have been made.",
        ),
    )
    .into()
}

/// A state that was read, under its lock if there is one.
pub struct Held {
    pub store: Arc<dyn StateStore>,
    pub loaded: Loaded,
    lock: Option<String>,
    lost: OnceLock<StoreError>,
}

/// Locks the state, if the options want it, and reads it. Without a listener the state is only read: an interrupted
/// run's journal stays, for there is no way to show its warnings before it is removed.
pub async fn hold(
    opened: &Opened,
    operation: &str,
    options: &StateOptions,
    setup: &Setup,
    listener: Option<&dyn Listener>,
) -> Result<Held, Diagnostics> {
    hold_store(&opened.store, operation, options, setup, listener).await
}

/// As `hold`, for any store.
pub async fn hold_store(
    store: &Arc<dyn StateStore>,
    operation: &str,
    options: &StateOptions,
    setup: &Setup,
    listener: Option<&dyn Listener>,
) -> Result<Held, Diagnostics> {
    let store = store.clone();
    let lock = if options.lock {
        crate::log!(Trace, "backend/local: requesting state lock for workspace {:?}", setup.workdir.workspace);
        let info = LockInfo::new(operation);
        let waiting = || listener.into_iter().for_each(Listener::waiting_for_lock);
        let taken = crate::backend::acquire(&*store, &info, options.lock_timeout, &setup.stop, waiting).await;
        Some(taken.map_err(|e| Diagnostics::from(crate::backend::lock::lock_failed(&e)))?)
    } else {
        None
    };
    let access = match (&lock, listener) {
        (None, _) => Access::ReadOnly,
        (Some(_), None) => Access::LockedToRead,
        (Some(_), Some(_)) => Access::Locked,
    };
    let loaded = crate::backend::load(&*store, access).await;
    match loaded.and_then(|loaded| settled(loaded, &*store, listener)) {
        Ok(loaded) => {
            match &loaded.file {
                Some(file) => crate::log!(
                    Debug,
                    "state read: serial {}, {} resources, lineage {}",
                    file.meta.serial,
                    file.state.resources.len(),
                    file.meta.lineage
                ),
                None => crate::log!(Debug, "state read: there is none yet"),
            }
            Ok(Held { store, loaded, lock, lost: OnceLock::new() })
        }
        Err(mut diagnostics) => {
            let held = Held { store, loaded: Loaded::default(), lock, lost: OnceLock::new() };
            diagnostics.extend(held.release().await);
            Err(diagnostics)
        }
    }
}

/// Shows what an interrupted run left open before the journal, which alone knows it, is removed.
fn settled(mut loaded: Loaded, store: &dyn StateStore, listener: Option<&dyn Listener>) -> Result<Loaded, Diagnostics> {
    if let Some(listener) = listener.filter(|_| loaded.replayed) {
        listener.diagnostics(std::mem::take(&mut loaded.warnings));
        crate::backend::settle(store, &mut loaded)?;
    }
    Ok(loaded)
}

impl Held {
    /// Stops a command whose lock is lost. Never completes.
    pub async fn stop_if_lock_is_lost(&self, stop: &Stop) -> Infallible {
        if self.lock.is_some() {
            let error = self.store.lock_lost().await;
            crate::log!(Error, "{error}");
            let _ = self.lost.set(error);
            stop.stop();
        }
        std::future::pending().await
    }

    /// What to report if the lock was lost.
    pub fn lock_loss(&self) -> Option<Diagnostic> {
        let error = self.lost.get()?;
        Some(Diagnostic::error(
            "State lock lost",
            format!(
                "Error message: {error}\n\nAnother process may have locked the state since. {PROGRAM} therefore started no further changes and did not \
                 write the state; the changes that were made are kept on this machine."
            ),
        ))
    }

    /// Gives the lock back.
    pub async fn release(self) -> Diagnostics {
        let Some(id) = self.lock else { return Diagnostics::new() };
        crate::log!(Trace, "backend/local: releasing state lock {id}");
        match self.store.unlock(&id).await {
            Ok(()) => Diagnostics::new(),
            Err(_) if self.lost.get().is_some() => Diagnostics::new(),
            Err(e) => crate::backend::lock::unlock_failed(&e).into(),
        }
    }
}
