//! Why the certificates of a server are not available.

use std::fmt;

use terrane_value::text::go_quoted;

use crate::providers::tls::x509_error::X509Error;

/// What failed, in Go's words where it has some for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The system's certificates cannot be read.
    Verifier(String),
    /// There is no client with the settings for TLS and the proxy.
    Client(String),
    /// What failed before a web server was asked.
    Https(Box<FetchError>),
    /// A web server does not answer.
    Get {
        url: String,
        why: String,
    },
    /// A web server answered without TLS.
    NoCertificates {
        status: String,
    },
    /// What failed at a port without a protocol above TLS.
    Tls {
        address: String,
        why: Box<FetchError>,
    },
    ServerName(String),
    Dial {
        address: String,
        why: String,
    },
    Handshake(String),
    /// The handshake succeeded without certificates.
    NoChain,
    /// A certificate of the server cannot be read.
    Certificate(X509Error),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Verifier(why) => write!(f, "the system's certificates cannot be read: {why}"),
            FetchError::Client(why) | FetchError::ServerName(why) | FetchError::Handshake(why) => f.write_str(why),
            FetchError::Https(why) => write!(f, "failed to fetch certificates from URL 'https': {why}"),
            FetchError::Get { url, why } => write!(f, "Get {}: {why}", go_quoted(url)),
            FetchError::NoCertificates { status } => {
                write!(f, "got back response (status: {status}) with no certificates from URL 'https'")
            }
            FetchError::Tls { address, why } => {
                write!(f, "unable to execute TLS connection towards {address}: {why}")
            }
            FetchError::Dial { address, why } => write!(f, "dial tcp {address}: {why}"),
            FetchError::NoChain => f.write_str("the server sent no certificates"),
            FetchError::Certificate(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FetchError {}
