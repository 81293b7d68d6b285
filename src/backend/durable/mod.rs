//! What makes a run's results durable in every store: encryption, journal, replay, moves between states, history.
//!
//! Owns the state of a workspace as commands use it ([`StateSession`]), and when a snapshot is written. Never knows any kind of backend,
//! configuration, plans or the engine.

pub mod history;
mod journal_sealing;
pub mod journal_writer;
pub mod journaled;
pub mod loaded;
pub mod locking;
pub mod open_backend;
pub mod recovery;
pub mod replace;
pub mod sealing;
pub mod session;
pub mod transfer;
pub mod user_key;

pub use journaled::{FinishError, JournaledState};
pub use loaded::{Loaded, StateAccess};
pub use open_backend::{HistoryPlace, OpenBackend};
pub use recovery::{finish_replay, load, take_up};
pub use session::StateSession;

/// The summary where a state could not be written.
pub const STATE_NOT_SAVED: &str = "Failed to save state";
