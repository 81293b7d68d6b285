//! The output of commands: one type for people and one for programs.
//!
//! Owns the order of output; layouts are in `render`. Never decides what an operation does.

mod downloads;
pub mod human;
pub mod init;
pub mod json;
pub mod login;
pub mod operation;
mod remote;
pub mod shown;
pub mod ticker;
