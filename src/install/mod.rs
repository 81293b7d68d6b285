//! Packages: where they come from, whether they are the right ones, and how they get into the working directory.
//!
//! Two values: [`providers::resolve`] makes an [`providers::InstallPlan`] out of requirements and a lock,
//! [`providers::execute`] makes a lock out of a plan. Never knows the engine or the state; never prints.

pub mod event;
pub mod package;
pub mod providers;
pub mod source;
pub mod verify;
