//! What commands show: for people and for programs, a type each.

pub mod human;
pub mod json;
pub mod operation;
pub mod shown;
pub mod ticker;
