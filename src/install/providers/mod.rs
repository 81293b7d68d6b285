//! Installing providers: requirements and a lock to a plan ([`resolve`]), the plan to packages on disk and a new lock ([`install`]).
//! In addition, for any platform and without installation: hashes for the lock ([`platform_lock`]), archives for a mirror ([`mirror`]).
//!
//! Owns the decisions and their order. Never knows the protocols of sources or how a package is checked.

mod download;
mod fetch;
mod inspect;
pub mod install;
pub mod mirror;
mod placed;
pub mod platform_lock;
mod relay;
pub mod resolve;

/// The folder below the data directory that holds the packages.
pub const PACKAGES_DIR: &str = "providers";

/// How many providers are asked for or downloaded at the same time.
const SIDE_BY_SIDE: usize = 8;
