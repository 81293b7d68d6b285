//! The settings of the `consul` backend, and the agent that they name.

use std::path::Path;

use base::env;
use base::files::named;
use base::secret::Secret;
use net::http::{Client, Settings as HttpSettings, Tls};
use terrane_protocol::schema::{Attribute, Block};
use terrane_value::Type;
use url::Url;

use super::client::Consul;
use crate::contract::StoreError;
use crate::contract::schema::{block, optional};
use crate::contract::settings::{Settings, boolean};
use crate::web;

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

/// The settings of a block.
pub fn schema() -> Block {
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

/// How states are stored.
#[derive(Clone, Copy)]
pub struct Options {
    pub gzip: bool,
    pub lock: bool,
}

/// The agent that settings and environment name.
pub fn connect(settings: &Settings) -> Result<Consul, StoreError> {
    let flag = |name| settings.environment.non_empty(name).and_then(|text| boolean(name, text).ok());
    let secure = flag(env::CONSUL_HTTP_SSL).unwrap_or(false);
    let scheme = settings.text("scheme", &[]).unwrap_or(if secure { "https" } else { "http" });
    let address = settings.text("address", &[env::CONSUL_HTTP_ADDR]).unwrap_or("127.0.0.1:8500");
    let whole = match address.split_once("://") {
        Some(("http" | "https", _)) => address.to_owned(),
        Some(("unix", _)) => return Err("Consul agents on Unix sockets are not supported".into()),
        Some((other, _)) => return Err(format!("Unknown protocol scheme: {other}").into()),
        None => format!("{scheme}://{address}"),
    };
    let base = Url::parse(&whole).map_err(|error| format!("invalid address: {error}"))?;
    if settings.environment.non_empty(env::CONSUL_TLS_SERVER_NAME).is_some() {
        return Err(format!("{} is not supported", env::CONSUL_TLS_SERVER_NAME).into());
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
fn token(settings: &Settings) -> Result<Option<Secret>, StoreError> {
    if let Some(path) = settings.environment.non_empty(env::CONSUL_HTTP_TOKEN_FILE) {
        let content = file(Path::new(path)).map_err(|why| format!("Error loading token file: {why}"))?;
        if !content.trim().is_empty() {
            return Ok(Some(Secret::new(content.trim())));
        }
    }
    Ok(settings.text("access_token", &[env::CONSUL_HTTP_TOKEN]).map(Secret::new))
}

fn authorities(settings: &Settings) -> Result<Option<String>, StoreError> {
    if let Some(path) = settings.path("ca_file", &[env::CONSUL_CACERT]) {
        return file(&path).map(Some);
    }
    let Some(folder) = settings.environment.non_empty(env::CONSUL_CAPATH) else { return Ok(None) };
    let entries = std::fs::read_dir(folder).map_err(|e| named(e, "open", Path::new(folder)).to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let texts: Result<Vec<_>, _> = paths.iter().map(|path| file(path)).collect();
    Ok(Some(texts?.join("\n")))
}

fn identity(settings: &Settings) -> Result<Option<(String, Secret)>, StoreError> {
    let certificate = settings.path("cert_file", &[env::CONSUL_CLIENT_CERT]);
    let key = settings.path("key_file", &[env::CONSUL_CLIENT_KEY]);
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some((file(&certificate)?, Secret::new(file(&key)?)))),
        (None, None) => Ok(None),
        _ => Err("both client cert and client key must be provided".into()),
    }
}

fn file(path: &Path) -> Result<String, StoreError> {
    std::fs::read_to_string(path).map_err(|e| named(e, "open", path).into())
}
