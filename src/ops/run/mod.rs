//! Plans and what is done with them. `operation` brings configuration, state, variables and plugins together; `plan`
//! shows what would be done, perhaps kept in a file (`plan_file`); `apply` carries it out, and `sink` records the results;
//! `import` is an apply of one object.
//!
//! Never decides what a plan holds: that is the engine's concern.

pub mod apply;
mod event_log;
mod generated_file;
pub mod import;
pub mod operation;
pub mod plan;
pub mod plan_file;
mod sink;
