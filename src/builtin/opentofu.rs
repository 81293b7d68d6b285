//! What OpenTofu does in another way in provisioners.
//!
//! Owns the rules of this area that depend on the dialect.

use base::dialect::Dialect;

/// Whether a command that ends well after an interrupt did its work. It may also have ended because of the interrupt, with a part of
/// its work done, which is an error for Terraform.
pub fn trusts_interrupted_commands(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;

    use terrane_protocol::provider::{ProvisionRequest, Provisioner};
    use terrane_value::{Type, Value};

    use super::*;
    use crate::provisioners::file::File;
    use crate::provisioners::local_exec::LocalExec;
    use crate::provisioners::remote_exec::RemoteExec;

    /// The errors of a command that is interrupted and ends well.
    async fn errors(dialect: Dialect) -> Vec<String> {
        let provisioner = Arc::new(LocalExec::new(dialect));
        let config = Value::object([
            ("command", Value::string("trap 'exit 0' INT; echo ready; while true; do sleep 0.05; done")),
            ("interpreter", Value::null(Type::list(Type::String))),
            ("working_dir", Value::null(Type::String)),
            ("environment", Value::null(Type::map(Type::String))),
            ("quiet", Value::null(Type::Bool)),
        ]);
        let interrupted = provisioner.clone();
        let output = Arc::new(move |line: &str| {
            if line == "ready" {
                let provisioner = interrupted.clone();
                tokio::spawn(async move { provisioner.stop().await });
            }
        });
        let found = provisioner.provision(ProvisionRequest { config, connection: Value::null_dynamic(), output }).await;
        found.into_iter().map(|problem| problem.detail).collect()
    }

    #[tokio::test]
    async fn interrupted_commands_fail_except_in_opentofu() {
        for (dialect, expected) in [(Dialect::Terrane, true), (Dialect::Terraform, true), (Dialect::OpenTofu, false)] {
            let found = errors(dialect).await;
            assert_eq!(
                found.iter().any(|error| error.contains("interrupted (exit status 0)")),
                expected,
                "{dialect:?} {found:?}"
            );
        }
    }

    #[tokio::test]
    async fn winrm_connections_have_the_error_of_each_dialect() {
        let request = || {
            let connection = Value::object([("type", Value::string("winrm"))]);
            ProvisionRequest { config: Value::null_dynamic(), connection, output: Arc::new(|_: &str| {}) }
        };
        let terraform = "connection type 'winrm' is not supported yet: use 'ssh'";
        let opentofu = "'winrm' connections are not supported in OpenTofu v1.13 or later";
        let cases = [(Dialect::Terrane, terraform), (Dialect::Terraform, terraform), (Dialect::OpenTofu, opentofu)];
        for (dialect, expected) in cases {
            let of_file = File::new(dialect).provision(request()).await;
            let of_script = RemoteExec::new(dialect).provision(request()).await;
            assert_eq!([&*of_file[0].detail, &*of_script[0].detail], [expected; 2], "{dialect:?}");
        }
    }
}
