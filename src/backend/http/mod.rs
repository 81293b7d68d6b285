//! The `http` backend: one state at a URL, with a lock at another URL. It has no workspaces.
//!
//! Owns its settings; the requests are in `store`.

mod store;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::env::{self, Environment};
use base::secret::Secret;
use net::http::{Client, Settings as HttpSettings, Tls};
use reqwest::Method;
use store::HttpStore;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::{Number, Type, Value};
use url::Url;

use super::store::{Backend, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use super::table::{Context, Kind, block, optional};
use super::web;
use crate::hcp::Hcp;

/// The kind that opens [`HttpBackend`].
pub struct Http;

const TEXTS: [(&str, &str); 11] = [
    ("address", "The address of the REST endpoint"),
    ("update_method", "HTTP method to use when updating state"),
    ("lock_address", "The address of the lock REST endpoint"),
    ("unlock_address", "The address of the unlock REST endpoint"),
    ("lock_method", "The HTTP method to use when locking"),
    ("unlock_method", "The HTTP method to use when unlocking"),
    ("username", "The username for HTTP basic authentication"),
    ("password", "The password for HTTP basic authentication"),
    (
        "client_ca_certificate_pem",
        "A PEM-encoded CA certificate chain used by the client to verify server certificates during TLS authentication",
    ),
    (
        "client_certificate_pem",
        "A PEM-encoded certificate used by the server to verify the client during mutual TLS (mTLS) authentication",
    ),
    ("client_private_key_pem", "A PEM-encoded private key, required if client_certificate_pem is specified"),
];

const NUMBERS: [(&str, &str); 3] = [
    ("retry_max", "The number of HTTP request retries"),
    ("retry_wait_min", "The minimum time in seconds to wait between HTTP request attempts"),
    ("retry_wait_max", "The maximum time in seconds to wait between HTTP request attempts"),
];

#[async_trait]
impl Kind for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn schema(&self) -> Block {
        let texts = TEXTS.iter().map(|(name, doc)| (*name, optional(Type::String, doc)));
        let numbers = NUMBERS.iter().map(|(name, doc)| (*name, optional(Type::Number, doc)));
        let skip = ("skip_cert_verification", optional(Type::Bool, "Whether to skip TLS verification"));
        let all: Vec<_> = texts.chain(numbers).chain([skip]).collect();
        block(&all)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
        let settings = Settings { config, environment: &context.environment };
        let endpoint = settings.endpoint().map_err(|problem| vec![ProviderDiagnostic::error(problem, "")])?;
        Ok(Arc::new(HttpBackend { endpoint: Arc::new(endpoint), context: context.clone() }))
    }
}

/// The settings of a block, and where those come from that it leaves out.
struct Settings<'a> {
    config: &'a Value,
    environment: &'a Environment,
}

impl Settings<'_> {
    /// A setting that may be empty; an empty variable is none.
    fn text(&self, name: &str, variable: &str) -> Option<String> {
        let given = self.config.get(name).and_then(Value::as_str);
        given.or_else(|| self.environment.non_empty(variable)).map(str::to_owned)
    }

    fn filled(&self, name: &str, variable: &str) -> Option<String> {
        self.text(name, variable).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str, variable: &str, default: i64) -> Result<u32, String> {
        let given = match (self.config.get(name).and_then(Value::as_number), self.environment.non_empty(variable)) {
            (Some(number), _) => Some(number.clone()),
            (None, Some(text)) => Some(Number::parse(text).ok_or(format!("invalid {name}: a number is required"))?),
            (None, None) => None,
        };
        let number = given.map_or(Some(default), |number| number.as_i64());
        let whole = number.ok_or(format!("invalid {name}: must not be a whole number"))?;
        // The reference takes a negative number for none.
        Ok(u32::try_from(whole.max(0)).unwrap_or(u32::MAX))
    }

    fn address(&self, name: &str, variable: &str) -> Result<Option<Url>, String> {
        let Some(text) = self.text(name, variable) else { return Ok(None) };
        let schemed = text.starts_with("http://") || text.starts_with("https://");
        match Url::parse(&text) {
            Ok(url) if schemed => Ok(Some(url)),
            Err(e) if schemed => Err(format!("failed to parse {name} URL: {e}")),
            _ => Err(format!("{name} must be HTTP or HTTPS")),
        }
    }

    fn method(&self, name: &str, variable: &str, default: &str) -> Result<Method, String> {
        let text = self.text(name, variable).unwrap_or_else(|| default.to_owned());
        Method::from_bytes(text.as_bytes()).map_err(|_| format!("{name}: invalid method {text:?}"))
    }

    fn endpoint(&self) -> Result<Endpoint, String> {
        if self.filled("address", env::TF_HTTP_ADDRESS).is_none() {
            return Err("address argument is required".to_owned());
        }
        let address = self.address("address", env::TF_HTTP_ADDRESS)?;
        let name = self.filled("username", env::TF_HTTP_USERNAME);
        let password = Secret::new(self.text("password", env::TF_HTTP_PASSWORD).unwrap_or_default());
        let lock = self.address("lock_address", env::TF_HTTP_LOCK_ADDRESS)?;
        let unlock = self.address("unlock_address", env::TF_HTTP_UNLOCK_ADDRESS)?;
        Ok(Endpoint {
            address: address.ok_or("address argument is required")?,
            update_method: self.method("update_method", env::TF_HTTP_UPDATE_METHOD, "POST")?,
            lock,
            lock_method: self.method("lock_method", env::TF_HTTP_LOCK_METHOD, "LOCK")?,
            unlock,
            unlock_method: self.method("unlock_method", env::TF_HTTP_UNLOCK_METHOD, "UNLOCK")?,
            login: name.map(|name| (name, password)),
            client: Client::build(self.web()?)?,
        })
    }

    fn web(&self) -> Result<HttpSettings, String> {
        let first = self.number("retry_wait_min", env::TF_HTTP_RETRY_WAIT_MIN, 1)?;
        let longest = self.number("retry_wait_max", env::TF_HTTP_RETRY_WAIT_MAX, 30)?;
        let seconds = |n: u32| Duration::from_secs(n.into());
        Ok(HttpSettings {
            tls: self.tls()?,
            retries: self.number("retry_max", env::TF_HTTP_RETRY_MAX, 2)?,
            pauses: seconds(first)..=seconds(longest),
            ..web::settings(self.environment)
        })
    }

    fn tls(&self) -> Result<Tls, String> {
        let certificate = self.filled("client_certificate_pem", env::TF_HTTP_CLIENT_CERTIFICATE_PEM);
        let key = self.filled("client_private_key_pem", env::TF_HTTP_CLIENT_PRIVATE_KEY_PEM);
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, Secret::new(key))),
            (None, None) => None,
            (Some(_), None) => return Err("client_certificate_pem is set but client_private_key_pem is not".into()),
            (None, Some(_)) => return Err("client_private_key_pem is set but client_certificate_pem is not".into()),
        };
        Ok(Tls {
            authorities: self.filled("client_ca_certificate_pem", env::TF_HTTP_CLIENT_CA_CERTIFICATE_PEM),
            more_authorities: None,
            identity,
            skip_verification: self.config.get("skip_cert_verification").is_some_and(Value::is_true),
        })
    }
}

/// Where the state is and how it is reached.
struct Endpoint {
    address: Url,
    update_method: Method,
    lock: Option<Url>,
    lock_method: Method,
    unlock: Option<Url>,
    unlock_method: Method,
    login: Option<(String, Secret)>,
    client: Client,
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

    fn hcp(&self) -> Option<&Hcp> {
        None
    }
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::Schema;

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
