//! The settings of the `http` backend, and the endpoint that they name.

use std::time::Duration;

use base::env::{self, Environment};
use base::secret::Secret;
use net::http::{Client, Settings as HttpSettings, Tls};
use reqwest::Method;
use terrane_protocol::schema::Block;
use terrane_value::{Number, Type, Value};
use url::Url;

use crate::contract::StoreError;
use crate::contract::schema::{block, optional};
use crate::web;

/// Where the state is and how it is reached.
pub struct Endpoint {
    pub address: Url,
    pub update_method: Method,
    pub lock: Option<Url>,
    pub lock_method: Method,
    pub unlock: Option<Url>,
    pub unlock_method: Method,
    pub login: Option<(String, Secret)>,
    pub client: Client,
}

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

/// The settings of a block.
pub fn schema() -> Block {
    let texts = TEXTS.iter().map(|(name, doc)| (*name, optional(Type::String, doc)));
    let numbers = NUMBERS.iter().map(|(name, doc)| (*name, optional(Type::Number, doc)));
    let skip = ("skip_cert_verification", optional(Type::Bool, "Whether to skip TLS verification"));
    let all: Vec<_> = texts.chain(numbers).chain([skip]).collect();
    block(&all)
}

/// The settings of a block, and where those come from that it leaves out.
pub struct HttpBlock<'a> {
    pub config: &'a Value,
    pub environment: &'a Environment,
}

impl HttpBlock<'_> {
    /// A setting that may be empty; an empty variable is none.
    fn text(&self, name: &str, variable: &str) -> Option<String> {
        let given = self.config.get(name).and_then(Value::as_str);
        given.or_else(|| self.environment.non_empty(variable)).map(str::to_owned)
    }

    fn filled(&self, name: &str, variable: &str) -> Option<String> {
        self.text(name, variable).filter(|text| !text.is_empty())
    }

    fn number(&self, name: &str, variable: &str, default: i64) -> Result<u32, StoreError> {
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

    fn address(&self, name: &str, variable: &str) -> Result<Option<Url>, StoreError> {
        let Some(text) = self.text(name, variable) else { return Ok(None) };
        let schemed = text.starts_with("http://") || text.starts_with("https://");
        match Url::parse(&text) {
            Ok(url) if schemed => Ok(Some(url)),
            Err(e) if schemed => Err(format!("failed to parse {name} URL: {e}").into()),
            _ => Err(format!("{name} must be HTTP or HTTPS").into()),
        }
    }

    fn method(&self, name: &str, variable: &str, default: &str) -> Result<Method, StoreError> {
        let text = self.text(name, variable).unwrap_or_else(|| default.to_owned());
        Method::from_bytes(text.as_bytes()).map_err(|_| format!("{name}: invalid method {text:?}").into())
    }

    pub fn endpoint(&self) -> Result<Endpoint, StoreError> {
        if self.filled("address", env::TF_HTTP_ADDRESS).is_none() {
            return Err("address argument is required".into());
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

    fn web(&self) -> Result<HttpSettings, StoreError> {
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

    fn tls(&self) -> Result<Tls, StoreError> {
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
