//! Certificates: `issue` makes them of a `template`, `read` reads them, `describe` shows them as `data.tls_certificate` does.
//!
//! `extensions` lists extensions, `known_extensions` checks those that are read; `algorithms` names algorithms.
//! Never verifies a chain, nor connects to a server.

mod algorithms;
pub mod describe;
pub mod extensions;
pub mod issue;
mod known_extensions;
pub mod read;
#[cfg(test)]
pub mod recorded;
mod template;

pub use issue::{Authority, Issued};
pub use template::{Options, Template};
