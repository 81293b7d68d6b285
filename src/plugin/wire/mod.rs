//! The messages of the plugin protocols as they are on the wire, and their conversion from and to `model::provider`.

pub mod v5;
pub mod v6;
