//! The integration tests: one binary, one folder per command or concern.

mod architecture;
mod crash;
mod faults;
mod interop;
mod support;
