//! The output of commands. A command with JSON output has a trait here, with a type for people (`GetHuman`) and one for programs
//! (`GetJson`).
//!
//! Owns the order of output; layouts are in `render`. Never decides what an operation does.

mod both;
pub mod documents;
pub mod explain;
pub mod get;
pub mod history;
pub mod import;
pub mod init;
pub mod interrupt;
pub mod json;
pub mod lines;
pub mod login;
pub mod modules;
pub mod operation;
pub mod output;
pub mod policy;
mod remote;
pub mod review;
pub mod show;
pub mod shown;
pub mod test;
pub mod ticker;
mod unfinished;
pub mod validate;
pub mod version;
