//! What commands show. A command with a form for programs has a trait here, with a type for people (`Human`) and one for programs
//! (`Json`).
//!
//! Owns when something is shown. Never decides what is done; layouts are `render`'s.

mod downloads;
pub mod get;
pub mod human;
pub mod init;
pub mod json;
pub mod login;
pub mod modules;
pub mod operation;
pub mod output;
pub mod show;
pub mod shown;
pub mod ticker;
pub mod validate;
pub mod version;
