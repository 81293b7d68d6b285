//! Validators of single attributes and blocks.

use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics};
use terrane_value::{Path, Value};

/// What a validator sees of its attribute or block.
///
/// ```
/// # use terrane_sdk::{Attribute, ConfiguredAttribute};
/// /// The attribute must not repeat the name.
/// fn is_not_the_name(attribute: &mut ConfiguredAttribute<'_>) {
///     if !attribute.value.is_null() && attribute.config.get("name") == Some(attribute.value) {
///         attribute.error("Redundant alias", "The alias is the name.");
///     }
/// }
/// let alias = Attribute::string("alias").optional().validator(is_not_the_name);
/// ```
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
    ///
    /// ```
    /// # use terrane_sdk::ConfiguredAttribute;
    /// fn has_no_zone(attribute: &mut ConfiguredAttribute<'_>) {
    ///     if attribute.value.as_str().is_some_and(|text| !text.ends_with('Z')) {
    ///         attribute.error("Invalid time", "The time must end with Z, for UTC.");
    ///     }
    /// }
    /// # terrane_sdk::Attribute::string("at").validator(has_no_zone);
    /// ```
    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(self.path.clone()));
    }

    /// Reports a warning about the attribute.
    ///
    /// ```
    /// # use terrane_sdk::ConfiguredAttribute;
    /// fn warn_of_http(attribute: &mut ConfiguredAttribute<'_>) {
    ///     if attribute.value.as_str().is_some_and(|url| url.starts_with("http:")) {
    ///         attribute.warning("Unsafe address", "The connection is not encrypted. Use https.");
    ///     }
    /// }
    /// # terrane_sdk::Attribute::string("url").validator(warn_of_http);
    /// ```
    pub fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(self.path.clone()));
    }

    /// An error that says what the value must be: "value must be at least 1".
    ///
    /// ```
    /// # use terrane_sdk::ConfiguredAttribute;
    /// fn is_even(attribute: &mut ConfiguredAttribute<'_>) {
    ///     if attribute.value.as_i64().is_some_and(|number| number % 2 != 0) {
    ///         // Attribute replicas value must be even, got: 3
    ///         attribute.invalid("Invalid Attribute Value", "value must be even");
    ///     }
    /// }
    /// # terrane_sdk::Attribute::int("replicas").validator(is_even);
    /// ```
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
/// use terrane_sdk::{Attribute, ConfiguredAttribute};
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
    ///
    /// ```
    /// use terrane_sdk::{Attribute, ConfiguredAttribute, Validator};
    ///
    /// struct MultipleOf(i64);
    ///
    /// impl Validator for MultipleOf {
    ///     fn validate(&self, attribute: &mut ConfiguredAttribute<'_>) {
    ///         if attribute.value.as_i64().is_some_and(|number| number % self.0 != 0) {
    ///             attribute.invalid("Invalid Attribute Value", &format!("value must be a multiple of {}", self.0));
    ///         }
    ///     }
    /// }
    ///
    /// let memory = Attribute::int("memory").required().validator(MultipleOf(256));
    /// ```
    fn validate(&self, attribute: &mut ConfiguredAttribute<'_>);
}

impl<F: Fn(&mut ConfiguredAttribute<'_>) + Send + Sync + 'static> Validator for F {
    fn validate(&self, attribute: &mut ConfiguredAttribute<'_>) {
        self(attribute);
    }
}
