//! The plan that follows from a shape: defaults, unknowns for what is computed, then each attribute's rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lang::value::{Path, Value};
use crate::model::provider::{PlanRequest, ProviderDiagnostics};

use super::attribute::{Attr, Rule, Shape};

/// What a resource answers to a proposed change.
#[derive(Clone, Debug)]
pub struct Planned {
    /// Null to destroy.
    pub value: Value,
    pub requires_replace: Vec<Path>,
    pub diagnostics: ProviderDiagnostics,
}

impl Planned {
    pub fn unchanged(value: Value) -> Planned {
        Planned { value, requires_replace: Vec::new(), diagnostics: Vec::new() }
    }
}

/// Plans by the shape alone. `adjust` may change an attribute after defaults and unknowns and before its rules.
pub fn plan(shape: &Shape, request: &PlanRequest, adjust: &dyn Fn(&str, &mut Value)) -> Planned {
    if request.proposed.is_null() {
        return Planned::unchanged(request.proposed.clone());
    }
    let mut planned = request.proposed.entries().clone();
    let configured = |attr: &Attr| request.config.get(attr.name).is_some_and(|value| !value.is_null());
    for attr in shape.attributes.iter().filter(|attr| !configured(attr)) {
        if let Some(default) = &attr.default {
            planned.insert(Arc::from(attr.name), default.clone());
        }
    }
    if request.prior.is_null() || *request.prior.entries() != planned {
        for attr in shape.attributes.iter().filter(|attr| !configured(attr)) {
            if attr.attribute.computed && attr.default.is_none() {
                planned.insert(Arc::from(attr.name), Value::unknown(attr.attribute.implied_type()));
            }
        }
    }
    let mut requires_replace = Vec::new();
    for attr in &shape.attributes {
        let Some(value) = planned.get_mut(attr.name) else { continue };
        adjust(attr.name, value);
        apply_rules(attr, request, value, &mut requires_replace);
    }
    Planned { value: object(planned), requires_replace, diagnostics: Vec::new() }
}

fn object(attributes: BTreeMap<Arc<str>, Value>) -> Value {
    Value::object(attributes)
}

fn apply_rules(attr: &Attr, request: &PlanRequest, value: &mut Value, requires_replace: &mut Vec<Path>) {
    if request.prior.is_null() {
        return;
    }
    let (Some(prior), Some(config)) = (request.prior.get(attr.name), request.config.get(attr.name)) else { return };
    for rule in &attr.rules {
        let replace = match rule {
            Rule::Keep => {
                if !prior.is_null() && !value.is_known() && config.is_known() {
                    *value = prior.clone();
                }
                false
            }
            Rule::Replace => value != prior,
            Rule::ReplaceIfValues => config != prior && values_differ(config, prior),
            Rule::ReplaceUnlessEmptyToNull => {
                let cleared = config.is_null() && prior.as_str() == Some("");
                value != prior && config.is_known() && !cleared
            }
        };
        if replace {
            requires_replace.push(Path::new().attr(attr.name));
        }
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
    use super::*;
    use crate::lang::value::Type;
    use crate::model::provider::{ClientCapabilities, no_provider_meta};

    fn shape() -> Shape {
        Shape::new(
            0,
            "",
            vec![
                Attr::string_map("keepers", "").optional().rule(Rule::ReplaceIfValues),
                Attr::int("length", "").required().rule(Rule::Replace),
                Attr::string("sep", "").default(Value::string("-")).rule(Rule::Replace),
                Attr::string("id", "").computed().rule(Rule::Keep),
                Attr::string("sum", "").computed(),
            ],
        )
    }

    fn object(keepers: Value, length: i64, sep: Option<&str>, id: Value, sum: Value) -> Value {
        let sep = sep.map_or(Value::null(Type::String), Value::string);
        shape().object([("keepers", keepers), ("length", Value::int(length)), ("sep", sep), ("id", id), ("sum", sum)])
    }

    fn run(prior: Value, config: Value) -> Planned {
        let proposed = if prior.is_null() {
            config.clone()
        } else {
            let mut all = prior.entries().clone();
            for (name, value) in config.entries() {
                if !value.is_null() || matches!(&**name, "keepers") {
                    all.insert(name.clone(), value.clone());
                }
            }
            Value::object(all)
        };
        let request = PlanRequest {
            kind: "x".into(),
            prior,
            proposed,
            config,
            prior_private: Arc::from([]),
            provider_meta: no_provider_meta(),
            prior_identity: None,
            planned_private: Arc::default(),
            client: ClientCapabilities::default(),
        };
        plan(&shape(), &request, &|_, _| {})
    }

    fn keepers(pairs: &[(&str, Option<&str>)]) -> Value {
        let value = |v: &Option<&str>| v.map_or(Value::null(Type::String), Value::string);
        Value::map(Type::String, pairs.iter().map(|(k, v)| (*k, value(v))))
    }

    #[test]
    fn create_update_replace() {
        let null = || Value::null(Type::String);
        let no_map = || Value::null(Type::map(Type::String));
        let prior = || object(no_map(), 3, Some("-"), Value::string("i"), Value::string("s"));

        let created = run(Value::null(shape().ty().clone()), object(no_map(), 3, None, null(), null()));
        assert_eq!(created.value.get("sep"), Some(&Value::string("-")));
        assert_eq!(created.value.get("id"), Some(&Value::unknown(Type::String)));
        assert!(created.requires_replace.is_empty());

        let same = run(prior(), object(no_map(), 3, None, null(), null()));
        assert_eq!(same.value, prior());

        let longer = run(prior(), object(no_map(), 4, None, null(), null()));
        assert_eq!(longer.requires_replace, [Path::new().attr("length")]);
        assert_eq!(longer.value.get("id"), Some(&Value::string("i")), "kept");
        assert_eq!(longer.value.get("sum"), Some(&Value::unknown(Type::String)), "not kept");
    }

    #[test]
    fn keepers_that_hold_nothing() {
        let null = || Value::null(Type::String);
        for (before, after, replace) in [
            (Value::null(Type::map(Type::String)), keepers(&[("a", None)]), false),
            (Value::null(Type::map(Type::String)), keepers(&[("a", Some("1"))]), true),
            (keepers(&[("a", Some("1"))]), keepers(&[("a", Some("1")), ("b", None)]), false),
            (keepers(&[("a", Some("1"))]), keepers(&[("a", Some("2"))]), true),
            (keepers(&[("a", Some("1"))]), keepers(&[]), true),
            (keepers(&[("a", Some("1"))]), Value::null(Type::map(Type::String)), true),
        ] {
            let prior = object(before, 3, Some("-"), Value::string("i"), Value::string("s"));
            let planned = run(prior, object(after.clone(), 3, None, null(), null()));
            assert_eq!(!planned.requires_replace.is_empty(), replace, "{after:?}");
        }
    }
}
