//! Connections of type `winrm`: OpenTofu 1.12 warns about them, and OpenTofu 1.13 refuses them with two errors.

use base::diag::Diagnostic;
use base::dialect::Dialect;
use lang::eval::evaluate;
use lang::syntax::ast::{Attribute, Body};
use lang::syntax::body::BodySchema;
use model::opentofu::refuses_winrm;
use terrane_value::Value;

use crate::opentofu;
use crate::run::module_scope::ModuleScope;

const WINRM: &str = "winrm";
const OPENSSH: &str =
    "https://learn.microsoft.com/en-us/windows-server/administration/openssh/openssh_install_firstuse";

/// The warning about a provisioner whose connection is known to be of this type. `shared`: the connection of its resource.
pub fn warning(shared: Option<&Body>, own: Option<&Body>, scope: &ModuleScope<'_>) -> Option<Diagnostic> {
    if !opentofu::warns_of_winrm(scope.run.dialect()) {
        return None;
    }
    let (body, attribute) = [own, shared].into_iter().flatten().find_map(|body| Some((body, kind(body)?)))?;
    let (value, problems) = evaluate(&attribute.expr, scope);
    if problems.has_errors() || !is_winrm(&value) {
        return None;
    }
    let detail = format!(
        "The winrm connection type is deprecated and will be removed in a future version of OpenTofu.\n\nModern Windows systems \
         support SSH natively. Migrate your provisioners to use SSH instead.\n\nTo get started with OpenSSH on Windows, refer to \
         {OPENSSH}"
    );
    let warning = Diagnostic::warning("WinRM connection type is deprecated", detail).at(attribute.expr.range());
    Some(if shared.is_none() || own.is_none() { warning.within(body.missing_item_range()) } else { warning })
}

/// The error of OpenTofu 1.13 beside that of the provisioner. `place`: the connection.
pub fn refusal(dialect: Dialect, connection: &Value, place: Option<&Body>) -> Option<Diagnostic> {
    if !refuses_winrm(dialect) || !connection.get("type").is_some_and(is_winrm) {
        return None;
    }
    let detail = format!(
        "The \"winrm\" connection type is no longer supported in OpenTofu v1.13 and later, because some of the upstream client \
         libraries it had relied on are no longer maintained.\n\nModern versions of Windows allow enabling an SSH server:\n    \
         {OPENSSH}"
    );
    Some(Diagnostic::error("Provisioners no longer support WinRM", detail).at_opt(place.map(Body::missing_item_range)))
}

fn is_winrm(value: &Value) -> bool {
    value.unmark().0.as_str() == Some(WINRM)
}

/// The argument that says of which type a connection is.
fn kind(body: &Body) -> Option<Attribute> {
    body.partial_content(&BodySchema::new().attribute("type")).0.attribute("type").cloned()
}
