//! States in the stores of large clouds, with the real program: every step of a state's life, together with the reference where it is there, and everything
//! that can go wrong on the way to the server.

mod gcs;
mod life;
mod s3;

use crate::support::clouds::Server;
use crate::support::faulty::Way;

/// A kind of store for the tests that are the same for all.
pub struct Store {
    pub server: Server,
    pub way: Way,
    /// The block `backend`, for a state of this name; `port` is where the server is asked: its own, or that of the way to it.
    pub block: fn(port: u16, name: &str) -> String,
}
