//! The plugins in this binary. They do not depend on the process that they run in.
//!
//! Owns the built-in providers, which the library of `sdk` makes, the provisioners, and SSH. Each plugin
//! implements a trait of `protocol::provider`; `table` lists them. Never knows how a plugin is started or served, nor the
//! engine.

#[cfg(test)]
#[allow(dead_code, clippy::print_stdout, clippy::unwrap_used)]
#[path = "../../tests/support/needs.rs"]
mod needs;
mod opentofu;
pub mod providers;
pub mod provisioners;
pub mod ssh;
pub mod table;
mod wording;

use base::env;

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
