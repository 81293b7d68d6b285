//! The `consul` backend: states as keys of Consul's store, locks as locks of its sessions.
//!
//! Owns settings and workspaces; operations on one state are in `store`. Never knows the content of states.

mod client;
mod store;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use base::env;
use base::files::named;
use base::secret::Secret;
use client::{Consul, Outcome, Step};
use net::http::{Client, Settings as HttpSettings, Tls};
use store::{ConsulStore, chunks_of};
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::{Type, Value};
use url::Url;

use super::settings::{Settings, boolean, failure};
use super::store::{Backend, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use super::table::{Context, Kind, block, optional};
use super::web;
use crate::hcp::Hcp;

/// Between the path of the default workspace and the name of another one.
const WORKSPACE_SUFFIX: &str = "-env:";

/// The kind that opens [`ConsulBackend`].
pub struct ConsulKind;

const TEXTS: [(&str, &str); 8] = [
    ("access_token", "Access token for a Consul ACL"),
    ("address", "Address to the Consul Cluster"),
    ("scheme", "Scheme to communicate to Consul with"),
    ("datacenter", "Datacenter to communicate with"),
    ("http_auth", "HTTP Auth in the format of 'username:password'"),
    ("ca_file", "A path to a PEM-encoded certificate authority used to verify the remote agent's certificate"),
    ("cert_file", "A path to a PEM-encoded certificate provided to the remote agent; requires use of key_file"),
    ("key_file", "A path to a PEM-encoded private key, required if cert_file is specified"),
];

#[async_trait]
impl Kind for ConsulKind {
    fn name(&self) -> &'static str {
        "consul"
    }

    fn schema(&self) -> Block {
        let path = Attribute {
            required: true,
            description: "Path to store state in Consul".into(),
            ..Attribute::new(Type::String)
        };
        let flags = [("gzip", "Compress the state data using gzip"), ("lock", "Lock state access")];
        let texts = TEXTS.iter().map(|(name, doc)| (*name, optional(Type::String, doc)));
        let flags = flags.iter().map(|(name, doc)| (*name, optional(Type::Bool, doc)));
        block(&texts.chain(flags).chain([("path", path)]).collect::<Vec<_>>())
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Arc<dyn Backend>, Vec<ProviderDiagnostic>> {
        let settings = Settings { config, environment: &context.environment };
        let consul = connect(&settings).map_err(|problem| vec![failure(problem)])?;
        let flag = |name: &str| config.get(name).and_then(Value::as_bool);
        let options = Options { gzip: flag("gzip").unwrap_or(false), lock: flag("lock").unwrap_or(true) };
        let path = config.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        if path.starts_with('/') {
            return Err(vec![failure(format!("Invalid key. Key must not begin with a '/': {path}"))]);
        }
        Ok(Arc::new(ConsulBackend { consul, path, options, context: context.clone() }))
    }
}

/// How states are stored.
#[derive(Clone, Copy)]
struct Options {
    gzip: bool,
    lock: bool,
}

/// The agent that settings and environment name.
fn connect(settings: &Settings) -> Result<Consul, String> {
    let flag = |name| settings.environment.non_empty(name).and_then(|text| boolean(name, text).ok());
    let secure = flag(env::CONSUL_HTTP_SSL).unwrap_or(false);
    let scheme = settings.text("scheme", &[]).unwrap_or(if secure { "https" } else { "http" });
    let address = settings.text("address", &[env::CONSUL_HTTP_ADDR]).unwrap_or("127.0.0.1:8500");
    let whole = match address.split_once("://") {
        Some(("http" | "https", _)) => address.to_owned(),
        Some(("unix", _)) => return Err("Consul agents on Unix sockets are not supported".into()),
        Some((other, _)) => return Err(format!("Unknown protocol scheme: {other}")),
        None => format!("{scheme}://{address}"),
    };
    let base = Url::parse(&whole).map_err(|error| format!("invalid address: {error}"))?;
    if settings.environment.non_empty(env::CONSUL_TLS_SERVER_NAME).is_some() {
        return Err(format!("{} is not supported", env::CONSUL_TLS_SERVER_NAME));
    }
    let tls = Tls {
        authorities: authorities(settings)?,
        identity: identity(settings)?,
        skip_verification: flag(env::CONSUL_HTTP_SSL_VERIFY) == Some(false),
        ..Tls::default()
    };
    let client = Client::build(HttpSettings { tls, ..web::settings(settings.environment) })?;
    let login = settings.text("http_auth", &[env::CONSUL_HTTP_AUTH]).map(|auth| {
        let (name, password) = auth.split_once(':').unwrap_or((auth, ""));
        (name.to_owned(), Secret::new(password))
    });
    let parameters = [
        ("dc", settings.text("datacenter", &[])),
        ("ns", settings.text("", &[env::CONSUL_NAMESPACE])),
        ("partition", settings.text("", &[env::CONSUL_PARTITION])),
    ];
    let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned()))).collect();
    Ok(Consul { client, base, token: token(settings)?, login, parameters })
}

