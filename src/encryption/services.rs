//! What key providers reach the world with.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use base::diag::Diagnostic;
use base::env::Environment;
use base::stop::Stop;
use bytes::Bytes;
use http::Request;

use super::key::DerivedKeys;

/// The surroundings of the command. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    pub environment: Environment,
    pub stop: Stop,
    pub http: Arc<dyn HttpClients>,
    /// Where programs that give keys and relative paths of settings start. Empty: in the folder of this process.
    pub folder: PathBuf,
    /// Shows a warning at once, for work that takes long.
    pub notify: Arc<dyn Fn(Diagnostic) + Send + Sync>,
    pub derived: DerivedKeys,
}

#[cfg(test)]
impl Services {
    /// Neither network nor environment.
    pub fn offline() -> Services {
        Services {
            environment: Environment::of([("", "")]),
            stop: Stop::new(),
            http: Arc::new(NoHttp),
            folder: PathBuf::new(),
            notify: Arc::new(|_| {}),
            derived: DerivedKeys::default(),
        }
    }
}

/// Makes HTTP clients.
pub trait HttpClients: Send + Sync {
    fn client(&self, settings: &HttpSettings) -> Result<Arc<dyn HttpClient>, HttpError>;
}

/// How requests are sent where that differs from the environment's way.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// Attempts after the first; none: as usual.
    pub retries: Option<u32>,
    /// Certificates of authorities in place of the system's: a PEM text.
    pub authorities: Option<String>,
    pub skip_verification: bool,
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    pub no_proxy: Option<String>,
}

/// Sends requests.
#[async_trait]
pub trait HttpClient: Send + Sync {
    /// The response with any status.
    async fn send(&self, request: Request<Bytes>) -> Result<Answer, HttpError>;

    /// What libraries for credentials need.
    fn context(&self) -> reqsign_core::Context;
}

/// Why a request has no response, in the words of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpError {
    /// There is no client with these settings: a certificate or the address of a proxy cannot be used.
    Client(String),
    /// The request was sent and not answered, or could not be sent.
    Request(String),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpError::Client(why) | HttpError::Request(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for HttpError {}

/// What a service says.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub body: Vec<u8>,
}

/// No network, for tests.
#[cfg(test)]
pub struct NoHttp;

#[cfg(test)]
impl HttpClients for NoHttp {
    fn client(&self, _: &HttpSettings) -> Result<Arc<dyn HttpClient>, HttpError> {
        Err(HttpError::Client("no network".into()))
    }
}
