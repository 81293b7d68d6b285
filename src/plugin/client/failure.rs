//! What a failed call tells its user, in the words of the reference, and what is left of a plugin that died.

use terrane_protocol::provider::ProviderDiagnostic;
use tonic::{Code, Status};

use crate::process::Process;
use crate::status::status_text;

/// A call by the name that messages have for it: `plugin6.(*GRPCProvider).ReadResource`.
pub struct Callee<'a> {
    /// "plugin" or "plugin6".
    pub package: &'a str,
    /// "GRPCProvider" or "GRPCProvisioner".
    pub kind: &'a str,
    pub call: &'a str,
    /// Whose call it was: a source address or the name of a provisioner.
    pub name: &'a str,
}

impl Callee<'_> {
    pub async fn failure(&self, status: Status, process: &Process) -> ProviderDiagnostic {
        let Callee { package, kind, call, name } = self;
        let method = format!("{package}.(*{kind}).{call}");
        let (summary, mut detail) = match status.code() {
            Code::Unavailable => (
                "Plugin did not respond",
                format!(
                    "The plugin encountered an error, and failed to respond to the {method} call. \
                     The plugin logs may contain more details."
                ),
            ),
            Code::Cancelled => ("Request cancelled", format!("The {method} request was cancelled.")),
            Code::Unimplemented => {
                ("Unsupported plugin method", format!("The {method} method is not supported by this plugin."))
            }
            _ => (
                "Plugin error",
                format!("The plugin returned an unexpected error from {method}: {}", status_text(&status)),
            ),
        };
        tracing::error!("{method}: error=\"{}\" plugin={name}", status_text(&status));
        detail.push_str(&format!("\n\nThe plugin is that of {name}."));
        if status.code() == Code::Unavailable {
            detail.push_str(&process.exit_report().await);
        }
        ProviderDiagnostic::error(summary, detail)
    }

    /// The plugin answered with something that is no answer.
    pub fn garbage(&self, error: impl std::fmt::Display) -> ProviderDiagnostic {
        let Callee { package, kind, call, name } = self;
        ProviderDiagnostic::error(
            "Plugin error",
            format!(
                "The answer of the plugin of {name} to {package}.(*{kind}).{call} cannot be read: {error}.\n\n\
                 This is a bug in the plugin, which should be reported to its maintainers."
            ),
        )
    }
}
