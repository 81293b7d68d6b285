//! Arguments in, screens out.

pub mod args;
