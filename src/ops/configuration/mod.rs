//! The configuration of the working directory: `load` reads it and its installed modules, with values that are evaluated
//! early (`early`); `variables` collects the values that users give, `target_files` the addresses.
//!
//! Never validates values: the model does that.

mod data_stores;
pub(crate) mod early;
pub mod generated_file;
pub mod load;
pub mod target_files;
pub(crate) mod variables;
