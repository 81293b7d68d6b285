//! The servers that backends are tested against, shared with the tests of the whole program.

#[path = "../../tests/support/clouds.rs"]
pub mod clouds;
#[path = "../../tests/support/consul.rs"]
pub mod consul;
#[path = "../../tests/support/cos.rs"]
pub mod cos;
#[path = "../../tests/support/hcp.rs"]
pub mod hcp;
#[path = "../../tests/support/hcp_runs.rs"]
pub mod hcp_runs;
#[path = "../../tests/support/kubernetes.rs"]
pub mod kubernetes;
#[path = "../../tests/support/oci.rs"]
pub mod oci;
#[path = "../../tests/support/oss.rs"]
pub mod oss;
#[path = "../../tests/support/postgres.rs"]
pub mod postgres;
#[path = "../../tests/support/stub.rs"]
pub mod stub;

use crate::needs;
