//! The integration tests: one binary, one folder per command or concern.

mod architecture;
mod commands;
mod crash;
mod faults;
mod interop;
mod support;
