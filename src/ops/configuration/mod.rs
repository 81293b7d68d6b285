//! The configuration of the working directory: `load` reads it and what `init` installed for it, by values that are known
//! early (`early`); `variables` collects the values that people give.
//!
//! Never decides what a value may be: that is the model's concern.

pub(in crate::ops) mod early;
pub mod load;
pub(in crate::ops) mod variables;
