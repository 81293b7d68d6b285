//! `null_resource` and `null_data_source`: the lifecycle and nothing else.

use async_trait::async_trait;

use crate::builtin::sdk::{Attr, BuiltIn, DataSource, Resource, Rule, Shape, object_with};
use crate::lang::value::Value;
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

pub fn provider() -> BuiltIn {
    BuiltIn::new(
        vec![("null_resource", Box::new(NullResource::new()))],
        vec![("null_data_source", Box::new(NullData::new()))],
        vec![],
        vec![],
    )
}

const LEGACY_ID: &str = "This attribute is only present for some legacy compatibility issues and should not be used. \
                         It will be removed in a future version.";

struct NullResource(Shape);

impl NullResource {
    fn new() -> NullResource {
        NullResource(Shape::new(
            0,
            "Has the lifecycle of a resource and does nothing; `terraform_data` serves the same purpose without a \
             provider to install.",
            vec![
                Attr::string_map(
                    "triggers",
                    "Any texts; a change of one replaces the resource and so runs its provisioners again.",
                )
                .optional()
                .rule(Rule::ReplaceIfValues),
                Attr::string("id", "A random number, chosen at creation.").computed().rule(Rule::Keep),
            ],
        ))
    }
}

/// A random non-negative number, as text.
fn random_number() -> Value {
    Value::string((rand::random::<u64>() >> 1).to_string())
}

impl Resource for NullResource {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        Ok(object_with(planned, [("id", random_number())]))
    }
}

struct NullData(Shape);

impl NullData {
    fn new() -> NullData {
        NullData(
            Shape::new(
                0,
                "Copies its inputs to its outputs; a local value serves the same purpose.",
                vec![
                    Attr::string_map("inputs", "Any texts, copied into `outputs`.").optional(),
                    Attr::string_map("outputs", "The `inputs`, once the data source was read.").computed(),
                    Attr::string("random", "A random number; for tests.").computed(),
                    Attr::string("has_computed_default", "The text given, or `\"default\"`; for tests.")
                        .optional()
                        .computed(),
                    Attr::string("id", LEGACY_ID).computed().deprecated(LEGACY_ID),
                ],
            )
            .deprecated(
                "The null_data_source was historically used to construct intermediate values to re-use elsewhere in \
                 configuration, the same can now be achieved using locals or the terraform_data resource type in \
                 Terraform 1.4 and later.",
            ),
        )
    }
}

#[async_trait]
impl DataSource for NullData {
    fn shape(&self) -> &Shape {
        &self.0
    }

    async fn read(&self, config: &Value) -> Result<Value, ProviderDiagnostics> {
        let get = |name| config.get(name).cloned().unwrap_or_else(Value::null_dynamic);
        let default = Some(get("has_computed_default")).filter(|value| !value.is_null());
        Ok(object_with(
            config,
            [
                ("outputs", get("inputs")),
                ("random", random_number()),
                ("has_computed_default", default.unwrap_or_else(|| Value::string("default"))),
                ("id", Value::string("static")),
            ],
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::value::Type;

    #[tokio::test]
    async fn data_source_copies() {
        let data = NullData::new();
        let inputs = Value::map(Type::String, [("a", Value::string("1"))]);
        let read = data.read(&data.0.object([("inputs", inputs.clone())])).await.unwrap();
        assert_eq!(read.get("outputs"), Some(&inputs));
        assert_eq!(read.get("has_computed_default"), Some(&Value::string("default")));
        assert_eq!(read.get("id"), Some(&Value::string("static")));
    }

    #[test]
    fn resource_gets_a_number() {
        let resource = NullResource::new();
        let created = resource.create(&resource.0.object([])).unwrap();
        assert!(created.get("id").and_then(Value::as_str).is_some_and(|id| id.parse::<u64>().is_ok()));
    }
}
