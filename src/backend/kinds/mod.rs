//! The kinds of backends.
//!
//! Owns what each of them is called, which settings it has, and how it keeps states. They have one layout: `mod` has the kind, `settings`
//! its schema and what is wrong with values (`schema` beside it where both are long), `client` the requests to its service, `store` the
//! workspaces and states, and `tests` both against a server or a stub of one. A kind without a service has no client; `memory` and `hcp`
//! are one file, because the one keeps nothing and the other only opens [`crate::hcp`]. Never knows the content of states.

pub mod azurerm;
pub mod consul;
pub mod cos;
pub mod gcs;
pub mod hcp;
pub mod http;
pub mod kind;
pub mod kubernetes;
pub mod list;
pub mod local;
pub mod memory;
pub mod oci;
pub mod oss;
pub mod pg;
pub mod provided;
pub mod s3;

pub use kind::{Kind, Opened};
