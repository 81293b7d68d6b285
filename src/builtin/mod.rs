//! The plugins that live in this binary; not told that they run in a process of their own.
//!
//! Owns the built-in providers and provisioners, the declarative schemas that they are written with, and SSH. Each
//! implements a trait of `model::provider`; `table` lists them. Never knows how a plugin is started or served, nor the
//! engine.

pub mod providers;
pub mod provisioners;
pub mod sdk;
pub mod ssh;
pub mod table;
mod wording;

use crate::base::env;

/// Keeps from a user's program what a host told this process alone.
fn without_handshake(command: &mut tokio::process::Command) {
    for name in [
        env::TF_PLUGIN_MAGIC_COOKIE,
        env::PLUGIN_MIN_PORT,
        env::PLUGIN_MAX_PORT,
        env::PLUGIN_PROTOCOL_VERSIONS,
        env::PLUGIN_CLIENT_CERT,
        env::PLUGIN_MULTIPLEX_GRPC,
        env::PLUGIN_UNIX_SOCKET_DIR,
        env::PLUGIN_UNIX_SOCKET_GROUP,
    ] {
        command.env_remove(name);
    }
}
