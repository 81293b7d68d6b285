//! The `http` backend: one state at a URL, with a lock at another URL. It has no workspaces.
//!
//! Owns its settings; the requests are in `store`. Never knows the content of states.

mod settings;
mod store;

use std::sync::Arc;

use async_trait::async_trait;
use settings::{Endpoint, HttpBlock};
use store::HttpStore;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use crate::kinds::{Kind, Opened};

/// The kind that opens [`HttpBackend`].
pub struct Http;

#[async_trait]
impl Kind for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = HttpBlock { config, environment: &context.environment };
        let endpoint = settings.endpoint().map_err(|problem| vec![ProviderDiagnostic::error(problem, "")])?;
        Ok(Opened::States(Arc::new(HttpBackend { endpoint: Arc::new(endpoint), context: context.clone() })))
    }
}

/// One state behind an address.
pub struct HttpBackend {
    endpoint: Arc<Endpoint>,
    context: Context,
}

#[async_trait]
impl Backend for HttpBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        Err(StoreError::workspaces_unsupported())
    }

    async fn delete_workspace(&self, _name: &str, _force: bool) -> Result<(), StoreError> {
        Err(StoreError::workspaces_unsupported())
    }

    async fn open_store(&self, workspace: &str, _first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace != DEFAULT_WORKSPACE {
            return Err(StoreError::workspaces_unsupported());
        }
        Ok(Arc::new(HttpStore::new(
            self.endpoint.clone(),
            self.context.journal_of(workspace, &[self.endpoint.address.as_str()]),
        )))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

#[cfg(test)]
mod tests {
    use base::env::Environment;
    use terrane_protocol::schema::Schema;
    use terrane_value::{Number, Type};

    use super::*;

    /// The error of opening with these settings and variables.
    async fn problem(settings: &[(&str, Value)], variables: &[(&str, &str)]) -> Option<String> {
        let schema = Schema::new(0, Http.schema());
        let Type::Object(object) = schema.implied_type() else { panic!() };
        let value = |(name, ty): (&Arc<str>, &Type)| {
            let given = settings.iter().find(|(given, _)| *given == &**name);
            (name.clone(), given.map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone()))
        };
        let config = Value::object(object.attributes.iter().map(value));
        let environment = Environment::of(variables.iter().copied());
        let context = Context::new(environment, ".terraform");
        Http.open(&config, &context).await.err().map(|mut problems| problems.remove(0).summary)
    }

    #[tokio::test]
    async fn settings_are_checked() {
        let text = Value::string;
        let address = ("address", text("http://127.0.0.1:1/"));
        let cases: [(&[(&str, Value)], Option<&str>); 9] = [
            (&[], Some("address argument is required")),
            (&[("address", text(""))], Some("address argument is required")),
            (&[("address", text("ftp://x/"))], Some("address must be HTTP or HTTPS")),
            (&[("address", text("x"))], Some("address must be HTTP or HTTPS")),
            (&[address.clone(), ("lock_address", text(""))], Some("lock_address must be HTTP or HTTPS")),
            (
                &[address.clone(), ("client_certificate_pem", text("x"))],
                Some("client_certificate_pem is set but client_private_key_pem is not"),
            ),
            (&[address.clone(), ("client_ca_certificate_pem", text("x"))], Some("failed to append certs")),
            (
                &[address.clone(), ("retry_max", Value::number(Number::parse("1.5").unwrap()))],
                Some("invalid retry_max: must not be a whole number"),
            ),
            (&[address.clone(), ("retry_max", Value::int(0)), ("username", text("me"))], None),
        ];
        for (settings, expected) in cases {
            assert_eq!(problem(settings, &[]).await.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn variables_give_what_the_block_leaves_out() {
        let address = ("TF_HTTP_ADDRESS", "http://127.0.0.1:1/");
        assert_eq!(problem(&[], &[address]).await, None);
        let wrong = ("TF_HTTP_RETRY_WAIT_MAX", "x");
        assert_eq!(problem(&[], &[address, wrong]).await.unwrap(), "invalid retry_wait_max: a number is required");
        let key = ("TF_HTTP_CLIENT_PRIVATE_KEY_PEM", "s3cret");
        let expected = "client_private_key_pem is set but client_certificate_pem is not";
        assert_eq!(problem(&[], &[address, key]).await.unwrap(), expected);
        let other = ("address", Value::string("ftp://x"));
        assert_eq!(problem(&[other], &[address]).await.unwrap(), "address must be HTTP or HTTPS");
    }
}
