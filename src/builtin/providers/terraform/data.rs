//! `terraform_data`: a value that is kept, and a trigger of replacement. Called once per instance of the largest
//! configurations: each verb touches four attributes and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin::sdk::{Attr, Move, Planned, Resource, Shape, stored_object};
use crate::lang::value::{Path, Type, Value};
use crate::model::provider::{MoveRequest, PlanRequest, ProviderDiagnostic, ProviderDiagnostics, RawState};

pub struct Data(Shape);

impl Data {
    pub fn new() -> Data {
        Data(Shape::unchecked(
            0,
            vec![
                Attr::new("triggers_replace", Type::Dynamic, "").optional(),
                Attr::new("input", Type::Dynamic, "").optional(),
                Attr::new("output", Type::Dynamic, "").computed(),
                Attr::string("id", "").computed(),
            ],
        ))
    }
}

fn attribute<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    object.get(name)
}

/// What the output will be: of the input's type, known only if the input is null.
fn planned_output(input: &Value) -> Value {
    if input.is_null() { input.clone() } else { Value::unknown(input.ty().clone()) }
}

fn planned_id() -> Value {
    Value::unknown_not_null(Type::String)
}

impl Resource for Data {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        for name in ["id", "output"] {
            if attribute(config, name).is_some_and(|value| !value.is_null()) {
                found.push(ProviderDiagnostic::error(format!("{name:?} attribute is read-only"), ""));
            }
        }
    }

    fn plan(&self, request: &PlanRequest) -> Planned {
        let (prior, proposed) = (&request.prior, &request.proposed);
        let Some(input) = attribute(proposed, "input") else { return Planned::unchanged(proposed.clone()) };
        let changes = if prior.is_null() {
            vec![("id", planned_id()), ("output", planned_output(input))]
        } else if attribute(prior, "triggers_replace") != attribute(proposed, "triggers_replace") {
            let planned = with(proposed, [("id", planned_id()), ("output", planned_output(input))]);
            let requires_replace = vec![Path::new().attr("triggers_replace")];
            return Planned { requires_replace, ..Planned::unchanged(planned) };
        } else if attribute(prior, "input") != Some(input) {
            vec![("output", Value::unknown(input.ty().clone()))]
        } else {
            return Planned::unchanged(proposed.clone());
        };
        Planned::unchanged(with(proposed, changes))
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let mut changes = Vec::new();
        if attribute(planned, "output").is_some_and(|output| !output.is_known()) {
            changes.push(("output", attribute(planned, "input").cloned().unwrap_or_else(Value::null_dynamic)));
        }
        if attribute(planned, "id").is_some_and(|id| !id.is_known()) {
            changes.push(("id", Value::string(uuid::Uuid::new_v4().to_string())));
        }
        Ok(with(planned, changes))
    }

    fn update(&self, _prior: &Value, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        self.create(planned)
    }

    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        Ok(self.0.object([("id", Value::string(id))]))
    }

    /// From `null_resource` only; its triggers become an object, as a configuration usually writes them.
    fn move_from(&self, request: &MoveRequest) -> Move {
        let known = ["hashicorp/null", "terraform.io/builtin/null"];
        if !known.iter().any(|provider| request.source_provider.ends_with(provider)) {
            return Err(ProviderDiagnostic::error(
                "Unsupported source provider for move operation",
                "Only moving from the official hashicorp/null provider to terraform_data is supported.",
            ));
        }
        if &*request.source_kind != "null_resource" {
            return Err(ProviderDiagnostic::error(
                "Unsupported source resource type for move operation",
                "Only moving from the null_resource managed resource to terraform_data is supported.",
            ));
        }
        let source = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
        let source = stored_object(&RawState::Json(request.source_state.clone()), &source)?;
        let triggers = match attribute(&source, "triggers") {
            Some(triggers) if !triggers.is_null() => Value::object(triggers.entries().clone()),
            _ => Value::null_dynamic(),
        };
        let id = attribute(&source, "id").cloned().unwrap_or_else(|| Value::null(Type::String));
        Ok(self.0.object([("id", id), ("triggers_replace", triggers)]))
    }
}

