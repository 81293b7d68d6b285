//! Answers about a configuration that change nothing: is it valid, what does an expression give, what depends on what,
//! which providers and modules does it use, what does a plan or a state file hold.

pub mod console;
pub mod graph;
pub mod modules;
pub mod provider_schemas;
pub mod providers;
pub mod show;
pub mod validate;
