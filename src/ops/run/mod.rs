//! Planning and applying. `operation` prepares configuration, state, variables and plugins; `plan`
//! shows a plan and optionally saves it (`plan_file`); `apply` applies it, and `sink` records the results,
//! and `tracker` what was done; `import` is an apply of one object.
//!
//! Never decides the content of a plan: the engine does that.

pub mod apply;
mod event_log;
pub mod generated_file;
pub mod import;
pub mod operation;
pub mod plan;
pub mod plan_file;
pub mod query;
mod sink;
mod tracker;
