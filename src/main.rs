//! The `terrane` binary.

use std::process::ExitCode;

/// With musl's own, a plan takes twice the time.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
