//! Policies of this machine: for a run, checked alone, and tested.
//!
//! Owns where the files are found, and which values their inputs take. Never decides what a policy says: `engine::policy` does.

pub mod files;
pub mod install_gate;
pub mod load;
pub mod test;
pub mod validate;
