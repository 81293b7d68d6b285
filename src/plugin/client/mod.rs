//! Clients: a provider or a provisioner in another process, as the traits of `protocol::provider` want one.
//!
//! [`provider`] has the client of providers with its connection, its schemas and the calls that need only these; the other
//! kinds of calls extend it, a file each. `failure` words what a failed call means to users. Never knows how a process is
//! started or ended.

mod action;
pub mod confirmation;
mod failure;
mod function;
mod identity;
mod import;
mod list;
pub mod provider;
pub mod provisioner;
mod resource;
mod state_store;

#[cfg(test)]
pub use failure::Callee;
