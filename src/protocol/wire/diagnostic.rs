//! Diagnostics and attribute paths between the wire and the model.

use terrane_value::{Path, PathStep, Value};
use wire::attribute_path::step::Selector;

use super::message as wire;
use crate::provider::{ProviderDiagnostic, ProviderDiagnostics, Severity};

pub fn from_wire(diagnostics: Vec<wire::Diagnostic>) -> ProviderDiagnostics {
    diagnostics.into_iter().map(from_one).collect()
}

fn from_one(diagnostic: wire::Diagnostic) -> ProviderDiagnostic {
    let severity = match diagnostic.severity() {
        wire::diagnostic::Severity::Warning => Severity::Warning,
        // What a provider gives no severity is not taken lightly.
        _ => Severity::Error,
    };
    let attribute = diagnostic.attribute.map(path_from_wire).filter(|path| !path.is_empty());
    ProviderDiagnostic { severity, summary: diagnostic.summary, detail: diagnostic.detail, attribute }
}

pub fn to_wire(diagnostics: ProviderDiagnostics) -> Vec<wire::Diagnostic> {
    let one = |diagnostic: ProviderDiagnostic| {
        let severity = match diagnostic.severity {
            Severity::Error => wire::diagnostic::Severity::Error,
            Severity::Warning => wire::diagnostic::Severity::Warning,
        };
        wire::Diagnostic {
            severity: severity as i32,
            summary: diagnostic.summary,
            detail: diagnostic.detail,
            attribute: diagnostic.attribute.as_ref().map(path_to_wire),
        }
    };
    diagnostics.into_iter().map(one).collect()
}

pub fn path_from_wire(path: wire::AttributePath) -> Path {
    let steps = path.steps.into_iter().filter_map(|step| {
        Some(match step.selector? {
            Selector::AttributeName(name) => PathStep::Attr(name.into()),
            Selector::ElementKeyString(key) => PathStep::Index(Value::string(key)),
            Selector::ElementKeyInt(key) => PathStep::Index(Value::int(key)),
        })
    });
    Path(steps.collect())
}

/// The wire cannot name an element of a set: the path then ends at the set.
pub fn path_to_wire(path: &Path) -> wire::AttributePath {
    let steps = path.steps().iter().map_while(|step| {
        let selector = match step {
            PathStep::Attr(name) => Selector::AttributeName(name.to_string()),
            PathStep::Index(key) => match (key.as_str(), key.as_i64()) {
                (Some(text), _) => Selector::ElementKeyString(text.to_owned()),
                (_, Some(number)) => Selector::ElementKeyInt(number),
                _ => return None,
            },
        };
        Some(wire::attribute_path::Step { selector: Some(selector) })
    });
    wire::AttributePath { steps: steps.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_cross_the_wire_unchanged() {
        let path = Path::new().attr("a").index(Value::int(2)).index(Value::string("k"));
        let all = vec![ProviderDiagnostic::error("Bad", "Really.").at(path), ProviderDiagnostic::warning("Hm", "")];
        assert_eq!(from_wire(to_wire(all.clone())), all);
        let in_set = Path::new().attr("s").index(Value::empty_object()).attr("x");
        assert_eq!(path_from_wire(path_to_wire(&in_set)), Path::new().attr("s"));
        assert_eq!(from_wire(vec![wire::Diagnostic::default()])[0].severity, Severity::Error);
    }
}
