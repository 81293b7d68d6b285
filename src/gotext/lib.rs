//! Forms of text and bytes as Go programs write and read them.
//!
//! Recorded files, states and answers of services depend on each of these forms, byte for byte. Pure: no input, no output.

pub mod deflate;
pub mod hex;