/// A file with the token is above the setting, as in Consul's own programs.
fn token(settings: &Settings) -> Result<Option<Secret>, String> {
    if let Some(path) = settings.environment.non_empty(env::CONSUL_HTTP_TOKEN_FILE) {
        let content = file(path).map_err(|why| format!("Error loading token file: {why}"))?;
        if !content.trim().is_empty() {
            return Ok(Some(Secret::new(content.trim())));
        }
    }
    Ok(settings.text("access_token", &[env::CONSUL_HTTP_TOKEN]).map(Secret::new))
}

fn authorities(settings: &Settings) -> Result<Option<String>, String> {
    if let Some(path) = settings.text("ca_file", &[env::CONSUL_CACERT]) {
        return file(path).map(Some);
    }
    let Some(folder) = settings.environment.non_empty(env::CONSUL_CAPATH) else { return Ok(None) };
    let entries = std::fs::read_dir(folder).map_err(|e| named(e, "open", Path::new(folder)).to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let texts: Result<Vec<_>, _> = paths.iter().map(|path| file(&path.to_string_lossy())).collect();
    Ok(Some(texts?.join("\n")))
}

fn identity(settings: &Settings) -> Result<Option<(String, Secret)>, String> {
    let certificate = settings.text("cert_file", &[env::CONSUL_CLIENT_CERT]);
    let key = settings.text("key_file", &[env::CONSUL_CLIENT_KEY]);
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some((file(certificate)?, Secret::new(file(key)?)))),
        (None, None) => Ok(None),
        _ => Err("both client cert and client key must be provided".into()),
    }
}

fn file(path: &str) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| named(e, "open", Path::new(path)).to_string())
}

/// States below a path.
pub struct ConsulBackend {
    consul: Consul,
    path: String,
    options: Options,
    context: Context,
}

impl ConsulBackend {
    fn path_of(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.path.clone(),
            name => format!("{}{WORKSPACE_SUFFIX}{name}", self.path),
        }
    }
}

#[async_trait]
impl Backend for ConsulBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{}{WORKSPACE_SUFFIX}", self.path);
        let keys = self.consul.keys(&prefix).await?;
        // A key below a state is one of its pieces or locks.
        let names = keys.iter().filter_map(|key| key.strip_prefix(&prefix)).filter(|name| !name.contains('/'));
        let mut names: Vec<String> = names.filter(|name| *name != DEFAULT_WORKSPACE).map(str::to_owned).collect();
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let path = self.path_of(name);
        let stored = self.consul.get(&path).await?;
        self.consul.delete(&path, false).await?;
        match stored.and_then(|pair| chunks_of(&pair.value)) {
            Some(chunks) => self.consul.delete(&chunks.folder(&path), true).await,
            None => Ok(()),
        }
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        let path = self.path_of(workspace);
        if workspace != DEFAULT_WORKSPACE && self.consul.get(&path).await?.is_none() {
            // Refused if another process made it meanwhile, which is as good.
            let created = self.consul.transaction(&[Step::cas(&path, &first.content()?, 0)]).await?;
            if let Outcome::TooLarge(error) = created {
                return Err(error);
            }
        }
        let parameters =
            self.consul.parameters.iter().map(|(name, value)| format!("{name}={value} ")).collect::<String>();
        let journal = self.context.journal_of(workspace, &[self.consul.base.as_str(), &parameters, &path]);
        Ok(Arc::new(ConsulStore::new(self.consul.clone(), path, self.options, journal)))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }

    fn hcp(&self) -> Option<&Hcp> {
        None
    }
}

#[cfg(test)]
#[path = "consul_tests.rs"]
mod tests;
