//! The program with its states elsewhere: each backend against a server.

mod clouds;
mod consul;
mod cos;
mod counted;
mod hcp;
mod hcp_runs;
mod http;
mod kubernetes;
mod logs;
mod many_faults;
mod moves;
mod oci;
mod oss;
mod pg;
pub mod places;
mod shared;
mod versions;
