//! Installs modules: the calls of the root module, and the calls of the installed modules.
//!
//! A module is only known once its caller is loaded, so the installation is a walk: each call is a task, packages are fetched in
//! parallel and each only once, and events are reported in the order of the tree. Never knows providers.

mod checksum;
mod context;
pub mod fetch;
mod folders;
pub mod from_module;
mod guard;
mod install_package;
mod local;
mod packages;
mod resolutions;
mod resolve;
mod walk;

pub use checksum::Checksums;
pub use fetch::Fetcher;
pub use guard::{ModuleGuard, ResolvedModule};
pub use walk::{Input, Outcome, install};
