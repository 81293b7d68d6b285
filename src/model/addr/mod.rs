//! Addresses: immutable values, one type per kind, in local and absolute form; parsing and printing them.
//!
//! An address never knows whether its object exists.

#[cfg(feature = "cli")]
pub mod action;
#[cfg(feature = "cli")]
pub mod command_line;
pub mod instance;
pub mod module;
#[cfg(feature = "cli")]
pub mod parse;
#[cfg(feature = "cli")]
pub mod pattern;
#[cfg(feature = "cli")]
pub mod provider;
#[cfg(feature = "cli")]
pub mod reference;
pub mod resource;
#[cfg(feature = "cli")]
pub mod target;

#[cfg(feature = "cli")]
pub use action::{AbsActionInstance, Action, ActionInstance};
pub use instance::InstanceKey;
pub use module::{Module, ModuleInstance, ModuleStep};
#[cfg(feature = "cli")]
pub use pattern::Pattern;
#[cfg(feature = "cli")]
pub use provider::{AbsProviderConfig, LocalProviderConfig, Provider};
#[cfg(feature = "cli")]
pub use reference::{Reference, Subject};
pub use resource::{AbsResource, AbsResourceInstance, ConfigResource, Resource, ResourceInstance, ResourceMode};
#[cfg(feature = "cli")]
pub use target::Target;
