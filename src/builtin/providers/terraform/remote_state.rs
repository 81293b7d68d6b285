//! `terraform_remote_state`: the outputs of another configuration's state.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics, RemoteStates, has_errors};
use terrane_sdk::{Attribute, Context, DataSource, Error, Object, Path, Schema, Type, Validation, Value, Values};

use crate::providers::{NOT_READ, until_stopped};

pub struct RemoteState(pub Arc<dyn RemoteStates>);

fn path(name: &'static str) -> Path {
    Path::new().attr(name)
}

impl RemoteState {
    fn errors(&self, config: &Value) -> ProviderDiagnostics {
        let mut found = Vec::new();
        if let (Some(backend), Some(settings)) = (config.get("backend").and_then(Value::as_str), config.get("config")) {
            found.extend(self.0.validate(backend, settings));
        }
        if let Some(defaults) = config.get("defaults")
            && !defaults.is_null()
            && !defaults.ty().is_dynamic()
            && !defaults.ty().is_object()
        {
            let error =
                ProviderDiagnostic::error("Invalid default values", "Defaults must be given in an object value.");
            found.push(error.at(path("defaults")));
        }
        found
    }
}

impl DataSource for RemoteState {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        let attribute = |name, ty, description| Attribute::plain(name, ty).description(description).markdown();
        let backend = "The type of the backend that keeps the state: `local`, `s3`, `http`.";
        let config = "The backend's configuration: an object with the arguments of its `backend` block.";
        let workspace = "The workspace, if the backend has several; the default one if not given.";
        let defaults = "Outputs for when the state has none of that name.";
        let outputs = "The outputs of the state's root module, as an object.";
        let attributes = [
            attribute("backend", Type::String, backend).required(),
            attribute("config", Type::Dynamic, config).optional(),
            attribute("workspace", Type::String, workspace).optional(),
            attribute("defaults", Type::Dynamic, defaults).optional(),
            attribute("outputs", Type::Dynamic, outputs).computed(),
        ];
        Schema::new(attributes).without_checks()
    }

    fn validate(&self, validation: &mut Validation<'_, Object>) {
        let errors = self.errors(validation.config.value());
        validation.add(errors);
    }

    async fn read(&self, context: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
        let config = config.model()?;
        let errors = self.errors(&config.0);
        if has_errors(&errors) {
            return Err(errors.into());
        }
        let (backend, settings) = (config.text("backend").unwrap_or_default(), config.value("config"));
        let outputs = self.0.outputs(backend, &settings, config.text("workspace"));
        let Some(stored) = until_stopped(context, NOT_READ, outputs).await?? else {
            let detail = "No stored state was found for the given workspace in the given backend.";
            return Err(Error::new("Unable to find remote state", detail).at(path("workspace")));
        };
        let mut outputs: BTreeMap<Arc<str>, Value> = config.value("defaults").entries().to_map();
        outputs.extend(stored);
        Ok(config.with([("outputs", Value::object(outputs))]))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Terraform;
    use super::*;
    use crate::providers::tester::Tester;

    /// One state, with the output `x`, in the workspace "full".
    pub struct One;

    #[async_trait::async_trait]
    impl RemoteStates for One {
        fn validate(&self, backend: &str, _config: &Value) -> Vec<ProviderDiagnostic> {
            let known = backend == "local";
            let text = format!("There is no backend type named {backend:?}.");
            let error = || ProviderDiagnostic::error("Invalid backend configuration", text).at(path("backend"));
            if known { vec![] } else { vec![error()] }
        }

        async fn outputs(
            &self,
            _backend: &str,
            _config: &Value,
            workspace: Option<&str>,
        ) -> Result<Option<BTreeMap<Arc<str>, Value>>, ProviderDiagnostic> {
            Ok((workspace == Some("full")).then(|| BTreeMap::from([("x".into(), Value::int(1))])))
        }
    }

    #[test]
    fn the_provider_is_valid() {
        terrane_sdk::validate_implementation(Terraform { remote_states: Arc::new(One), has_data_stores: true })
            .unwrap();
    }

    #[tokio::test]
    async fn reads() {
        let source = Tester::data_source(
            Terraform { remote_states: Arc::new(One), has_data_stores: true },
            "terraform_remote_state",
        )
        .await;
        let config = |backend: &str, workspace: &str, defaults: Value| {
            source.object([
                ("backend", Value::string(backend)),
                ("workspace", Value::string(workspace)),
                ("defaults", defaults),
            ])
        };
        let defaults = Value::object([("x", Value::int(8)), ("y", Value::int(9))]);
        let read = source.read(config("local", "full", defaults)).await.unwrap();
        let expected = Value::object([("x", Value::int(1)), ("y", Value::int(9))]);
        assert_eq!(read.get("outputs"), Some(&expected));
        for (backend, workspace, defaults, summary) in [
            ("local", "none", Value::null_dynamic(), "Unable to find remote state"),
            ("nope", "full", Value::null_dynamic(), "Invalid backend configuration"),
            ("local", "full", Value::string("y"), "Invalid default values"),
        ] {
            let error = source.read(config(backend, workspace, defaults)).await.unwrap_err();
            assert_eq!(error.summary, summary);
        }
    }
}
