//! Rules of several built-in resources beyond those of the library: which change replaces the object, and what must be
//! configured.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_sdk::{Error, Object, PlanModifier, Validation, Value, replace_if};

/// The type of `keepers` and `triggers`: texts, which may be null.
pub type Keepers = Option<BTreeMap<String, Option<String>>>;

/// For maps: as `replace`, but elements that are null count as absent where the state has none.
pub fn replace_if_values() -> impl PlanModifier {
    replace_if(|attribute| values_differ(attribute.config, attribute.prior))
}

/// As `replace`, except for a change from the empty text to null.
pub fn replace_unless_empty_to_null() -> impl PlanModifier {
    replace_if(|attribute| {
        let cleared = attribute.config.is_null() && attribute.prior.as_str() == Some("");
        attribute.config.is_known() && !cleared
    })
}

/// Fails if none of the attributes is configured. Unknown ones count as configured, sets without elements do not: they
/// are absent blocks.
pub fn require_one_of(validation: &mut Validation<'_, Object>, names: &[&str]) {
    let is_absent = |name: &&str| {
        let value = validation.config.value().get(name);
        value.is_none_or(|value| value.is_null() || (value.is_known() && value.ty().is_set() && value.is_empty()))
    };
    if names.iter().all(is_absent) {
        let detail = format!("At least one of these attributes must be configured: [{}]", names.join(","));
        validation.add(Error::new("Missing Attribute Configuration", detail));
    }
}

/// Older states left null elements out of maps, and maps of nothing else out altogether: such a difference is none.
fn values_differ(config: &Value, prior: &Value) -> bool {
    if !config.is_known() {
        return true;
    }
    let (new, old) = (config.entries(), prior.entries());
    if prior.is_null() {
        return new.values().any(|value| !value.is_null());
    }
    let changed = |key: &Arc<str>, value: &Value| match old.get(key) {
        None => !value.is_null(),
        Some(before) => before != value,
    };
    new.iter().any(|(key, value)| changed(key, value)) || old.keys().any(|key| !new.contains_key(key))
}

#[cfg(test)]
mod tests {
    use terrane_sdk::Type;

    use super::super::null;
    use super::super::tester::Tester;
    use super::*;

    fn keepers(pairs: &[(&str, Option<&str>)]) -> Value {
        let value = |v: &Option<&str>| v.map_or(Value::null(Type::String), Value::string);
        Value::map(Type::String, pairs.iter().map(|(k, v)| (*k, value(v))))
    }

    #[tokio::test]
    async fn keepers_that_hold_nothing() {
        let resource = Tester::resource(null::Null, "null_resource").await;
        let none = || Value::null(Type::map(Type::String));
        for (before, after, replace) in [
            (none(), keepers(&[("a", None)]), false),
            (none(), keepers(&[("a", Some("1"))]), true),
            (none(), Value::unknown(Type::map(Type::String)), true),
            (keepers(&[("a", Some("1"))]), keepers(&[("a", Some("1")), ("b", None)]), false),
            (keepers(&[("a", Some("1"))]), keepers(&[("a", Some("2"))]), true),
            (keepers(&[("a", Some("1"))]), keepers(&[]), true),
            (keepers(&[("a", Some("1"))]), none(), true),
        ] {
            let prior = resource.object([("triggers", before), ("id", Value::string("7"))]);
            let planned = resource.plan(prior, resource.object([("triggers", after.clone())])).await;
            assert_eq!(!planned.requires_replace.is_empty(), replace, "{after:?}");
        }
    }
}
