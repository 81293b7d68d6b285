//! Validators of single attributes and blocks.

use crate::lang::value::{Path, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

/// What a validator sees of its attribute or block.
#[non_exhaustive]
pub struct ConfiguredAttribute<'a> {
    /// The place of the attribute or block in the configuration.
    pub path: &'a Path,
    /// Null, unknown or known.
    pub value: &'a Value,
    /// The whole configuration.
    pub config: &'a Value,
    pub(super) found: &'a mut ProviderDiagnostics,
}

impl ConfiguredAttribute<'_> {
    /// Reports an error about the attribute.
    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(self.path.clone()));
    }

    /// Reports a warning about the attribute.
    pub fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(self.path.clone()));
    }

    /// An error that says what the value must be: "value must be at least 1".
    pub fn invalid(&mut self, summary: &str, rule: &str) {
        let got = value_text(self.value);
        self.error(summary, format!("Attribute {} {rule}, got: {got}", attribute_name(self.path)));
    }
}

/// A path as messages name attributes: `rules[0].name`.
pub(super) fn attribute_name(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}

fn value_text(value: &Value) -> String {
    match (value.as_str(), value.as_number(), value.as_bool()) {
        (Some(text), _, _) => text.to_owned(),
        (_, Some(number), _) => number.to_string(),
        (_, _, Some(flag)) => flag.to_string(),
        _ => value.len().to_string(),
    }
}

/// Checks one attribute or block of a configuration. Any `Fn(&mut ConfiguredAttribute)` is one.
///
/// ```
/// use terrane::sdk::{Attribute, ConfiguredAttribute};
///
/// /// Ignores null and unknown values.
/// fn is_port(attribute: &mut ConfiguredAttribute<'_>) {
///     if attribute.value.as_i64().is_some_and(|port| !(1..=65535).contains(&port)) {
///         attribute.invalid("Invalid Attribute Value", "value must be between 1 and 65535");
///     }
/// }
///
/// let port = Attribute::int("port").required().validator(is_port);
/// ```
pub trait Validator: Send + Sync + 'static {
    /// Reports what is wrong with the value. Called for null and unknown values too.
    fn validate(&self, attribute: &mut ConfiguredAttribute<'_>);
}

impl<F: Fn(&mut ConfiguredAttribute<'_>) + Send + Sync + 'static> Validator for F {
    fn validate(&self, attribute: &mut ConfiguredAttribute<'_>) {
        self(attribute);
    }
}
