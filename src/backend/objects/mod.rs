//! What kinds share that keep states as objects of a service: names, lists of keys, checksums, compression, and what other kinds
//! may use too: names of workspaces, and locks that have to be kept up.
//!
//! Never knows any service.

pub mod checksum;
pub mod failure;
pub mod gzip;
pub mod key_list;
pub mod path;
pub mod watched_lock;
pub mod workspaces;
