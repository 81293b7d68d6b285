//! The integration tests: one binary, one folder per command or concern.

// What a test cannot have is a failure of the test: helpers may say so by stopping.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod architecture;
mod backends;
mod commands;
mod contract;
mod crash;
mod encryption;
mod faults;
mod hostile;
mod interop;
mod model;
mod modules;
mod providers;
mod support;
mod syntax;

/// Counts for each thread by itself, which costs next to nothing: [`hostile`] holds what is read against its size.
#[global_allocator]
static ALLOCATOR: hostile::allocation::Counting = hostile::allocation::Counting;
