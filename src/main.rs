//! The `terrane` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    terrane::cli::run(std::env::args_os())
}
