//! States of other configurations, for `terraform_remote_state`: only reading, never under a lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use backend::contract::Context;
use backend::contract::schema::INVALID_SETTINGS;
use backend::contract::services::SharedServices;
use backend::kinds::{Kind, list};
use backend::{DEFAULT_WORKSPACE, StateAccess, StateSession, StateStore, load};
use base::diag::Diagnostics;
use base::env::Environment;
use encryption::Cipher;
use terrane_protocol::provider::{ProviderDiagnostic, RemoteStates, has_errors};
use terrane_protocol::schema::{Block, Nesting};
use terrane_value::{Path, PathStep, Type, Value, convert};

/// The backends that there are.
pub struct Backends {
    /// Where settings come from that a configuration leaves out.
    pub environment: Environment,
    /// Hosts and the user's tokens for them.
    pub services: SharedServices,
}

fn invalid(attribute: &str, detail: String) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_SETTINGS, detail).at(Path(vec![PathStep::Attr(attribute.into())]))
}

impl Backends {
    fn context(&self) -> Context {
        // No run of this working directory writes another configuration's state: there is no journal to look at.
        let nowhere = std::env::temp_dir().join(uuid::Uuid::new_v4().to_string());
        Context { services: self.services.clone(), ..Context::new(self.environment.clone(), nowhere) }
    }

    /// The backend of a name with settings of its schema's type.
    fn settings(&self, backend: &str, config: &Value) -> Result<(&'static dyn Kind, Value), Vec<ProviderDiagnostic>> {
        let name = if backend == "_local" { "local" } else { backend };
        let kind = list::find(name).map_err(|problem| vec![invalid("backend", problem.detail)])?;
        let coerced = coerce(config, &kind.schema()).map_err(|why| {
            let detail = format!("The given configuration is not valid for backend {name:?}: {why}.");
            vec![invalid("config", detail)]
        })?;
        let mut problems = kind.check(&coerced, &self.context());
        for problem in &mut problems {
            // The path leads through the backend's settings, which are one value here.
            problem.attribute = None;
        }
        if has_errors(&problems) { Err(problems) } else { Ok((kind, coerced)) }
    }
}

/// An object as settings of a schema, or what does not fit.
fn coerce(config: &Value, schema: &Block) -> Result<Value, String> {
    if !(config.is_null() || config.ty().is_object() || config.ty().is_map()) {
        return Err("an object is required".to_owned());
    }
    let given = config.entries();
    let is_known = |name: &str| schema.attributes.contains_key(name) || schema.blocks.contains_key(name);
    if let Some(name) = given.keys().find(|name| !is_known(name)) {
        return Err(format!("unexpected attribute {:?}", &**name));
    }
    let fitted = |name: &Arc<str>, ty: Type| match given.get(name).filter(|value| !value.is_null()) {
        Some(value) => convert::convert(value, &ty).map(Some).map_err(|why| format!("{name}: {why}")),
        None => Ok(None),
    };
    let mut settings = BTreeMap::new();
    for (name, attribute) in &schema.attributes {
        let ty = attribute.implied_type();
        let value = match fitted(name, ty.clone())? {
            None if attribute.required => return Err(format!("attribute {:?} is required", &**name)),
            value => value.unwrap_or_else(|| Value::null(ty)),
        };
        settings.insert(name.clone(), value);
    }
    for (name, nested) in &schema.blocks {
        let value = match (given.get(name), nested.nesting) {
            // Arguments of one block may be left out.
            (Some(value), Nesting::Single | Nesting::Group) if !value.is_null() => {
                Some(coerce(value, &nested.block).map_err(|why| format!("{name}: {why}"))?)
            }
            _ => fitted(name, nested.implied_type())?,
        };
        settings.insert(name.clone(), value.unwrap_or_else(|| nested.empty_value()));
    }
    Ok(Value::object(settings))
}

#[async_trait]
impl RemoteStates for Backends {
    fn validate(&self, backend: &str, config: &Value) -> Vec<ProviderDiagnostic> {
        if !config.is_wholly_known() {
            let ty = config.ty();
            let fits = ty.is_dynamic() || ty.is_object() || ty.is_map();
            let problem = || invalid("config", "The configuration must be an object value.".to_owned());
            return if fits { Vec::new() } else { vec![problem()] };
        }
        self.settings(backend, config).err().unwrap_or_default()
    }

