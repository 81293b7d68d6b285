//! The integration tests: one binary, one folder per command or concern.

// Helpers of tests may panic: then the test fails.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod architecture;
mod backends;
mod browser;
mod commands;
mod contract;
mod crash;
mod encryption;
mod faults;
mod growth;
mod hostile;
mod interop;
mod lives;
mod machine_output;
mod model;
mod modules;
mod protocols;
mod providers;
mod sdk;
mod state_stores;
mod support;
mod syntax;
mod test_files;

/// Counts for each thread by itself, which costs next to nothing: [`hostile`] holds what is read against its size, [`growth`]
/// what is planned and applied against the number of instances.
#[global_allocator]
static ALLOCATOR: hostile::allocation::Counting = hostile::allocation::Counting;
