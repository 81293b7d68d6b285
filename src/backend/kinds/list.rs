//! The list of backends, and how a name finds one.
//!
//! Owns which backends there are. The caller evaluates a backend's block by its schema and passes the value.

use base::diag::{self, Diagnostic};
use base::suggest;

use super::kind::Kind;
use super::{azurerm, consul, cos, gcs, hcp, http, kubernetes, local, memory, oci, oss, pg, s3};

/// All of them, sorted by name.
pub const KINDS: &[&dyn Kind] = &[
    &azurerm::AzureRm,
    &hcp::Cloud,
    &consul::ConsulKind,
    &cos::Cos,
    &gcs::Gcs,
    &http::Http,
    &memory::InMemory,
    &kubernetes::Kubernetes,
    &local::Local,
    &oci::Oci,
    &oss::Oss,
    &pg::Pg,
    &hcp::Remote,
    &s3::S3,
];

const REMOVED: &[&str] = &["artifactory", "etcd", "etcdv3", "manta", "swift"];

/// The backend of a name, or why there is none (for the caller to attach the place).
pub fn find(name: &str) -> Result<&'static dyn Kind, Diagnostic> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.name() == name) {
        return Ok(*kind);
    }
    Err(no_backend(match name {
        "azure" => "The \"azure\" backend name has been removed, please use \"azurerm\".".to_string(),
        name if REMOVED.contains(&name) => {
            format!("The {name:?} backend is not supported in Terraform v1.3 or later.")
        }
        name => format!("There is no backend type named {name:?}."),
    })
    .with_tip(close_backend(name)))
}

/// Which backend was probably meant, as a question.
fn close_backend(name: &str) -> String {
    suggest::question(name, KINDS.iter().map(|kind| kind.name()))
}

/// The error for a name that no backend has.
pub fn no_backend(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Unsupported backend type", detail.into()).of_kind(diag::Kind::UnknownBackend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_backends_are_explained() {
        let cases = [
            ("x", "There is no backend type named \"x\"."),
            ("etcd", "The \"etcd\" backend is not supported in Terraform v1.3 or later."),
            ("azure", "The \"azure\" backend name has been removed, please use \"azurerm\"."),
        ];
        for (name, detail) in cases {
            assert_eq!(find(name).map(|_| ()).unwrap_err().detail, detail);
        }
        assert!(KINDS.is_sorted_by_key(|kind| kind.name()));
    }
}
