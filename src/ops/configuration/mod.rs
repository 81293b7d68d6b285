//! The configuration of the working directory: `load` reads it and its installed modules, with values that are evaluated
//! early (`early`); `variables` collects the values that users give.
//!
//! Never validates values: the model does that.

pub(in crate::ops) mod early;
pub mod load;
pub(in crate::ops) mod variables;
