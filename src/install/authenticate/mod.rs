//! Authentication of packages: steps, each a separate type, that check an archive before it is unpacked.
//!
//! Owns checksums, signatures and trust levels. Never knows the source of the archive, and installs nothing. `step` is what all
//! steps share, `trust` what they can find out.

pub mod checksum;
pub mod demand;
pub mod detached;
pub mod error;
mod openpgp;
mod packets;
pub mod signature;
mod step;
mod trust;

pub use step::{Archive, Step, Steps};
pub use trust::{Authentication, THIRD_PARTY_SIGNERS};
