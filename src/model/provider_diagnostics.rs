//! Diagnostics about configuration made of what a provider or a backend says about values.

use base::diag::{Diagnostic, Diagnostics, Severity};
use lang::syntax::ast::Body;
use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics};

use crate::schema::place::attribute_range;

/// What a provider said, as diagnostics about a body: each at the place that its path leads to.
pub fn about_body(diagnostics: ProviderDiagnostics, body: Option<&Body>, address: Option<&str>) -> Diagnostics {
    let convert = |d: ProviderDiagnostic| {
        let place = body.map(|body| {
            let at = d.attribute.as_ref().and_then(|path| attribute_range(body, path));
            at.unwrap_or_else(|| body.missing_item_range())
        });
        let mut detail = d.detail;
        if let (None, Some(path)) = (body, &d.attribute) {
            detail = format!("{path}: {detail}").trim_start_matches('.').to_string();
        }
        let mut made = Diagnostic::error(d.summary, detail).at_opt(place);
        made.severity = severity(d.severity);
        made.address = address.map(str::to_string);
        made
    };
    diagnostics.into_iter().map(convert).collect()
}

fn severity(severity: terrane_protocol::provider::Severity) -> Severity {
    match severity {
        terrane_protocol::provider::Severity::Error => Severity::Error,
        terrane_protocol::provider::Severity::Warning => Severity::Warning,
    }
}
