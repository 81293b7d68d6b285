//! HTTP as everybody here uses it: redirects, retries, timeouts, TLS settings and proxies in one place.
//!
//! Owns which failures are retried and how they are worded. Never knows what is asked for, and never shows a secret.

mod client;
mod failure;
mod request;
mod transport;

pub use client::{Client, Progress, Settings};
pub use failure::{Failure, FailureKind, explanation};
pub use request::{Answer, Request};
pub use transport::{Proxies, Tls, is_loopback, without_secrets};