fn with(object: &Value, changes: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut attributes: BTreeMap<Arc<str>, Value> = object.entries().clone();
    for (name, value) in changes {
        if let Some(slot) = attributes.get_mut(name) {
            *slot = value;
        }
    }
    Value::object(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::provider::{ClientCapabilities, no_provider_meta};

    fn data<const N: usize>(values: [(&'static str, Value); N]) -> Value {
        Data::new().0.object(values)
    }

    fn planned(prior: Value, proposed: Value) -> Planned {
        let (prior_private, provider_meta) = (Arc::from([]), no_provider_meta());
        let config = proposed.clone();
        Data::new().plan(&PlanRequest {
            kind: "x".into(),
            prior,
            proposed,
            config,
            prior_private,
            provider_meta,
            prior_identity: None,
            planned_private: Arc::default(),
            client: ClientCapabilities::default(),
        })
    }

    /// Each row: prior and proposed as (input, triggers_replace), then the planned output, id kept, replaced.
    /// Seen on the reference, 1.11.4.
    #[test]
    fn plans() {
        let (s, null) = (|text: &str| Value::string(text), Value::null_dynamic);
        let unknown = || Value::unknown(Type::String);
        let rows = [
            (None, (s("a"), null()), unknown(), false, false),
            (None, (null(), null()), null(), false, false),
            (None, (Value::dynamic(), null()), Value::dynamic(), false, false),
            (Some((s("a"), null())), (s("a"), null()), s("a"), true, false),
            (Some((s("a"), null())), (s("b"), null()), unknown(), true, false),
            (Some((s("a"), null())), (null(), null()), Value::dynamic(), true, false),
            (Some((s("a"), s("t"))), (s("a"), s("u")), unknown(), false, true),
            (Some((s("a"), s("t"))), (null(), null()), null(), false, true),
            (Some((s("a"), Value::int(1))), (s("a"), s("1")), unknown(), false, true),
        ];
        for (i, (prior, (input, triggers), output, keeps_id, replaced)) in rows.into_iter().enumerate() {
            let (prior, old_output) = match prior {
                None => (Value::null(Data::new().0.ty().clone()), null()),
                Some((input, triggers)) => {
                    let output = input.clone();
                    let id = s("i");
                    (
                        data([("input", input.clone()), ("output", input), ("triggers_replace", triggers), ("id", id)]),
                        output,
                    )
                }
            };
            let id = if prior.is_null() { Value::null(Type::String) } else { s("i") };
            let proposed = data([("input", input), ("output", old_output), ("triggers_replace", triggers), ("id", id)]);
            let plan = planned(prior, proposed);
            assert_eq!(plan.value.get("output"), Some(&output), "row {i}");
            assert_eq!(plan.value.get("id").is_some_and(Value::is_known), keeps_id, "row {i}");
            assert_eq!(!plan.requires_replace.is_empty(), replaced, "row {i}");
        }
    }

    #[test]
    fn apply_fills_in() {
        let plan = planned(Value::null(Data::new().0.ty().clone()), data([("input", Value::int(5))]));
        let created = Data::new().create(&plan.value).unwrap();
        assert_eq!(created.get("output"), Some(&Value::int(5)));
        assert!(created.get("id").and_then(Value::as_str).is_some_and(|id| id.len() == 36));
    }

    #[test]
    fn destroy_plans_nothing() {
        let null = Value::null(Data::new().0.ty().clone());
        assert!(planned(data([("id", Value::string("i"))]), null).value.is_null());
    }

    #[test]
    fn moves_from_null_resource() {
        let request = |provider: &str, kind: &str| MoveRequest {
            source_provider: provider.into(),
            source_kind: kind.into(),
            source_version: 0,
            source_state: br#"{"id":"1","triggers":{"a":"b"}}"#.as_slice().into(),
            source_identity: None,
            source_private: Arc::from([]),
            target_kind: "terraform_data".into(),
        };
        let moved = Data::new().move_from(&request("registry.terraform.io/hashicorp/null", "null_resource")).unwrap();
        assert_eq!(moved.get("triggers_replace"), Some(&Value::object([("a", Value::string("b"))])));
        assert!(Data::new().move_from(&request("x/y/z", "null_resource")).is_err());
        assert!(Data::new().move_from(&request("x/hashicorp/null", "other")).is_err());
    }
}
