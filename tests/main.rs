//! The integration tests: one binary, one folder per command or concern.

// What a test cannot have is a failure of the test: helpers may say so by stopping.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod architecture;
mod commands;
mod contract;
mod crash;
mod faults;
mod interop;
mod model;
mod modules;
mod providers;
mod support;
mod syntax;
