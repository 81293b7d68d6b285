//! State stores: reading, writing and locking states.
//!
//! Owns the two traits, the backends behind them, and what makes a run's results durable for every store: the journal,
//! its replay, and when to write a snapshot. Never knows configuration, plans or the engine.

pub mod azurerm;
pub mod consul;
pub mod cos;
pub mod gcs;
mod gzip;
pub mod hcp;
pub mod history;
pub mod http;
mod import;
pub mod journal_writer;
pub mod journaled;
pub mod kubernetes;
pub mod local;
pub mod lock;
pub mod memory;
#[cfg(test)]
#[allow(dead_code, clippy::print_stdout, clippy::unwrap_used)]
#[path = "../../tests/support/needs.rs"]
mod needs;
pub mod oci;
pub mod oss;
pub mod pg;
pub mod provided;
pub mod recovery;
pub mod s3;
pub mod services;
pub mod settings;
mod watched_lock;

mod history_store;
mod object_path;
mod sealed;
mod sealed_journal;
pub mod store;
pub mod table;
pub mod transfer;
mod user_key;
pub mod versions;
pub mod web;
pub mod workspace;

/// The summary where a state could not be written.
pub const STATE_NOT_SAVED: &str = "Failed to save state";

#[cfg(any(test, feature = "conformance"))]
#[allow(clippy::unwrap_used)]
pub mod conformance;
#[cfg(test)]
#[allow(dead_code, clippy::print_stdout)]
mod servers;

pub use history_store::BackendWithHistory;
pub use import::import;
pub use journaled::{FinishError, JournaledState};
pub use lock::{LockInfo, acquire};
pub use recovery::{Access, Loaded, finish_replay, load, take_up};
pub use sealed::{SealedBackend, opened, sealed};
pub use store::{Backend, LockError, StateStore, StoreError};
pub use user_key::UserKey;
