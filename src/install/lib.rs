//! Packages of providers and modules: sources, authentication and installation.
//!
//! For providers, [`providers::resolve`] creates a plan from requirements and a lock, and
//! [`providers::install`] installs the packages of a plan and returns a new lock. Modules are found while they are installed: [`modules::install`] walks from call to call.
//! Never knows the engine or the state; never prints.

pub mod authenticate;
pub mod event;
pub mod modules;
pub mod oci;
mod opentofu;
pub mod package;
pub mod providers;
pub mod registry;
pub mod release;
pub mod source;
pub mod verify;
pub mod version_index;
