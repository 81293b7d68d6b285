//! `terraform_remote_state`: the outputs of another configuration's state.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;

use crate::builtin::sdk::{Attr, DataSource, Shape, object_with, text_of};
use crate::lang::value::{Path, Type, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics, RemoteStates, has_errors};

pub struct RemoteState {
    shape: Shape,
    states: Arc<dyn RemoteStates>,
}

impl RemoteState {
    pub fn new(states: Arc<dyn RemoteStates>) -> RemoteState {
        let dynamic = |name, description| Attr::new(name, Type::Dynamic, description).markdown();
        let shape = Shape::unchecked(
            0,
            vec![
                Attr::string("backend", "The type of the backend that keeps the state: `local`, `s3`, `http`.")
                    .markdown()
                    .required(),
                dynamic("config", "The backend's configuration: an object with the arguments of its `backend` block.")
                    .optional(),
                Attr::string("workspace", "The workspace, if the backend has several; the default one if not given.")
                    .markdown()
                    .optional(),
                dynamic("defaults", "Outputs for when the state has none of that name.").optional(),
                dynamic("outputs", "The outputs of the state's root module, as an object.").computed(),
            ],
        );
        RemoteState { shape, states }
    }
}

fn path(name: &'static str) -> Path {
    Path::new().attr(name)
}

#[async_trait]
impl DataSource for RemoteState {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        if let (Some(backend), Some(backend_config)) = (text_of(config, "backend"), config.get("config")) {
            found.extend(self.states.validate(backend, backend_config));
        }
        if let Some(defaults) = config.get("defaults")
            && !defaults.is_null()
            && !defaults.ty().is_dynamic()
            && !defaults.ty().is_object()
        {
            found.push(
                ProviderDiagnostic::error("Invalid default values", "Defaults must be given in an object value.")
                    .at(path("defaults")),
            );
        }
    }

    async fn read(&self, config: &Value) -> Result<Value, ProviderDiagnostics> {
        let backend = text_of(config, "backend").unwrap_or_default();
        let null = Value::null_dynamic();
        let backend_config = config.get("config").unwrap_or(&null);
        let mut found = Vec::new();
        self.validate(config, &mut found);
        if has_errors(&found) {
            return Err(found);
        }
        let stored = self.states.outputs(backend, backend_config, text_of(config, "workspace")).await;
        let Some(stored) = stored.map_err(|error| vec![error])? else {
            return Err(vec![
                ProviderDiagnostic::error(
                    "Unable to find remote state",
                    "No stored state was found for the given workspace in the given backend.",
                )
                .at(path("workspace")),
            ]);
        };
        let mut outputs: BTreeMap<Arc<str>, Value> =
            config.get("defaults").map(|defaults| defaults.entries().clone()).unwrap_or_default();
        outputs.extend(stored);
        Ok(object_with(config, [("outputs", Value::object(outputs))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One state, with the output `x`, in the workspace "full".
    struct One;

    #[async_trait]
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

    #[tokio::test]
    async fn reads() {
        let source = RemoteState::new(Arc::new(One));
        let config = |backend: &str, workspace: &str, defaults: Value| {
            source.shape.object([
                ("backend", Value::string(backend)),
                ("workspace", Value::string(workspace)),
                ("defaults", defaults),
            ])
        };
        let defaults = Value::object([("x", Value::int(8)), ("y", Value::int(9))]);
        let read = source.read(&config("local", "full", defaults)).await.unwrap();
        let expected = Value::object([("x", Value::int(1)), ("y", Value::int(9))]);
        assert_eq!(read.get("outputs"), Some(&expected));
        for (backend, workspace, defaults, summary) in [
            ("local", "none", Value::null_dynamic(), "Unable to find remote state"),
            ("nope", "full", Value::null_dynamic(), "Invalid backend configuration"),
            ("local", "full", Value::string("y"), "Invalid default values"),
        ] {
            let errors = source.read(&config(backend, workspace, defaults)).await.unwrap_err();
            assert_eq!(errors[0].summary, summary);
        }
    }
}
