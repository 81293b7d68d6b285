//! What all backends agree on: stores of states and the facts about them, locks, errors, and what a backend is opened with.
//!
//! Never knows any kind of backend, nor how what is stored is encrypted, journaled or kept.

pub mod context;
pub mod error;
pub mod facts;
pub mod lock;
pub mod schema;
pub mod services;
pub mod settings;
pub mod store;
pub mod versions;

pub use context::{Context, StateFiles};
pub use error::{ErrorKind, Explanation, StoreError};
pub use facts::{FileBackups, ForcedWrites, REMOTE_SNAPSHOT_PAUSE, StoreFacts};
pub use lock::{LockError, LockInfo};
pub use store::{Backend, DEFAULT_WORKSPACE, FirstState, StateStore};
