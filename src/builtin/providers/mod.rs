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
pub mod random;
mod rules;
pub mod terraform;
#[cfg(test)]
mod tester;
pub mod time;
pub mod tls;

use crate::sdk::{Context, Error};

/// Waits for what a data source needs; an error if the user interrupts the run.
async fn until_stopped<T>(context: &Context<()>, future: impl Future<Output = T>) -> Result<T, Error> {
    tokio::select! {
        result = future => Ok(result),
        () = context.stopping() => Err(Error::new("Data source not read", "The operation was interrupted.")),
    }
}
