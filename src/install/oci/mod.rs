//! Registries of the Open Container Initiative, which have providers and modules: the requests, and what they are authorized with.
//!
//! Owns credentials, tokens, manifests and digests. Never knows what is in a repository.

pub mod access;
pub mod client;
pub mod digest;
pub mod helper;
pub mod logins;

use std::fmt;

pub use client::OciClient;
pub use digest::Digest;
pub use logins::Logins;

/// Why a registry did not give what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciError {
    /// The run was asked to stop.
    Interrupted,
    Unreachable {
        host: String,
        why: String,
    },
    Unauthorized {
        host: String,
        had_credentials: bool,
    },
    /// Anything else; for people, without a full stop and without secrets.
    Failed(String),
}

/// For people, with what they can do about it.
impl fmt::Display for OciError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OciError::Interrupted => f.write_str("interrupted"),
            OciError::Unreachable { host, why } => write!(f, "could not connect to {host}: {why}"),
            OciError::Unauthorized { host, had_credentials: true } => write!(
                f,
                "host {host} rejected the given authentication credentials; check that they may read the repository, and the \
                 oci_credentials blocks of the CLI configuration"
            ),
            OciError::Unauthorized { host, had_credentials: false } => write!(
                f,
                "host {host} requires authentication credentials; add an oci_credentials block to the CLI configuration, or log in \
                 with a program such as \"docker login\""
            ),
            OciError::Failed(why) => f.write_str(why),
        }
    }
}
