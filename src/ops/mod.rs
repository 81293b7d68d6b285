//! Every user-visible operation, end to end; the only place that wires doors to the engine.
//!
//! Takes plain options, gives back values and diagnostics. Never knows argument syntax, never prints, never prompts: what
//! only a person can answer it asks through [`ask::Ask`], what happens meanwhile it tells a [`listen::Listener`].

pub mod ask;
pub mod listen;
pub mod login;
pub mod options;
pub mod planning;
pub mod settings;
pub mod setup;
pub mod workdir;
pub mod workspaces;

pub mod backend_record;
mod host;
pub mod init;
mod install;
pub mod load;
mod lock_file;
pub mod modules;
pub mod network;
mod old_provisioners;
pub mod open_backend;
pub mod operation;
mod packages;
mod provider_factories;
pub mod read_state;
pub mod remote_states;
pub mod selections;
mod sink;
mod stand_ins;
mod variables;

pub mod apply;
mod cached_schemas;
pub mod called_modules;
pub mod console;
mod early;
mod event_log;
pub mod fmt;
pub mod force_unlock;
mod generated_file;
pub mod graph;
pub mod import;
pub mod plan;
pub mod plan_file;
pub mod provider_schemas;
pub mod providers;
pub mod providers_lock;
pub mod providers_mirror;
pub mod show;
pub mod state;
pub mod state_edits;
pub mod validate;
