//! The integration tests: one binary, one folder per command.

mod architecture;
