//! Forms of text and bytes as Go programs write and read them: JSON that is safe within HTML, PEM, RFC 3339, globs, DEFLATE, digits.
//!
//! Recorded files, states and answers of services depend on each of these forms, byte for byte. What values need as well (strings of
//! JSON, Go's quotes, durations) is in `terrane-value`, which is published without this crate. Pure: no input, no output.

pub mod calendar;
pub mod deflate;
pub mod glob;
pub mod hex;
pub mod json;
pub mod pem;
pub mod rfc3339;
pub mod timestamp;
