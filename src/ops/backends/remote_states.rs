//! States of other configurations, for `terraform_remote_state`: only reading, never under a lock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::backend::local::LocalBackend;
use crate::backend::store::DEFAULT_WORKSPACE;
use crate::backend::{Access, Backend};
use crate::base::diag::Diagnostics;
use crate::lang::value::{Path, PathStep, Value};
use crate::model::provider::{ProviderDiagnostic, RemoteStates};

const INVALID_BACKEND: &str = "Invalid backend configuration";

/// The backends that there are.
pub struct Backends;

const SETTINGS: [&str; 2] = ["path", "workspace_dir"];

fn unknown_backend(name: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_BACKEND, format!("There is no backend type named {name:?}."))
        .at(Path(vec![PathStep::Attr("backend".into())]))
}

fn invalid(detail: String) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_BACKEND, detail).at(Path(vec![PathStep::Attr("config".into())]))
}

#[async_trait]
impl RemoteStates for Backends {
    fn validate(&self, backend: &str, config: &Value) -> Vec<ProviderDiagnostic> {
        if backend != "local" {
            return vec![unknown_backend(backend)];
        }
        if config.is_null() || !config.is_known() {
            return Vec::new();
        }
        if !(config.ty().is_object() || config.ty().is_map()) {
            return vec![invalid(
                "The given configuration is not valid for backend \"local\": an object is required.".into(),
            )];
        }
        let strange = config.entries().keys().find(|name| !SETTINGS.contains(&&***name));
        strange
            .map(|name| {
                invalid(format!(
                    "The given configuration is not valid for backend \"local\": unexpected attribute {name:?}."
                ))
            })
            .into_iter()
            .collect()
    }

    async fn outputs(
        &self,
        backend: &str,
        config: &Value,
        workspace: Option<&str>,
    ) -> Result<Option<BTreeMap<Arc<str>, Value>>, ProviderDiagnostic> {
        if backend != "local" {
            return Err(unknown_backend(backend));
        }
        let setting = |name: &str| {
            let value = if config.is_null() { None } else { config.get(name) };
            value.and_then(|v| v.as_str().map(PathBuf::from))
        };
        let local =
            LocalBackend { path: setting("path"), workspace_dir: setting("workspace_dir"), ..LocalBackend::default() };
        let problem = |text: String| ProviderDiagnostic::error("Error loading state error", text);
        let store = local.store(workspace.unwrap_or(DEFAULT_WORKSPACE)).await.map_err(|e| problem(e.to_string()))?;
        let loaded = crate::backend::load(&*store, Access::ReadOnly).await.map_err(|d| problem(text_of(&d)))?;
        Ok(loaded.file.map(|file| file.state.outputs.into_iter().map(|(name, output)| (name, output.value)).collect()))
    }
}

fn text_of(diagnostics: &Diagnostics) -> String {
    let texts = diagnostics.iter().map(|d| if d.detail.is_empty() { d.summary.clone() } else { d.detail.clone() });
    texts.collect::<Vec<_>>().join("\n")
}
