//! The network: HTTP, certificates, proxies, credentials of clouds, and the export of traces.
//!
//! Owns the rules of every request: retries, limits of size and time, redirects, secrets in errors. Never knows what is asked for.

pub mod aws;
pub mod azure;
pub mod certificates;
pub mod cloud;
pub mod google;
pub mod http;
pub mod percent;
pub mod pkcs12;
pub mod rsa_key;
pub mod telemetry;
