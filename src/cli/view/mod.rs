//! What commands show: for people and for programs, a type each.
//!
//! Owns when something is shown. Never decides what is done; layouts are `render`'s.

mod downloads;
pub mod human;
pub mod init;
pub mod json;
pub mod login;
pub mod operation;
pub mod shown;
pub mod ticker;