    async fn outputs(
        &self,
        backend: &str,
        config: &Value,
        workspace: Option<&str>,
    ) -> Result<Option<BTreeMap<Arc<str>, Value>>, ProviderDiagnostic> {
        let (kind, settings) = self.settings(backend, config).map_err(first_error)?;
        let opened = kind.open(&settings, &self.context()).await;
        let opened = opened.map_err(|problems| {
            let problem = first_error(problems);
            let text = match problem.detail.is_empty() {
                true => problem.summary,
                false => format!("{}: {}", problem.summary, problem.detail),
            };
            ProviderDiagnostic::error(text, "")
        })?;
        let store = opened.states().store(workspace.unwrap_or(DEFAULT_WORKSPACE)).await.map_err(|e| {
            let detail = format!("error loading the remote state: {e}");
            ProviderDiagnostic::error("Error loading state error", detail)
                .at(Path(vec![PathStep::Attr("backend".into())]))
        })?;
        let (store, is_encrypted) = decrypted(store);
        let loaded = load(&store, StateAccess::ReadOnly).await;
        let loaded = loaded.map_err(|problems| match is_encrypted {
            true => first_of(&problems),
            false => joined(&problems),
        })?;
        Ok(loaded.file.map(|file| file.state.outputs.into_iter().map(|(name, output)| (name, output.value)).collect()))
    }
}

fn first_error(problems: Vec<ProviderDiagnostic>) -> ProviderDiagnostic {
    let error = problems.into_iter().find(|problem| has_errors(std::slice::from_ref(problem)));
    error.unwrap_or_else(|| ProviderDiagnostic::error(INVALID_SETTINGS, ""))
}

tokio::task_local! {
    /// What decrypts the state that is being read, where encryption is configured.
    static CIPHER: Option<Arc<Cipher>>;
}

/// Reads with what decrypts the state; none: it must not be encrypted.
pub async fn decrypting<T>(cipher: Option<Arc<Cipher>>, work: impl Future<Output = T>) -> T {
    CIPHER.scope(cipher, work).await
}

/// The state as it is to be read, and whether encryption is configured at all.
fn decrypted(store: Arc<dyn StateStore>) -> (StateSession, bool) {
    let configured = CIPHER.try_with(Clone::clone);
    let is_encrypted = configured.is_ok();
    (StateSession::new(store, configured.ok().flatten()), is_encrypted)
}

fn first_of(diagnostics: &Diagnostics) -> ProviderDiagnostic {
    let first = diagnostics.iter().find(|d| d.is_error());
    first.map_or_else(
        || ProviderDiagnostic::error(INVALID_SETTINGS, ""),
        |d| ProviderDiagnostic::error(d.summary.clone(), d.detail.clone()),
    )
}

/// All errors as one, with the summary of the first.
fn joined(diagnostics: &Diagnostics) -> ProviderDiagnostic {
    let details = diagnostics.iter().filter(|d| !d.detail.is_empty()).map(|d| d.detail.clone());
    ProviderDiagnostic { detail: details.collect::<Vec<_>>().join("\n\n"), ..first_of(diagnostics) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_checked_by_the_schema() {
        let backends = Backends { environment: Environment::default(), services: SharedServices::default() };
        let object = |pairs: &[(&str, Value)]| Value::object(pairs.iter().map(|(n, v)| (*n, v.clone())));
        let cases = [
            ("local", Value::null_dynamic(), None),
            ("_local", object(&[("path", Value::string("x"))]), None),
            ("local", Value::map(Type::String, [("path", Value::string("x"))]), None),
            (
                "local",
                Value::string("x"),
                Some("The given configuration is not valid for backend \"local\": an object is required."),
            ),
            (
                "local",
                object(&[("x", Value::int(1))]),
                Some("The given configuration is not valid for backend \"local\": unexpected attribute \"x\"."),
            ),
            ("local", object(&[("path", Value::string(""))]), Some("The \"path\" attribute value must not be empty.")),
            ("http", object(&[("retry_max", Value::string("5"))]), None),
            (
                "http",
                object(&[("retry_max", Value::string("many"))]),
                Some("The given configuration is not valid for backend \"http\": retry_max: a number is required."),
            ),
            ("nope", Value::null_dynamic(), Some("There is no backend type named \"nope\".")),
        ];
        for (backend, config, expected) in cases {
            let found = backends.validate(backend, &config);
            assert_eq!(found.first().map(|problem| problem.detail.as_str()), expected, "{backend}");
        }
    }
}
