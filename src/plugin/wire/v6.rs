//! The messages of protocol 6, which on the wire are those of protocol 5 too, but for the attributes of schemas.

/// The messages of `proto/tfplugin6.proto`.
#[allow(clippy::all)]
pub mod message {
    include!(concat!(env!("OUT_DIR"), "/tfplugin6.rs"));
}

/// A schema response read one level deep: `proto/schema_index.proto`.
#[allow(clippy::all)]
pub mod index {
    include!(concat!(env!("OUT_DIR"), "/schema_index.rs"));
}
