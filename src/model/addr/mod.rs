//! Addresses: immutable values, one type per kind, in local and absolute form; parsing and printing them.
//!
//! An address never knows whether its object exists.

pub mod action;
pub mod command_line;
pub mod instance;
pub mod module;
pub mod parse;
pub mod pattern;
pub mod provider;
pub mod reference;
pub mod resource;
pub mod target;

pub use action::{AbsActionInstance, Action, ActionInstance};
pub use instance::InstanceKey;
pub use module::{Module, ModuleInstance, ModuleStep};
pub use pattern::Pattern;
pub use provider::{AbsProviderConfig, LocalProviderConfig, Provider};
pub use reference::{Reference, Subject};
pub use resource::{AbsResource, AbsResourceInstance, ConfigResource, Resource, ResourceInstance};
pub use target::Target;
