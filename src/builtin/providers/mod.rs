//! The built-in providers, a file or folder each.
//!
//! Each owns its resources; it never knows the others, how it is served, or the configuration around a resource.

pub mod archive;
pub mod cloudinit;
pub mod external;
mod failure;
pub mod http;
pub mod local;
pub mod null;
mod program;
pub mod random;
mod rules;
pub mod terraform;
#[cfg(test)]
mod tester;
pub mod time;
pub mod tls;
mod tls_text;

use terrane_sdk::{Context, Error};

/// Waits for a result; an error with this summary if the user interrupts the run.
async fn until_stopped<D, T>(context: &Context<D>, summary: &str, future: impl Future<Output = T>) -> Result<T, Error> {
    tokio::select! {
        result = future => Ok(result),
        () = context.stopping() => Err(Error::new(summary, "The operation was interrupted.")),
    }
}

/// The summary for data sources that were not read because the run was interrupted.
const NOT_READ: &str = "Data source not read";
