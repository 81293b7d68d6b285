//! The encryption of the configuration and of TF_ENCRYPTION.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use backend::web;
use base::diag::{Diagnostic, Diagnostics, Kind};
use base::dialect::Dialect;
use base::env::{Environment, TF_ENCRYPTION};
use base::limits;
use bytes::Bytes;
use encryption::{
    self, Answer, DerivedKeys, Encryption, HttpClient, HttpClients, HttpError, HttpSettings, SealError, Services,
};
use http::Request;
use model::config;
use model::plan::file as plan_file;
use net::cloud;
use net::http::Client;

use crate::configuration::{load, variables};
use crate::opentofu;
use crate::setup::{DeclaredEncryption, Setup};

/// What is encrypted in the working directory. Keys are made when this is first asked for.
pub async fn of(setup: &Setup) -> Result<Arc<Encryption>, Diagnostics> {
    setup.encryption.made.get_or_init(|| make(setup)).await.clone()
}

async fn make(setup: &Setup) -> Result<Arc<Encryption>, Diagnostics> {
    let text = setup.environment.non_empty(TF_ENCRYPTION).map(str::trim).filter(|text| !text.is_empty());
    let declared = match setup.encryption.declared() {
        Some(declared) => declared,
        None if text.is_some() || load::may_encrypt(setup) => load::encryption(setup)?,
        None => return Ok(Arc::default()),
    };
    let DeclaredEncryption { block, early } = declared;
    let mut diagnostics = Diagnostics::new();
    let over = match text {
        Some(text) => diagnostics.take(config::parse_encryption(setup.dialect(), TF_ENCRYPTION, text)),
        None => None,
    };
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let wanted = match (block, over) {
        (Some(block), Some(over)) => Arc::new(block.as_ref().clone().merged(over)),
        (Some(block), None) => block,
        (None, Some(over)) => Arc::new(over),
        (None, None) => return Ok(Arc::default()),
    };
    ask_for_variables(setup, &wanted, &early).await?;
    let services = Services {
        environment: setup.environment.clone(),
        stop: setup.stop.clone(),
        http: Arc::new(Clients(setup.environment.clone())),
        folder: setup.root.folder().to_path_buf(),
        notify: setup.encryption.notifier(),
        derived: DerivedKeys::default(),
    };
    let made = diagnostics.take(Encryption::new(wanted, early, services).await);
    match made {
        Some(made) => {
            setup.encryption.warn(diagnostics);
            Ok(Arc::new(made))
        }
        None => Err(diagnostics.into_iter().map(of_encryption).collect()),
    }
}

fn of_encryption(problem: Diagnostic) -> Diagnostic {
    if problem.is_error() { problem.of_kind(Kind::Encryption) } else { problem }
}

/// Asks for the variables without a value that keys are made from, if questions are allowed. Without an answer, they stay without
/// a value.
async fn ask_for_variables(
    setup: &Setup,
    wanted: &config::Encryption,
    early: &config::StaticContext,
) -> Result<(), Diagnostics> {
    let Some(asker) = setup.encryption.asker() else { return Ok(()) };
    while let Some(variable) = encryption::missing_variable(wanted, early) {
        let Some(text) = variables::ask(variable, Some(asker)).await? else { break };
        setup.encryption.keep_answer(&variable.name, text);
    }
    Ok(())
}

/// Key services are asked as state stores are.
struct Clients(Environment);

impl HttpClients for Clients {
    fn client(&self, settings: &HttpSettings) -> Result<Arc<dyn HttpClient>, HttpError> {
        let mut wanted = web::settings(&self.0);
        wanted.retries = settings.retries.unwrap_or(wanted.retries);
        wanted.pauses = Duration::from_millis(500)..=Duration::from_secs(20);
        wanted.tls.authorities.clone_from(&settings.authorities);
        wanted.tls.skip_verification = settings.skip_verification;
        if let Some(proxy) = &settings.http_proxy {
            wanted.proxies.https.get_or_insert_with(|| proxy.clone());
            wanted.proxies.http = Some(proxy.clone());
        }
        wanted.proxies.https = settings.https_proxy.clone().or(wanted.proxies.https);
        wanted.proxies.except = settings.no_proxy.clone().unwrap_or(wanted.proxies.except);
        let client = Client::build(wanted).map_err(|why| HttpError::Client(why.to_string()))?;
        Ok(Arc::new(KeyClient { client, environment: self.0.clone() }))
    }
}

struct KeyClient {
    client: Client,
    environment: Environment,
}

#[async_trait]
impl HttpClient for KeyClient {
    async fn send(&self, request: Request<Bytes>) -> Result<Answer, HttpError> {
        let answer = cloud::send_within(&self.client, request, Some(limits::answer())).await;
        let answer = answer.map_err(|why| HttpError::Request(why.to_string()))?;
        Ok(Answer { status: answer.status.as_u16(), headers: answer.headers, body: answer.body })
    }

    fn context(&self) -> reqsign_core::Context {
        cloud::client_context(&self.environment, &self.client)
    }
}

/// Why the content of a plan file is not known.
pub enum Unopened {
    /// The key or the configuration does not fit: nothing else has to be said.
    Explained(String),
    /// Where nothing is said of encryption.
    Encrypted,
    /// A part of a message.
    Unread(String),
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unopened::Explained(text) | Unopened::Unread(text) => f.write_str(text),
            Unopened::Encrypted => f.write_str(ENCRYPTED_PLAN),
        }
    }
}

/// The content of a plan file as it was before it was encrypted, if it was.
pub async fn open_plan(encryption: &Encryption, content: Vec<u8>) -> Result<Vec<u8>, Unopened> {
    let Some(cipher) = &encryption.plan else {
        return match encryption::is_sealed(&content) {
            true => Err(Unopened::Encrypted),
            false => Ok(content),
        };
    };
    let is_object = encryption::outside(&content);
    let opened = cipher.open(content).await;
    let cloud = match is_object {
        Ok(_) => "invalid remote plan format, must be 1".to_owned(),
        Err(why) => why.to_string(),
    };
    let unread = |why: &str| {
        let why = format!(
            "couldn't load the provided path as either a local plan file ({why}) or a saved cloud plan ({cloud})"
        );
        Unopened::Unread(why)
    };
    let plain = match opened {
        Ok(opened) => opened.plain,
        Err(error @ SealError::Explained { .. }) => return Err(Unopened::Explained(error.to_string())),
        Err(error) => return Err(unread(&error.to_string())),
    };
    if plan_file::is_archive(&plain) { Ok(plain) } else { Err(unread("zip: not a valid zip file")) }
}

/// What is said of an encrypted plan where nothing is said of encryption.
const ENCRYPTED_PLAN: &str = "the given plan file is encrypted and requires a valid encryption configuration to decrypt. Add the \"encryption\" block that \
     it was written with, or set TF_ENCRYPTION";

/// The content of a state file as it was before it was encrypted, if it was.
pub async fn open_state(encryption: &Encryption, content: Vec<u8>) -> Result<Vec<u8>, SealError> {
    match &encryption.state {
        Some(cipher) if !content.is_empty() => Ok(cipher.open(content).await?.plain),
        _ => Ok(content),
    }
}

/// A plan file that cannot be read.
pub fn plan_not_loaded(dialect: Dialect, name: &str, why: &Unopened) -> Diagnostics {
    let detail = match why {
        Unopened::Explained(text) => text.clone(),
        why => format!("{}{why}", opentofu::lead_of_unreadable_plan(dialect)),
    };
    Diagnostic::error(plan_file::not_loaded(name), detail).of_kind(Kind::Encryption).into()
}
