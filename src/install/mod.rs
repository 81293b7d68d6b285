//! Packages: where they come from, whether they are the right ones, and how they get into the working directory.
//!
//! Providers take two values: [`providers::resolve`] makes a plan out of requirements and a lock,
//! [`providers::execute`] packages in place and a new lock out of a plan. Modules are found while they are installed: [`modules::install`] walks from call to call.
//! Never knows the engine or the state; never prints.

pub mod authenticate;
pub mod event;
pub mod modules;
pub mod package;
pub mod providers;
pub mod registry;
pub mod source;
pub mod verify;
