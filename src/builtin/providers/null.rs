//! `null_resource` and `null_data_source`: the lifecycle and nothing else.

use terrane_sdk::{Context, Creation, DataSource, Error, Field, Model, Provider, Resource, Schema, Types, Values};

use super::rules::{Keepers, replace_if_values};

/// The provider.
pub struct Null;

impl Provider for Null {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.without_destroy_plans();
        types.resource("null_resource", NullResource);
        types.data_source("null_data_source", NullData);
    }
}

/// Has the lifecycle of a resource and does nothing; `terraform_data` serves the same purpose without a provider to install.
#[derive(Model)]
struct ResourceModel {
    /// Any texts; a change of one replaces the resource and so runs its provisioners again.
    #[attribute(optional, modifiers(replace_if_values()))]
    triggers: Keepers,
    /// A random number, chosen at creation.
    #[attribute(computed, keep)]
    id: Field<String>,
}

struct NullResource;

/// A random non-negative number, as text.
fn random_number() -> Field<String> {
    Field::known((rand::random::<u64>() >> 1).to_string())
}

impl Resource for NullResource {
    type Data = ();
    type Model = ResourceModel;

    fn schema(&self) -> Schema {
        Schema::of::<ResourceModel>().plain_text()
    }

    async fn create(
        &self,
        _: &mut Context<()>,
        creation: &mut Creation<ResourceModel>,
    ) -> Result<ResourceModel, Error> {
        Ok(ResourceModel { id: random_number(), ..creation.planned.model()? })
    }
}

/// Copies its inputs to its outputs; a local value serves the same purpose.
#[derive(Model)]
#[model(
    deprecated = "The null_data_source was historically used to construct intermediate values to re-use elsewhere in \
                      configuration, the same can now be achieved using locals or the terraform_data resource type in \
                      Terraform 1.4 and later."
)]
struct DataModel {
    /// Any texts, copied into `outputs`.
    #[attribute(optional)]
    inputs: Keepers,
    /// The `inputs`, once the data source was read.
    #[attribute(computed)]
    outputs: Field<std::collections::BTreeMap<String, Option<String>>>,
    /// A random number; for tests.
    #[attribute(computed)]
    random: Field<String>,
    /// The text given, or `"default"`; for tests.
    #[attribute(optional, computed)]
    has_computed_default: Field<String>,
    /// This attribute is only present for some legacy compatibility issues and should not be used. It will be removed in a future version.
    #[attribute(
        computed,
        deprecated = "This attribute is only present for some legacy compatibility issues and should not be used. It \
                      will be removed in a future version."
    )]
    id: Field<String>,
}

struct NullData;

impl DataSource for NullData {
    type Data = ();
    type Model = DataModel;

    fn schema(&self) -> Schema {
        Schema::of::<DataModel>().plain_text()
    }

    async fn read(&self, _: &mut Context<()>, config: Values<DataModel>) -> Result<DataModel, Error> {
        let config = config.model()?;
        let default = match config.has_computed_default {
            Field::Null => Field::known("default"),
            given => given,
        };
        Ok(DataModel {
            outputs: config.inputs.clone().into(),
            random: random_number(),
            has_computed_default: default,
            id: Field::known("static"),
            ..config
        })
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::{Type, Value, validate_implementation};

    use super::super::tester::{Tester, text};
    use super::*;

    #[test]
    fn the_provider_is_valid() {
        validate_implementation(Null).unwrap();
    }

    #[tokio::test]
    async fn data_source_copies() {
        let data = Tester::data_source(Null, "null_data_source").await;
        let inputs = Value::map(Type::String, [("a", Value::string("1")), ("b", Value::null(Type::String))]);
        let read = data.read(data.object([("inputs", inputs.clone())])).await.unwrap();
        assert_eq!(read.get("outputs"), Some(&inputs));
        assert_eq!(text(&read, "has_computed_default"), "default");
        assert_eq!(text(&read, "id"), "static");
    }

    #[tokio::test]
    async fn resource_gets_a_number() {
        let resource = Tester::resource(Null, "null_resource").await;
        let planned = resource.plan(resource.absent(), resource.object([])).await.planned;
        let created = resource.create(planned).await.unwrap();
        assert!(text(&created, "id").parse::<u64>().is_ok());
        let again = resource.plan(created.clone(), resource.object([])).await;
        assert_eq!((again.planned, again.requires_replace), (created, vec![]));
    }
}
