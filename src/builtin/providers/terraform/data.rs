//! `terraform_data`: a value that is kept, and a trigger of replacement. Called once per instance of the largest
//! configurations: each verb touches four attributes and nothing else.

use terrane_sdk::{
    Attribute, Context, Creation, Error, Import, Moved, Object, Path, Plan, Resource, Schema, Type, Update, Validation,
    Value,
};

use super::store;

/// With the block `store` of Terraform 1.16, or without it, as before.
pub struct Data {
    pub has_store: bool,
}

/// What the output will be: of the input's type, known only if the input is null.
fn planned_output(input: &Value) -> Value {
    if input.is_null() { input.clone() } else { Value::unknown(input.ty().clone()) }
}

/// The planned object with its unknowns filled in.
fn filled(planned: &Object, config: &Value) -> Object {
    let mut changes: Vec<(&str, Value)> = store::filled(planned, config).into_iter().collect();
    if !planned.value("output").is_known() {
        changes.push(("output", planned.value("input")));
    }
    if !planned.value("id").is_known() {
        changes.push(("id", Value::string(uuid::Uuid::new_v4().to_string())));
    }
    planned.with(changes)
}

impl Data {
    fn object<const N: usize>(&self, values: [(&'static str, Value); N]) -> Object {
        Object::of(&self.schema().block, values)
    }
}

impl Resource for Data {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let attributes = [
            Attribute::plain("triggers_replace", Type::Dynamic).optional(),
            Attribute::plain("input", Type::Dynamic).optional(),
            Attribute::plain("output", Type::Dynamic).computed(),
            Attribute::string("id").computed(),
        ];
        let mut schema = Schema::new(attributes).without_checks();
        schema.block.blocks.extend(self.has_store.then(store::block));
        schema
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        for name in ["id", "output"] {
            if validation.config.value().get(name).is_some_and(|value| !value.is_null()) {
                validation.add(Error::new(format!("{name:?} attribute is read-only"), ""));
            }
        }
    }

    async fn plan(&self, _: &mut Context<()>, plan: &mut Plan<Object>) -> Result<(), Error> {
        if plan.is_destroy() {
            return Ok(());
        }
        let (prior, planned) = (Object(plan.prior.value().clone()), Object(plan.planned.value().clone()));
        let input = planned.value("input");
        let replaces = !plan.is_create() && prior.value("triggers_replace") != planned.value("triggers_replace");
        if replaces {
            plan.requires_replace.push(Path::new().attr("triggers_replace"));
        }
        let (id, output) = if plan.is_create() || replaces {
            (Value::unknown_not_null(Type::String), planned_output(&input))
        } else if prior.value("input") == input {
            (prior.value("id"), prior.value("output"))
        } else {
            (prior.value("id"), planned_output(&input))
        };
        plan.planned.set_value("id", id);
        plan.planned.set_value("output", output);
        store::plan(plan, replaces)
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        Ok(filled(&creation.planned.model()?, creation.config.value()))
    }

    async fn update(&self, _: &mut Context<()>, update: &mut Update<Object>) -> Result<Object, Error> {
        Ok(filled(&update.planned.model()?, update.config.value()))
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<Object, Error> {
        Ok(self.object([("id", Value::string(import.id()?))]))
    }

    /// From `null_resource` only; its triggers become an object, as a configuration usually writes them.
    async fn move_from(&self, _: &mut Context<()>, moved: Moved) -> Result<Object, Error> {
        let known = ["hashicorp/null", "terraform.io/builtin/null"];
        if !known.iter().any(|provider| moved.source_provider.ends_with(provider)) {
            return Err(Error::new(
                "Unsupported source provider for move operation",
                "Only moving from the official hashicorp/null provider to terraform_data is supported.",
            ));
        }
        if moved.source_type != "null_resource" {
            return Err(Error::new(
                "Unsupported source resource type for move operation",
                "Only moving from the null_resource managed resource to terraform_data is supported.",
            ));
        }
        let attributes = [Attribute::string("id"), Attribute::string_map("triggers")];
        let source = Object(moved.object(&Schema::new(attributes))?);
        let triggers = match source.value("triggers") {
            triggers if triggers.is_null() => Value::null_dynamic(),
            triggers => Value::object(triggers.entries().to_map()),
        };
        Ok(self.object([("id", source.value("id")), ("triggers_replace", triggers)]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Terraform;
    use super::super::remote_state::tests::One;
    use super::*;
    use crate::providers::tester::{Tester, text};

    async fn tester() -> Tester {
        let provider = Terraform { remote_states: Arc::new(One), has_data_stores: false };
        Tester::resource(provider, "terraform_data").await
    }

    /// Each row: prior and proposed as (input, triggers_replace), then the planned output, id kept, replaced.
    /// Seen on the reference, 1.11.4.
    #[tokio::test]
    async fn plans() {
        let (s, null) = (|text: &str| Value::string(text), Value::null_dynamic);
        let unknown = || Value::unknown(Type::String);
        let rows = [
            (None, (s("a"), null()), unknown(), false, false),
            (None, (null(), null()), null(), false, false),
            (None, (Value::dynamic(), null()), Value::dynamic(), false, false),
            (Some((s("a"), null())), (s("a"), null()), s("a"), true, false),
            (Some((s("a"), null())), (s("b"), null()), unknown(), true, false),
            (Some((s("a"), null())), (null(), null()), null(), true, false),
            (Some((s("a"), s("t"))), (s("a"), s("u")), unknown(), false, true),
            (Some((s("a"), s("t"))), (null(), null()), null(), false, true),
            (Some((s("a"), Value::int(1))), (s("a"), s("1")), unknown(), false, true),
        ];
        let data = tester().await;
        for (i, (prior, (input, triggers), output, keeps_id, replaced)) in rows.into_iter().enumerate() {
            let (prior, old_output) = match prior {
                None => (data.absent(), null()),
                Some((input, triggers)) => {
                    let output = input.clone();
                    let id = s("i");
                    (
                        data.object([
                            ("input", input.clone()),
                            ("output", input),
                            ("triggers_replace", triggers),
                            ("id", id),
                        ]),
                        output,
                    )
                }
            };
            let id = if prior.is_null() { Value::null(Type::String) } else { s("i") };
            let proposed =
                data.object([("input", input), ("output", old_output), ("triggers_replace", triggers), ("id", id)]);
            let plan = data.plan_proposed(prior, proposed.clone(), proposed).await;
            assert_eq!(plan.planned.get("output"), Some(&output), "row {i}");
            assert_eq!(plan.planned.get("id").is_some_and(Value::is_known), keeps_id, "row {i}");
            assert_eq!(!plan.requires_replace.is_empty(), replaced, "row {i}");
        }
    }

    #[tokio::test]
    async fn apply_fills_in() {
        let data = tester().await;
        let plan = data.plan(data.absent(), data.object([("input", Value::int(5))])).await;
        let created = data.create(plan.planned).await.unwrap();
        assert_eq!(created.get("output"), Some(&Value::int(5)));
        assert_eq!(text(&created, "id").len(), 36);
    }

    #[tokio::test]
    async fn destroy_plans_nothing() {
        let data = tester().await;
        let prior = data.object([("id", Value::string("i"))]);
        assert!(data.plan_proposed(prior, data.absent(), data.absent()).await.planned.is_null());
    }

    #[tokio::test]
    async fn computed_attributes_are_not_configured() {
        let data = tester().await;
        let found = data.validate(data.object([("id", Value::string("i"))])).await;
        assert_eq!(found[0].summary, "\"id\" attribute is read-only");
    }

    #[tokio::test]
    async fn moves_from_null_resource() {
        let data = tester().await;
        let json = r#"{"id":"1","triggers":{"a":"b"}}"#;
        let moved = data.move_from("registry.terraform.io/hashicorp/null", "null_resource", json).await.unwrap();
        assert_eq!(moved.get("triggers_replace"), Some(&Value::object([("a", Value::string("b"))])));
        for (provider, kind, what) in [("x/y/z", "null_resource", "provider"), ("x/hashicorp/null", "other", "type")] {
            let error = data.move_from(provider, kind, json).await.unwrap_err();
            assert!(error.summary.contains(what), "{}", error.summary);
        }
    }
}
