//! What only protocol 5 has: its schema attributes and the provisioner messages. All else is as in [`super::v6`].

/// The messages of `proto/tfplugin5.proto`.
#[allow(clippy::all)]
pub mod message {
    include!(concat!(env!("OUT_DIR"), "/tfplugin5.rs"));
}
