//! The configuration of the working directory: `load` reads it and its installed modules, with values that are evaluated
//! early (`early_values`); `variables` collects the values that users give, `target_files` the addresses;
//! `generated_file` writes configuration for imports.
//!
//! Never validates values: the model does that.

mod data_stores;
pub(crate) mod early_values;
pub mod generated_file;
pub mod load;
pub mod target_files;
pub(crate) mod variables;
