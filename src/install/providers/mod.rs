//! Installing providers: requirements and a lock to a plan ([`resolve`]), the plan to packages on disk and a new lock ([`execute`]).
//!
//! Owns what is decided and in which order things happen. Never knows the protocols of sources or how a package is checked.

pub mod execute;
mod fetch;
mod relay;
pub mod resolve;

/// The folder below the data directory that holds the packages.
pub const PACKAGES_DIR: &str = "providers";

/// How many providers are asked for or downloaded at the same time.
const SIDE_BY_SIDE: usize = 8;
