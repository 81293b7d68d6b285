//! The configuration: files to modules to a tree of modules; one file per kind of block.
//!
//! Owns what blocks mean before anything is evaluated, and the mistakes that can be seen without evaluating. Never
//! knows the state, a provider's process or a value that depends on a run.

mod block;
mod module;

pub use block::{
    Condition, IgnoreChanges, Lifecycle, Local, ModuleCall, OnFailure, Output, ProviderBlock, ProviderPassing,
    ProviderRef, ProvisionerBlock, ProvisionerWhen, Resource, Variable,
};
pub use module::{Backend, Config, Module, ProviderRequirement};
